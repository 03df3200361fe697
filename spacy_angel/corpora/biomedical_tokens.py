"""A tokenizer for articles and clinical notes: spaCy's, with rules for biomedical compounds, short
forms, and list marks.

    Trp53-/- mice    → Trp53 | -/- | mice              (spaCy's English: Trp53-/- | mice)
    CD4(+) T cells   → CD4 | ( | + | ) | T | cells     (spaCy's English: CD4(+ | ) | T | cells)
    CAD s/p CABG     → CAD | s/p | CABG                (spaCy's English: s | / | p)
    -cough 2)anemia  → - | cough | 2) | anemia         (spaCy's English: -cough | 2)anemia)
    HTN->CKD         → HTN | -> | CKD                  (spaCy's English: HTN->CKD)
    in COPD.13,14    → in | COPD | . | 13,14           (spaCy's English: in | COPD.13,14)

Entities consist of whole tokens, so a mention that begins or ends inside a token cannot be found.
The rules are saved with the tokenizer of the pipeline.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language

SLASHED = (
    *("a/w", "b/c", "b/l", "c/b", "c/o", "c/w", "d/c", "d/t", "f/u", "h/o", "i/s/o", "n/a", "p/w"),
    *("r/o", "r/t", "s/p", "s/s", "t/c", "w/", "w/o", "w/u", "y/o"),
)
"""Short forms in clinical notes to keep as one token: status post, without, complains of …"""

# A list mark at the start of a word: a bullet, or a number with a period or closing bracket.
_LIST_MARKS = (r"[-•·‣▪◦●○](?=[^\W\d_])", r"\d{1,2}[.)](?=[^\W\d_]{2})")
_ARROWS = (r"[-=]+>", "→")
_HYPHENS, _PLUS = "-–−", "+⁺"
_GENOTYPE = rf"[{_HYPHENS}+]/[{_HYPHENS}+]"
# Brackets within a word, and the character after a closing one: `Kras(G12D)-induced`.
_BRACKETS = (r"(?<=\S)[(\[](?=\S)", r"(?<=\S)[)\]](?=\S)", rf"(?<=[)\]])[{_HYPHENS}/+](?=\S)")
# Signs for genotypes, surface markers, charges, and alleles: `CD11c+CD4+`.
_SIGNS = (
    *(_GENOTYPE, rf"(?<={_GENOTYPE})[{_HYPHENS}/](?=\w)"),
    *(rf"(?<=[^\W_])[{_PLUS}*](?=\S)", rf"(?<=[^\W_][{_PLUS}])[{_HYPHENS}/](?=\S)"),
)
# Words without a space between them: `gout;asthma`, `IL-2,IL-6` (but not `46,XX`), `gout.3` before
# a reference, `creatinine>2`.
_GLUED = (
    *(r"(?<=\S);(?=[^\W_]{2})", r"(?<=[\d)]),(?=(?!X[XY]\b)[^\W\d_]{2})"),
    *(r"(?<=[^\W\d_]{3})[.,](?=\d)", r"(?<=[^\W\d_]{2})[:<>=≤≥](?=\d)"),
)
# A plus, a genotype, and a period after a lowercase letter or digit and a capital: `apoE.`
_SUFFIXES = (
    *(rf"(?<=[^\W_])[{_PLUS}]", rf"(?<=[^\W_]){_GENOTYPE}"),
    r"(?<=[a-zα-ωµ\d][A-Z])\.",
)
# Emoticons among spaCy's English exceptions, which occur in `IL(8)` and `10(-8)`.
_NO_FACES = frozenset(("8)", "8-)", "(-8", "8D", "8-D"))


def add_biomedical_tokens(nlp: "Language") -> None:
    """Add the rules to the tokenizer of a pipeline. Calling it twice has no further effect.

    nlp (Language): a pipeline with spaCy's rule-based tokenizer.
    """
    from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

    tokenizer: Any = nlp.tokenizer
    rules = tokenizer.rules or {}
    tokenizer.rules = {form: rules[form] for form in rules if form not in _NO_FACES}
    for form in SLASHED:
        for spelling in (form, form.capitalize(), form.upper()):
            tokenizer.add_special_case(spelling, [{"ORTH": spelling}])
    prefixes = (*_LIST_MARKS, *(nlp.Defaults.prefixes or ()))
    infixes = (*_ARROWS, *_BRACKETS, *_SIGNS, *_GLUED, *(nlp.Defaults.infixes or ()))
    suffixes = (*_SUFFIXES, *(nlp.Defaults.suffixes or ()))
    tokenizer.prefix_search = compile_prefix_regex(prefixes).search
    tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
    tokenizer.suffix_search = compile_suffix_regex(suffixes).search


def make_biomedical_tokenizer() -> "Callable[[Language], Language]":
    """RETURNS (Callable[[Language], Language]): `add_biomedical_tokens` as a callback for the
    section `[initialize]` of a training config: `before_init = {"@callbacks":
    "spacy_angel.biomedical_tokens.v1"}`."""

    def add(nlp: "Language") -> "Language":
        add_biomedical_tokens(nlp)
        return nlp

    return add
