"""spaCy's factory `negex`, which negspacy (extra `negation`) registers, but declares nowhere."""

from ..component.deferred import defer_factory

NEGEX = defer_factory(
    "negex",
    "negspacy.negation",
    "Negex",
    "Negation, history and family need the package negspacy: pip install 'spacy-angel[negation]'.",
)
