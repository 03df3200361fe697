"""Registers negspacy's component `negex`, if negspacy is installed (extra `negation`)."""

from contextlib import suppress

NEGEX = "negex"
"""Name of the component; spaCy imports this module with every pipeline."""

with suppress(ImportError):
    import negspacy.negation  # noqa: F401
