"""Abbreviations that a document does not define, with their meanings.

The words of the document decide between several meanings: in a text with `levodopa` and
`bradykinesia`, `PD` is Parkinson disease.
"""

import math
import re
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import NamedTuple

from ...about import DATA
from ...model.mention import Mention
from ...vocabulary.lookup.words import common_words
from ..candidates.names import NameReader

ABBREVIATIONS = DATA / "abbreviations.tsv"
"""Columns: abbreviation, number of texts that define it with this meaning, names of the meaning,
words that are typical of texts about it."""
MIN_PROBABILITY = 0.7
"""Minimum probability of a meaning."""
# Fitted by cross-validation.
_EVIDENCE = 0.25
# Prior of meanings that the table lacks: at least one text, or half as many texts as define the
# abbreviation. Thus, no meaning is chosen without a typical word.
_UNKNOWN, _UNKNOWN_SHARE = 1.0, 0.5
_WORD = re.compile(r"[a-z]{4,}")
_SHORT = re.compile(r"(?<![\w-])[A-Z][A-Za-z\d]{1,6}(?![\w-])")
_USUAL = 0.9  # share of texts
_PLURAL = re.compile(r"(?<![siu])s$")


class Meaning(NamedTuple):
    """A meaning of an abbreviation.

    names (tuple[str, ...]): in normal form; the first one in the vocabulary is used.
    n_texts (int): number of texts that define the abbreviation with this meaning.
    words (dict[str, float]): words that are typical of texts about it, with their weights.
    """

    names: tuple[str, ...]
    n_texts: int
    words: dict[str, float]


def context_words(text: str) -> frozenset[str]:
    """text (str): any text. RETURNS (frozenset[str]): its words of at least four letters, without a
    plural s."""
    return frozenset(_PLURAL.sub("", word) for word in _WORD.findall(text.lower()))


def word_weight(word: str) -> float:
    """word (str): a word from `context_words`. RETURNS (float): logarithm of the document frequency
    of the most frequent word divided by that of this one."""
    counts = common_words()  # sorted, the most frequent word first
    n_texts = max(counts.get(word, 0), counts.get(f"{word}s", 0))
    return math.log(next(iter(counts.values())) / (1 + n_texts))


def expand_abbreviation(
    text: str, mention: Mention, reader: NameReader, is_name: Callable[[str], bool]
) -> str:
    """Replace an abbreviation by its most probable meaning, a naive Bayes classification by the
    typical words that occur around the mention.

    text (str): a mention as written.
    mention (Mention): the mention in its context.
    reader (NameReader): reads the vocabulary.
    is_name (Callable): whether a text is a name in the vocabulary that the label allows.
    RETURNS (str): the name, e.g. `PD` → `parkinson s disease`. Other texts, and abbreviations none
        of whose meanings reaches `MIN_PROBABILITY`, are unchanged.
    """
    meanings = read_abbreviations().get(text)
    if meanings is None:
        return text
    around = f"{mention.left} {mention.right}"
    # In a text with `UC`, the words of `ulcerative colitis` count as well.
    others = map(_usual_meaning, dict.fromkeys(_SHORT.findall(around)))
    words = context_words(" ".join([around, *others]))
    total, known, most, best = 0.0, 0, 0.0, text
    for meaning in meanings:
        name = next(filter(is_name, meaning.names), None)
        if name is None and any(reader.index(n) is not None for n in meaning.names):
            continue  # The label excludes it.
        evidence = sum(meaning.words[word] for word in meaning.words.keys() & words)
        weight = meaning.n_texts * math.exp(evidence)
        known += meaning.n_texts
        total += weight
        if weight > most:
            most, best = weight, name or text
    total += max(_UNKNOWN, _UNKNOWN_SHARE * known)
    return best if most / total >= MIN_PROBABILITY else text


def _usual_meaning(text: str) -> str:
    """RETURNS (str): the meaning that most texts give to an abbreviation; empty if it is unknown or
    has several common ones."""
    meanings = sorted(read_abbreviations().get(text, ()), key=attrgetter("n_texts"))
    n_texts = sum(meaning.n_texts for meaning in meanings)
    is_usual = meanings and meanings[-1].n_texts >= _USUAL * n_texts
    return meanings[-1].names[0] if is_usual else ""


@cache
def read_abbreviations() -> dict[str, list[Meaning]]:
    """RETURNS (dict[str, list[Meaning]]): the meanings of each abbreviation, whose capitals
    count."""
    found: dict[str, list[Meaning]] = {}
    for line in ABBREVIATIONS.read_text(encoding="utf8").splitlines():
        short, n_texts, names, words = line.split("\t")
        weights = {word: _EVIDENCE * word_weight(word) for word in words.split()}
        meaning = Meaning(tuple(names.split("|")), int(n_texts), weights)
        found.setdefault(short, []).append(meaning)
    return found
