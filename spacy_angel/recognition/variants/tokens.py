"""Where a variant ends, a token ends: spaCy's rules leave the full stop on `V600E.`, as they do on
initials, and with it lose the end of the sentence."""

import re
from typing import Any

_ENDS = (
    *(rf"(?<=[A-Za-z]\d{{{length}}}[A-Z])" for length in range(2, 6)),
    *(rf"(?<=-\d{{{length}}}[ACGT])" for length in range(2, 5)),
    *(rf"(?<={mark}[ACGT])" for mark in (">", "/", "del", "ins", "dup")),
    *(rf"(?<={mark}[ACGT]{{2}})" for mark in ("del", "ins", "dup")),
)
FULL_STOP = rf"(?:{'|'.join(_ENDS)})\.$"


def cut_full_stops(tokenizer: Any) -> None:
    """Let a tokenizer make a token of its own of the full stop behind a variant.

    tokenizer (Any): spaCy's, changed in place; one of another kind stays as it is.
    """
    search = getattr(tokenizer, "suffix_search", None)
    pattern = getattr(getattr(search, "__self__", None), "pattern", None)
    if isinstance(pattern, str) and FULL_STOP not in pattern:
        tokenizer.suffix_search = re.compile(f"{pattern}|{FULL_STOP}").search
