"""Normalizes a text: removes markup and other noise, and records where each character comes from.

    original                                                            normalized
    HTML tags; `**bold**` and other Markdown                            removed
    HTML entities (`&alpha;`)                                           `α`
    `|` without spaces, and `^`, as in HL7; `","`, as in CSV            paragraph break
    de-identified parts of notes (`[**Last Name**]`, `[PATIENT]`)       `___`
    soft hyphens, zero-width and other invisible characters, controls   removed
    `myo-` at a line end, `cardial` on the next line                    `myocardial`
    ligatures (`ﬁ`), full-width forms (`Ａ`)                             `fi`, `A`
    non-breaking spaces and hyphens, and other spaces                   ` `, `-`
    a letter followed by a combining accent                             one character
    known words of a passage in capitals (`ACUTE GOUT OF THE BIG TOE`)  lower case

Each step is a function of a text. Everything else is unchanged: `10²` does not become 102.
"""

import gzip
import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain

from spacy.lang.en.stop_words import STOP_WORDS

from ..about import DATA

# Control characters except white space; format characters: zero-width, bidirectional, joiners,
# tags; variation selectors; and the combining grapheme joiner.
_INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0001-\U000e007f\U000e0100-\U000e01ef"
)
_SOFT_HYPHEN = "\xad"
_ACCENTS = "\u0300-\u036f"
_MAX_ACCENTS = 8
_SPACES = "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_HYPHENS = "\u2010\u2011"
_LIGATURES = "\ufb00-\ufb06"
_FULL_WIDTH = "\uff01-\uff5e"
_MAPPED = _SPACES + _HYPHENS + _LIGATURES + _FULL_WIDTH
_MAY_BE_SPACE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u200b]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_LETTERS_BEFORE = re.compile(r"(?<![^\W\d_])[^\W\d_]+\Z")
# Longer words are not in the list.
_MAX_WORD = 25
_SHORT_WORDS = (
    "a an and are as at but by can de der did due eye few for had has her his if in is it its jaw "
    "may new no non nor not of old on one or our per sex she the to two van via von was we who"
)
_LINE_END = r"[ \t]*\r?\n[ \t]*"

# HTML's phrasing elements, and those of JATS: they do not end a line.
_INLINE = (
    "a abbr b bdi bdo big bold cite code del dfn em font i ins italic kbd mark q s sc small span "
    "strike strong sub sup tt u underline var xref"
)
# Other tags are only recognized if they are closed: `a<b and c>d` contains none.
_NEVER_CLOSED = "br hr img input li link meta p td th tr wbr"
_CLOSING = re.compile(r"</([A-Za-z][\w:.-]{0,30})\s?>")
_ENTITY = r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});"
_PLACEHOLDER = (
    r"[\[{]{1,2}(?i:(?:first |last |patient |doctor |hospital )?(?:patient|name|date|doctor|"
    r"hospital|location|age|phone|address|id|redacted)(?: \d+)?)[\]}]{1,2}"
)
_MARKUP = re.compile(
    r"<(?P<hidden>script|style)\b[^<>]{0,500}>[^<]{0,5000}</(?P=hidden)>"
    r"|<!--[^<]{0,2000}?-->"
    r"|</?(?P<tag>[A-Za-z][\w:.-]{0,30})(?:\s[^<>=]{1,99}=[^<>]{1,500})?\s?/?>"
    rf"|(?P<entity>{_ENTITY})"
    rf"|(?P<removed>\[\*\*[^*\n]{{0,80}}\*\*\]|{_PLACEHOLDER})"
    r"|(?P<mark>(?<![\w*])(?:\*{1,3})(?=[^\s*])|(?<![\w_])_{1,2}(?=[^\s_])|(?<![\w`])`(?=[^\s`]))"
    r"|!?\[(?P<words>[^\[\]\n]{1,200})\]\((?:https?:|/|\#|mailto:)[^()\s]{0,300}\)"
    rf"|(?P<border>(?<=\S)[|]|[|](?=\S)|\^(?=[{_INVISIBLE}]*[\^|A-Za-z])|\"[,;]\")"
)
_MAX_MARKED = 200
_MAX_ROUNDS = 3  # `&amp;lt;i&amp;gt;`

