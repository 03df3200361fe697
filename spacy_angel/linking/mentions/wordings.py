"""The wordings of a mention: its text, its long form, and other ways to write it.

The model reads the first wording. Names that equal or resemble one of the others become candidates
as well, and the reranker knows which wording each of them resembles.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import islice, product
from typing import TYPE_CHECKING

from ...about import DATA
from ...model.mention import Mention
from ...vocabulary.lookup.words import LONGEST
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_type_table import STRICT
from ...vocabulary.names.entity_types import is_gene, is_species
from ...vocabulary.names.labels import wider_entity_types_of
from ..candidates.names import NameReader
from ..types import LONG_FORM, MENTION, SPELLING, SYMBOLS, WORD_LIST
from .abbreviations import expand_abbreviation
from .reading import ReadDocument

if TYPE_CHECKING:
    from ..settings.linker_settings import LinkerSettings

SHORT_FORMS = DATA / "short_forms.tsv"
"""Short forms, lay terms, brand names, and tests, with the names that they stand for."""
_IN_ANY_CASE = ("lay word", "word", "brand")
_GREEK = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff\u00b5]")
_GREEK_WORDS = {"lamda": "lambda", "final sigma": "sigma", "micro sign": "mu"}
# An element and its charge: `Ca2+`, `Fe(III)`, `Cl-`, `Zn(2+)`.
_CHARGE = re.compile(r"([A-Z][a-z]?)(?:\d?[+\u207a]+|\d?[-\u2212\u207b]|\((?:\d?[+-]|[IV]+)\))")
# Separators between a letter and a digit, and positions where a letter and a digit are adjacent.
_APART = re.compile(r"(?<=[^\W\d_])[\W_]+(?=\d)|(?<=\d)[\W_]+(?=[^\W\d_])")
_TOGETHER = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_SMALL_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "01234567890123456789+-")

_BINOMIAL = re.compile(
    r"(?<![\w.])[A-Z][a-z]{0,2}\. ?[a-z][a-z-]{2,}|(?<!\w)[A-Z][a-z]{2,} [a-z-]{3,}"
)

_LONG_WORD = re.compile(r"[^\W\d_]{5,}")
_DIGRAPH = re.compile("[ao](?=e)", re.IGNORECASE)
_LEUCO = re.compile("(?<=leu)c(?=[ao])", re.IGNORECASE)

# Words without digits. Short sequences of capitals are abbreviations and are not corrected.
_WORD = re.compile(rf"(?<![^\W_])(?:[A-Z]?[a-z]{{4,{LONGEST - 1}}}|[A-Z]{{8,{LONGEST}}})(?![^\W_])")
_MAX_READINGS = 32


def read_wordings(
    mention: Mention,
    written: str,
    label: str,
    document: ReadDocument,
    names: NameReader,
    settings: "LinkerSettings",
) -> tuple[str, dict[str, str]]:
    """Rewrite a mention with several rules, each applied to the result of the previous rule.

    mention (Mention): the mention, with the long form that its document defines.
    written (str): the mention as written in the document.
    label (str): its label.
    document (ReadDocument): its document.
    names (NameReader): reads the vocabulary.
    settings (LinkerSettings): `reranker.enabled` and `candidates.rewrite` select the rules.
    RETURNS (tuple[str, dict[str, str]]): the result of the last rule, which the model reads; and
        `Query.texts`, with the reranker all wordings, else only that one.
    """
    is_name = cache(partial(names.is_name, label=label))
    wordings = [(written, MENTION)]

    def add(text: str, source: str) -> str:
        if text != wordings[-1][0]:
            wordings.append((text, source))
        return text

    text = add(mention.text, LONG_FORM)
    # The symbol of a gene is a name, while its long form in the document often differs from the
    # names in the vocabulary.
    if settings.reranker.enabled and is_gene(label) and not is_name(text):
        short_forms = document.short_forms.get(normalize_name(written), ())
        text = add(next(filter(is_name, (written, *short_forms)), text), MENTION)
    if settings.candidates.rewrite:
        # The model cannot read Greek letters.
        spelled = spell_out(text)
        if is_name(spelled) or not is_name(text):
            text = add(spelled, SYMBOLS)
        if text == written:
            text = add(expand_abbreviation(written, mention, names, is_name), WORD_LIST)
        text = add(expand_short_form(text, names, is_name), WORD_LIST)
        if not is_name(text) and is_species(label):
            text = add(find_binomial(text, is_name), WORD_LIST)
        if not is_name(text):
            text = add(next(filter(is_name, respaced(text)), text), SYMBOLS)
        if not is_name(text) and is_name(american := american_spelling(text)):
            text = add(american, SPELLING)
        if STRICT.isdisjoint(wider_entity_types_of(label)):
            add(correct_spelling(text, names), SPELLING)
    texts: dict[str, str] = {}
    for other, source in reversed(wordings if settings.reranker.enabled else wordings[-1:]):
        if normal := normalize_name(other):
            texts.setdefault(normal, source)
    return wordings[-1][0], texts


def expand_short_form(text: str, reader: NameReader, is_name: Callable[[str], bool]) -> str:
    """Replace short forms and lay terms by names in the vocabulary, unless the vocabulary contains
    them with the same spelling (`Ca2+` is not `cA2`).

    text (str): a mention.
    reader (NameReader): reads the vocabulary.
    is_name (Callable): whether a text is a name in the vocabulary that the label allows.
    RETURNS (str): the expanded text, e.g. `HTN` → `hypertension`; other texts are unchanged.
    """
    forms = _read_rows("short form", *_IN_ANY_CASE)
    short = forms.get(text, ())
    names = short or forms.get(normalize_name(text), ())
    if names and is_name(text):
        known = reader.index(text) if short else None
        if known is None or reader.kb.spelling(known).lower() == text.lower():
            return text
    return next(filter(is_name, names), text)


def spell_out(text: str) -> str:
    """Spell out Greek letters, and replace ions by their elements and small digits by normal ones.

    text (str): a mention.
    RETURNS (str): the rewritten text, e.g. `IFN-γ` → `IFN-gamma`, `α-cell` → `alpha-cell`, `Ni2+` →
        `Ni`, `CO₂` → `CO2`.
    """
    text = text.translate(_SMALL_DIGITS)
    if ion := _CHARGE.fullmatch(text):
        return ion[1]
    return _GREEK.sub(_greek_word, text)


def _greek_word(found: "re.Match[str]") -> str:
    name = unicodedata.name(found[0], "").lower()
    name = re.sub(r"^greek (small|capital) letter |( symbol)$|^greek | with .*$", "", name)
    name = _GREEK_WORDS.get(name, name)
    return name if name.isalpha() else found[0]


def respaced(text: str) -> Iterator[str]:
    """Join letters and digits, then separate them; results with the same normal form as the text
    are skipped.

    text (str): a mention.
    YIELDS (str): the rewritten text, e.g. `SIRT-1` → `SIRT1`, `E4031` → `E 4031`.
    """
    name = normalize_name(text)
    for other in (_APART.sub("", text), _TOGETHER.sub(" ", text)):
        if normalize_name(other) != name:
            yield other


def american_spelling(text: str) -> str:
    """text (str): a mention. RETURNS (str): the text with `ae` and `oe` replaced by `e` in words of
    five or more letters, and `leuco` by `leuko`, e.g. `haematemesis` → `hematemesis`."""
    return _LONG_WORD.sub(lambda word: _LEUCO.sub("k", _DIGRAPH.sub("", word[0])), text)


def find_binomial(text: str, is_name: Callable[[str], bool]) -> str:
    """Find the binomial name in a mention of an organism.

    text (str): a mention that is not a name in the vocabulary.
    is_name (Callable): see `expand_short_form`.
    RETURNS (str): the binomial name, e.g. `Shiga toxin-producing Escherichia coli` → `Escherichia
        coli`; other texts are unchanged.
    """
    return next(filter(is_name, (found[0] for found in _BINOMIAL.finditer(text))), text)


def correct_spelling(text: str, reader: NameReader) -> str:
    """Replace words that occur neither in the vocabulary nor in biomedical text by similar ones
    that do.

    text (str): a mention.
    reader (NameReader): reads the vocabulary.
    RETURNS (str): the corrected text, e.g. `heart atack` → `heart attack`. The first correction
        that is a name in the vocabulary is used, or else the first correction. Names and texts
        without unknown words are unchanged.
    """
    if reader.index(text) is not None:
        return text
    parts: list[Sequence[str]] = []
    end = 0
    for found in _WORD.finditer(text):
        word = found[0].lower()
        corrections = reader.kb.words.corrections(word)
        parts += [[text[end : found.start()]], [found[0]] if corrections == [word] else corrections]
        end = found.end()
    # All combinations of similar words, the most similar first.
    readings = list(islice(map("".join, product(*parts, [text[end:]])), _MAX_READINGS))
    if readings[0] == text:
        return text
    return next((r for r in readings if reader.index(r) is not None), readings[0])


def is_other_text(text: str, label: str, following: str) -> bool:
    """text (str): a mention. label (str): its label. following (str): the text that follows it.
    RETURNS (bool): whether it is a laboratory test that was taken for a gene (`ESR`, the
        sedimentation rate), or the header of a section (`ALLERGIES:`)."""
    is_header = following.startswith(":") and text.lower() in _read_rows("header")
    return is_header or (is_gene(label) and text in _read_rows("test"))


@cache
def _read_rows(*kinds: str) -> dict[str, tuple[str, ...]]:
    """RETURNS (dict[str, tuple[str, ...]]): form → names, of some kinds of `SHORT_FORMS`. Short
    forms are case-sensitive, e.g. `MS` but not `ms`; lay terms and brand names are in normal
    form."""
    rows = (line.split("\t") for line in SHORT_FORMS.read_text(encoding="utf8").splitlines())
    return {
        normalize_name(form) if kind in _IN_ANY_CASE else form: tuple(names.split("|"))
        for form, kind, names in rows
        if kind in kinds
    }
