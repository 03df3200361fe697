"""Find the names of a vocabulary in running text. Case and number are ignored, except for the case
of abbreviations; of overlapping names, the longest is chosen.

Text and names are split into words, which are runs of letters and digits. The end of a sentence and
a bracket preceded by white space are words of their own, so that no name extends beyond them unless
it contains them (`St. Louis encephalitis`):

    The snark's fevers; aspirin.  →  the  snark  s  fever  .  aspirin  .

At each word of a text, the phrases are looked up that are at most as long as the longest name that
begins with this word.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from tqdm import tqdm

from ..kb import ConceptKB
from ..storage.compiled import COMPILING

# Letters and digits, with the accents that stand alone in decomposed text; or the end of a
# sentence or paragraph, or a bracket.
_WORD = re.compile(
    r"((?:[^\W_]|[\u0300-\u036f])+)|[.;:?!](?=\s|$)|\n\s*\n|(?<!\S)[(\[]|[)\]](?!\w)"
)
_END, _BRACKET = ".", "("
# Number of names from which compiling shows a progress bar.
_MIN_SHOWN = 50_000


class Occurrence(NamedTuple):
    """A name in a text.

    start (int), end (int): character offsets.
    name (int): name index.
    """

    start: int
    end: int
    name: int


def split_words(text: str) -> list[tuple[str, re.Match[str]]]:
    """text (str): a text or a name. RETURNS (list[tuple[str, re.Match[str]]]): its words as
    written, `.` for the end of a sentence and `(` for any bracket, each with its match."""
    return [
        (match[1] or (_BRACKET if match[0] in "()[]" else _END), match)
        for match in _WORD.finditer(text)
    ]


def fold_word(word: str) -> str:
    """Remove case and number from a word: Harman's S-stemmer (How effective is suffixing?, JASIS
    42(1), 1991, table 1); in addition, `-is` is treated like `-es` (metastasis, metastases).

    word (str): e.g. `Fevers`. RETURNS (str): e.g. `fever`; words of up to three letters are only
    lower-cased.
    """
    folded = word if word.isascii() else unicodedata.normalize("NFC", word)
    folded = folded.lower()
    if len(folded) <= 3 or folded[-1] != "s":
        return folded
    if folded.endswith("ies") and not folded.endswith(("eies", "aies")):
        return folded[:-3] + "y"
    if folded.endswith("is") and len(folded) > 5:
        return folded[:-2] + "e"
    if folded.endswith(("us", "ss")):
        return folded
    return folded if folded.endswith(("aes", "ees", "oes")) else folded[:-1]


def is_short_form(words: Collection[str]) -> bool:
    """Check whether a name is case-sensitive: a single word with a capital after the first letter
    (`AIDS`, `mRNA`), or any capital in a word of up to two letters (`K`, `Na`).

    words (Collection[str]): words of the name, as written.
    """
    if len(words) != 1:
        return False
    (word,) = words
    return any(map(str.isupper, word if len(word) <= 2 else word[1:]))


class DictionaryMatcher:
    """Finds names in texts, including names added to the vocabulary at run time.

    kb (ConceptKB): the vocabulary.
    everything (bool): find all names; otherwise only `kb.own_names`.
    min_length (int): minimum number of letters and digits in a name.
    stop_words (Collection[str]): names that consist only of these words are not found, except for
        abbreviations. `kb.own_names` are found regardless of their length and words.
    """

    def __init__(
        self,
        kb: ConceptKB,
        *,
        everything: bool = False,
        min_length: int = 1,
        stop_words: Collection[str] = (),
    ) -> None:
        self._kb = kb
        self._everything = everything
        self._min_length = min_length
        self._folded_stop_words = frozenset(map(fold_word, stop_words))
        self._n_stored = kb.n_names if everything else 0
        self._stored = _Dictionary(kb, range(self._n_stored), self._is_clear)
        self._version = -1

    def find(self, text: str) -> list[Occurrence]:
        """text (str): a text.
        RETURNS (list[Occurrence]): non-overlapping names, in order. Of overlapping names, the one
        with the most words is chosen, then the first."""
        if self._version != self._kb.version:
            with COMPILING:
                if self._version != self._kb.version:
                    self._update()
        words = split_words(text)
        texts = [word for word, _ in words]
        dictionaries = (self._own, self._added, self._stored)
        found = [match for dictionary in dictionaries for match in dictionary.find(texts)]
        taken = bytearray(len(words))
        chosen = []
        for first, end, name in sorted(found, key=lambda m: (m[0] - m[1], m[0])):
            if not any(taken[first:end]):
                taken[first:end] = b"\1" * (end - first)
                offsets = words[first][1].start(), words[end - 1][1].end()
                chosen.append(Occurrence(*offsets, name))
        return sorted(chosen)

    def _update(self) -> None:
        """Compile the names added since."""
        kb = self._kb
        version = kb.version
        own = kb.own_names
        self._own = _Dictionary(kb, own)
        new = set(range(self._n_stored, kb.n_names)).difference(own) if self._everything else ()
        self._added = _Dictionary(kb, new, self._is_clear)
        # set last, for other threads
        self._version = version

    def _is_clear(self, words: Sequence[str]) -> bool:
        """Whether a name is specific enough to be searched for, given its words."""
        if sum(map(len, words)) < self._min_length:
            return False
        if is_short_form(words):
            return True
        content = (w for w in words if len(w) > 1 and fold_word(w) not in self._folded_stop_words)
        return any(any(map(str.isalpha, word)) for word in content)


class _Dictionary:
    """A compiled set of names.

    kb (ConceptKB): the vocabulary. indices (Collection[int]): of the names.
    is_wanted (Callable[[Sequence[str]], bool] | None): whether to include a spelling, given its
        words; None: include all.
    """

    def __init__(
        self,
        kb: ConceptKB,
        indices: Collection[int],
        is_wanted: Callable[[Sequence[str]], bool] | None = None,
    ) -> None:
        self._kb = kb
        # Names by their words, which are folded except for abbreviations, and further names with
        # the same words.
        self._names: dict[str, int] = {}
        self._twins: dict[int, list[int]] = {}
        # First word → number of words of the longest name that begins with it.
        self._longest: dict[str, int] = {}
        hidden = None if len(indices) >= _MIN_SHOWN else True
        for i in tqdm(indices, desc="Compiling names", unit=" names", disable=hidden):
            for words in map(words_of_name, kb.spellings_of(i)):
                if not words or (is_wanted is not None and not is_wanted(words)):
                    continue
                forms = [words]
                if not is_short_form(words):
                    bare = [word for word in words if word not in (_END, _BRACKET)]
                    forms = [list(map(fold_word, form)) for form in (words, bare)]
                for form in forms:
                    if (first := self._names.setdefault(" ".join(form), i)) != i:
                        self._twins.setdefault(first, []).append(i)
                    self._longest[form[0]] = max(len(form), self._longest.get(form[0], 0))

    def find(self, words: Sequence[str]) -> Iterator[tuple[int, int, int]]:
        """words (Sequence[str]): words of a text.
        YIELDS (tuple[int, int, int]): first word, end, and name index of each name that still has a
        concept; names may overlap."""
        folded = [fold_word(word) for word in words] if self._names else []
        for first, word in enumerate(folded):
            last = min(first + self._longest.get(word, 0), len(folded))
            for end in range(first + 1, last + 1):
                if (key := " ".join(folded[first:end])) in self._names:
                    yield from self._live(key, first, end)
        for first, word in enumerate(words if self._names else ()):
            if not word.islower() and is_short_form([word]):
                # `MRIs`, but not `Was`
                is_plural = word not in self._names and len(word) > 3 and word[-1] == "s"
                if (key := word[:-1] if is_plural else word) in self._names:
                    yield from self._live(key, first, first + 1)

    def _live(self, key: str, first: int, end: int) -> Iterator[tuple[int, int, int]]:
        name = self._names[key]
        live = next(filter(self._kb.is_live, (name, *self._twins.get(name, ()))), None)
        if live is not None:
            yield first, end, live


def words_of_name(name: str) -> list[str]:
    """name (str): as written. RETURNS (list[str]): its words, without a final period; empty if it
    has neither letters nor digits."""
    words = [word for word, _ in split_words(name)]
    while words and words[-1] == _END:
        words.pop()
    return words if any(word not in (_END, _BRACKET) for word in words) else []