_NOISE_OF_ASCII = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f*_`|^]|-[ \t]*\r?\n|<[A-Za-z/!]|&[#A-Za-z]|\]\("
    rf"|\"[,;]\"|{_PLACEHOLDER}"
)
_NOISE = re.compile(rf"[{_INVISIBLE}{_ACCENTS}{_MAPPED}]|{_NOISE_OF_ASCII.pattern}")
_INVISIBLE_PART = re.compile(rf"[{_INVISIBLE}{_ACCENTS}]+")
_UNSEEN = re.compile(rf"[{_INVISIBLE}]+|[{_MAPPED}]")
_AT_LINE_END = re.compile(rf"{_LINE_END}(?=[^\W\d_])")
_ACCENTED = re.compile(rf"\w[{_ACCENTS}]{{1,{_MAX_ACCENTS}}}(?![{_ACCENTS}])")
# A passage in capitals ends before the capital of `We`.
_CAPITALS = re.compile(r"(?<![^\W_])[A-Z]{2,}\b[^a-z]{16,}(?![a-z])")
_CAPITAL_WORD = re.compile(r"(?<![\w'’])[A-Z]{2,}(?:['’]S)?(?![\w'’])")
# Headings have fewer words (`MATERIALS AND METHODS`).
_MIN_KNOWN = 4
_BROKEN = re.compile(rf"(?<=([^\W_]))-{_LINE_END}(?=[^\W_])")


@dataclass(frozen=True, slots=True)
class CleanText:
    """A normalized text and the offsets of its characters in the original text.

    text (str): n characters.
    starts (tuple[int, ...] | None), ends (tuple[int, ...] | None): for each character, the offsets
        of the original characters that it stands for, both ascending. Original characters between
        two of these ranges were removed. None: the text was not changed.
    """

    text: str
    starts: tuple[int, ...] | None = None
    ends: tuple[int, ...] | None = None

    @property
    def is_clean(self) -> bool:
        """RETURNS (bool): whether the text equals the original."""
        return self.starts is None

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """start (int), end (int): offsets in the normalized text, at least one character. RETURNS
        (tuple[int, int]): the offsets in the original text."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]

    def from_source(self, start: int, end: int) -> tuple[int, int]:
        """start (int), end (int): offsets in the original text. RETURNS (tuple[int, int]): the
        offsets in the normalized text. Characters that were split or joined are included as a
        whole; removed characters give an empty range."""
        if self.starts is None or self.ends is None:
            return start, end
        first = bisect_right(self.ends, start)
        return first, max(first, bisect_left(self.starts, end))


def is_invisible(part: str) -> bool:
    """part (str): part of a text. RETURNS (bool): whether all of its characters are invisible."""
    return _INVISIBLE_PART.fullmatch(part) is not None


Edit = tuple[int, int, str]
"""A range of characters and its replacement."""


def clean(text: str) -> CleanText:
    """Normalize a text.

    text (str): any text. RETURNS (CleanText): e.g. for `ﬁb` the text `fib`, with starts 0, 0, 1 and
        ends 1, 1, 2.
    """
    noise = _NOISE_OF_ASCII if text.isascii() else _NOISE
    if noise.search(text) is None and _CAPITALS.search(text) is None:
        return CleanText(text)
    reading = CleanText(text, tuple(range(len(text))), tuple(range(1, len(text) + 1)))
    for _ in range(_MAX_ROUNDS):
        if not (edits := list(_markup(reading.text))):
            break
        reading = _edited(reading, edits)
    for step in (_unseen, _accents, _line_ends, _capitals):
        reading = _edited(reading, step(reading.text))
    return CleanText(text) if reading.text == text else reading


def _markup(text: str) -> Iterator[Edit]:
    """YIELDS (Edit): HTML and XML tags and Markdown are removed, where tags other than inline ones
    leave a paragraph break; entities become characters; cells of HL7 become paragraphs."""
    closed = {*_NEVER_CLOSED.split(), *(name.lower() for name in _CLOSING.findall(text))}
    inline = _INLINE.split()
    closing: dict[int, str] = {}
    end = 0
    for found in _MARKUP.finditer(text):
        for offset in sorted(offset for offset in closing if offset < found.end()):
            mark = closing.pop(offset)
            if offset >= end:
                yield offset, offset + len(mark), ""
                end = offset + len(mark)
        if found.start() < end:
            continue
        if found["entity"]:
            plain = html.unescape(found[0])
            if plain == found[0]:
                continue
            yield *found.span(), plain
        elif found["removed"]:
            yield *found.span(), "___"
        elif found["border"]:
            yield *found.span(), "\n\n"
        elif found["words"]:
            yield found.start(), found.start("words"), ""
            yield found.end("words"), found.end(), ""
        elif mark := found["mark"]:
            closing_offset = _closing_mark(text, mark, found.end())
            if closing_offset is None:
                continue
            closing[closing_offset] = mark
            yield *found.span(), ""
        elif found["tag"] and found["tag"].lower() not in closed:
            continue
        else:
            is_inline = (found["tag"] or "").lower() in inline
            yield *found.span(), "" if is_inline else "\n\n"
        end = found.end()
    for offset, mark in sorted(closing.items()):
        if offset >= end:
            yield offset, offset + len(mark), ""


def _closing_mark(text: str, mark: str, start: int) -> int | None:
    """RETURNS (int | None): position of the closing Markdown mark, which follows a character,
    precedes no word character, and is in the same line."""
    end = text.find("\n", start, start + _MAX_MARKED)
    offset = text.find(mark, start, start + _MAX_MARKED if end < 0 else end)
    if offset < 0 or text[offset - 1].isspace():
        return None
    after = text[offset + len(mark) : offset + len(mark) + 1]
    return None if after and (after.isalnum() or after == mark[0]) else offset


def _unseen(text: str) -> Iterator[Edit]:
    """YIELDS (Edit): invisible characters are removed, a soft hyphen together with a line end after
    it; spaces, hyphens, ligatures, and full-width forms become plain characters. A control
    character or zero-width space that separates two words becomes a space (`heart\\0attack`)."""
    for found in _UNSEEN.finditer(text):
        start, end = found.span()
        if _SOFT_HYPHEN in found[0] and (line_end := _AT_LINE_END.match(text, end)):
            yield start, line_end.end(), ""
        elif _MAY_BE_SPACE.fullmatch(found[0]) and _separates_words(text, start, end):
            yield start, end, " "
        else:
            yield start, end, _PLAIN.get(found[0], "")


def _accents(text: str) -> Iterator[Edit]:
    """YIELDS (Edit): a letter and its combining accents become one character, if there is one.
    Invisible characters may come between them."""
    for found in _ACCENTED.finditer(text):
        if (composed := unicodedata.normalize("NFC", found[0])) != found[0]:
            yield found.start(), found.end(), composed


def _line_ends(text: str) -> Iterator[Edit]:
    """YIELDS (Edit): the halves of a word that is hyphenated at a line end are joined: `myo-` and
    `cardial` become `myocardial`. The hyphen is kept between two words that do not form one
    (`insulin-dependent`), and, unless both form a known word (`L-d-opa`), after a capital, a digit,
    or a single letter (`T-cell`) and before a capital or a digit (`Wiskott-Aldrich`)."""
    for found in _BROKEN.finditer(text):
        start, end = found.span()
        yield start, end, "" if _is_in_word(text, start, end) else "-"


def _capitals(text: str) -> Iterator[Edit]:
    """YIELDS (Edit): known words of a passage in capitals are lower-cased, if most of its words are
    known; symbols and abbreviations keep their capitals."""
    for passage in _CAPITALS.finditer(text):
        words = list(_CAPITAL_WORD.finditer(text, *passage.span()))
        known = [word for word in words if _is_known(word[0].lower().removesuffix("'s"))]
        if len(known) >= _MIN_KNOWN and 2 * len(known) > len(words):
            yield from ((*word.span(), word[0].lower()) for word in known)


def _is_known(word: str) -> bool:
    return word in STOP_WORDS or word in _words()


def _plain(character: str) -> str:
    if character in _HYPHENS:
        return "-"
    return " " if character.isspace() else unicodedata.normalize("NFKC", character)


_PLAIN = {
    character: _plain(character)
    for character in map(chr, range(0x80, 0x10000))
    if re.match(f"[{_MAPPED}]", character)
}


def _is_in_word(text: str, start: int, end: int) -> bool:
    """Check whether the parts before and after a hyphen at a line end form one word."""
    left, right = _letters_beside(text, start, end)
    if not left or not right:
        return False
    words = _words()
    first, second = left.lower(), right.lower()
    if first + second in words:
        # Not `p-value`, which some write without a hyphen.
        return len(left) > 1 or second not in words
    is_low = len(left) > 1 and left[-1].islower() and "a" <= right[0] <= "z"
    return is_low and not (first in words and second in words)


def _separates_words(text: str, start: int, end: int) -> bool:
    """Check whether an invisible character separates two words: both are known, but not joined
    (`heart\\0attack`), or the second begins with a capital after a known word."""
    left, right = _letters_beside(text, start, end)
    words = _words()
    first, second = left.lower(), right.lower()
    if not left or not right or first + second in words or first not in words:
        return False
    return second in words or (left[-1].islower() and right[0].isupper())


def _letters_beside(text: str, start: int, end: int) -> tuple[str, str]:
    """RETURNS (tuple[str, str]): the letters directly before and after a position; empty if there
    are none."""
    left = _LETTERS_BEFORE.search(text, max(start - _MAX_WORD, 0), start)
    right = _LETTERS.match(text, end, end + _MAX_WORD)
    return left[0] if left else "", right[0] if right else ""


@cache
def _words() -> frozenset[str]:
    """RETURNS (frozenset[str]): words of biomedical abstracts, and some short ones."""
    lines = gzip.decompress((DATA / "words.txt.gz").read_bytes()).decode().splitlines()
    return frozenset(_SHORT_WORDS.split()).union(line.split("\t")[0] for line in lines)


def _edited(reading: CleanText, edits: Iterable[Edit]) -> CleanText:
    """reading (CleanText): a text with starts and ends. edits (Iterable[Edit]): edits of this text,
    ascending. RETURNS (CleanText): the edited text."""
    text, old_starts, old_ends = reading.text, reading.starts or (), reading.ends or ()
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    offset = 0
    for start, end, instead in chain(edits, [(len(text), len(text), "")]):
        parts += [text[offset:start], instead]
        starts += old_starts[offset:start] + old_starts[start : start + 1] * len(instead)
        ends += old_ends[offset:start] + old_ends[end - 1 : end] * len(instead)
        offset = end
    return CleanText("".join(parts), tuple(starts), tuple(ends))
