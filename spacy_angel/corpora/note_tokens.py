"""A tokenizer for clinical notes: spaCy's own, with the short forms and list marks of notes.

    CAD s/p CABG     → CAD | s/p | CABG                (spaCy's English: s | / | p)
    -cough 2)anemia  → - | cough | 2) | anemia         (spaCy's English: -cough | 2)anemia)
    HTN->CKD         → HTN | -> | CKD                  (spaCy's English: HTN->CKD)

A mention that begins or ends inside a token cannot be found; nor can one that a name shares its
token with. The rules are saved with the pipeline's tokenizer.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language

SLASHED = (
    *("a/w", "b/c", "b/l", "c/b", "c/o", "c/w", "d/c", "d/t", "f/u", "h/o", "i/s/o", "n/a", "p/w"),
    *("r/o", "r/t", "s/p", "s/s", "t/c", "w/", "w/o", "w/u", "y/o"),
)
"""Short forms of notes that are one word: status post, without, complains of, history of …"""

# A mark, or a number with its point or bracket, at the beginning of a word.
_LIST_MARKS = (r"[-•·‣▪◦●○](?=[^\W\d_])", r"\d{1,2}[.)](?=[^\W\d_]{2})")
_ARROWS = (r"[-=]+>", "→")


def add_note_tokens(nlp: "Language") -> None:
    """nlp (Language): its tokenizer gets the rules; twice is as good as once.

    The tokenizer must be spaCy's rule-based one.
    """
    from spacy.util import compile_infix_regex, compile_prefix_regex

    tokenizer: Any = nlp.tokenizer
    for form in SLASHED:
        for spelling in (form, form.capitalize(), form.upper()):
            tokenizer.add_special_case(spelling, [{"ORTH": spelling}])
    prefixes = (*_LIST_MARKS, *(nlp.Defaults.prefixes or ()))
    infixes = (*_ARROWS, *(nlp.Defaults.infixes or ()))
    tokenizer.prefix_search = compile_prefix_regex(prefixes).search
    tokenizer.infix_finditer = compile_infix_regex(infixes).finditer


def make_note_tokenizer() -> "Callable[[Language], Language]":
    """RETURNS (Callable[[Language], Language]): `add_note_tokens`, as the section `initialize` of a
    training config calls it: `before_init = {"@callbacks": "spacy_angel.note_tokens.v1"}`."""

    def add(nlp: "Language") -> "Language":
        add_note_tokens(nlp)
        return nlp

    return add
