"""Noise as people, keyboards and scanners make it, in mentions and in the text around them.

A kind of noise lists the places of a text where it can strike and what may stand there instead;
chance, seeded, chooses. Several edits of a text are at places of their own, and the first of them
are the same however many follow. `typo` is the plainest: one letter changed, or two neighbours
swapped.
"""

import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from string import ascii_lowercase
from typing import NamedTuple

from ..errors import AngelError, unknown_name
from .documents import CorpusDocument, GoldMention
from .text_changes import replace_spans


class Place(NamedTuple):
    """Where a text can be changed.

    start (int), end (int): the characters that are replaced, at least one.
    choices (tuple[str, ...]): what may stand there instead; each differs from what stands there.
    """

    start: int
    end: int
    choices: tuple[str, ...]


class Edit(NamedTuple):
    """A place and what was chosen for it, as `text_changes.replace_spans` takes them."""

    start: int
    end: int
    new: str


# A row of keys, and how far to the right of the first row it begins, in widths of a key.
_KEY_ROWS = (("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))
_KEYS = {
    key: (x + shift, y) for y, (row, shift) in enumerate(_KEY_ROWS) for x, key in enumerate(row)
}
_NEIGHBOURS = {
    key: tuple(k for k, (u, v) in _KEYS.items() if k != key and max(abs(u - x), abs(v - y)) <= 1)
    for key, (x, y) in _KEYS.items()
}

# Shapes that a scanner takes for each other.
_LOOKALIKES = (
    *(("rn", "m"), ("nn", "m"), ("ri", "n"), ("cl", "d"), ("vv", "w"), ("ii", "u"), ("li", "h")),
    *(("l", "1"), ("I", "l"), ("i", "l"), ("o", "0"), ("O", "0"), ("S", "5"), ("B", "8")),
    *(("e", "c"), ("h", "b"), ("t", "f"), ("g", "q"), ("u", "v")),
)

# British and American.
_STEMS = (
    *(("aemia", "emia"), ("anaemi", "anemi"), ("ischaemi", "ischemi"), ("leukaemi", "leukemi")),
    *(("glycaemi", "glycemi"), ("uraemi", "uremi"), ("haemat", "hemat"), ("haemo", "hemo")),
    *(("haemangi", "hemangi"), ("oedema", "edema"), ("oesoph", "esoph"), ("oestrog", "estrog")),
    *(("foetal", "fetal"), ("foetus", "fetus"), ("rrhoea", "rrhea"), ("pnoea", "pnea")),
    *(("paediatr", "pediatr"), ("orthopaed", "orthoped"), ("gynaec", "gynec"), ("caec", "cec")),
    *(("aetiolog", "etiolog"), ("coeliac", "celiac"), ("anaesthe", "anesthe")),
    *(("faecal", "fecal"), ("faeces", "feces"), ("leucocyt", "leukocyt"), ("leucopen", "leukopen")),
    *(("tumour", "tumor"), ("behaviour", "behavior"), ("odour", "odor"), ("fibre", "fiber")),
    *(("centre", "center"), ("sulph", "sulf"), ("isation", "ization"), ("paralyse", "paralyze")),
)
# The British stem first, for it may hold the American one. `chemo` and `schema` are neither.
_SPELLINGS = tuple(
    (re.compile(f"({british})|(?<!c){american}", re.IGNORECASE), british, american)
    for british, american in _STEMS
)

# From one number to the other; the first that fits.
_NUMBERS = tuple(
    (re.compile(pattern, re.IGNORECASE), new)
    for pattern, new in (
        (r"([^e])ases$", r"\1asis"),  # metastases, not diseases
        (r"(..[oy])ses$", r"\1sis"),
        (r"sis$", "ses"),
        (r"([^aeiou])ies$", r"\1y"),
        (r"(x|ch|sh|ss)es$", r"\1"),
        (r"([^sui])s$", r"\1"),
        (r"([^aeiou])y$", r"\1ies"),
        (r"(s|x|ch|sh)$", r"\1es"),
        (r"$", "s"),
    )
)

_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_TOKEN = re.compile(r"\S+")
_TWO_WORDS = re.compile(r"(?<!\S)(?=([\w'-]+) ([\w'-]+)(?!\S))")
_JOINT = re.compile(r"(?<=\w)[- ](?=\w)")
_BLANK = re.compile(r"(?<=\S) (?=\S)")


def _letters(text: str) -> Iterator[tuple[int, str]]:
    return ((start, letter) for start, letter in enumerate(text) if letter.isalpha())


def _in_case_of(old: str, new: str) -> str:
    """`new`, all capitals or the first one where `old` has them so."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _changed(text: str) -> Iterator[Place]:
    for start, letter in _letters(text):
        others = (other for other in ascii_lowercase if other != letter.lower())
        yield Place(start, start + 1, tuple(_in_case_of(letter, other) for other in others))


def _mistyped(text: str) -> Iterator[Place]:
    for start, letter in _letters(text):
        if keys := _NEIGHBOURS.get(letter.lower()):
            yield Place(start, start + 1, tuple(_in_case_of(letter, key) for key in keys))


def _swapped(text: str) -> Iterator[Place]:
    """A capital stays where it was: `Gout` → `Ogut`."""
    for start, (one, two) in enumerate(pairwise(text)):
        if one.isalpha() and two.isalpha() and one.lower() != two.lower():
            swapped = _in_case_of(one, two.lower()) + _in_case_of(two, one.lower())
            yield Place(start, start + 2, (swapped,))


def _missing(text: str) -> Iterator[Place]:
    """Never the only letter of a word."""
    for word in _WORD.finditer(text):
        if len(word[0]) > 1:
            for start, _ in _letters(word[0]):
                yield Place(word.start() + start, word.start() + start + 1, ("",))


def _doubled(text: str) -> Iterator[Place]:
    """`Gout` → `Ggout`, `MLD` → `MLLD`."""
    for start, letter in _letters(text):
        following = letter if text.isupper() else letter.lower()
        yield Place(start, start + 1, (letter + following,))


def _scanned(text: str) -> Iterator[Place]:
    for pair in _LOOKALIKES:
        for old, new in (pair, pair[::-1]):
            for match in re.finditer(old, text):
                yield Place(*match.span(), (new,))


def _spelled(text: str) -> Iterator[Place]:
    for pattern, british, american in _SPELLINGS:
        for match in pattern.finditer(text):
            new = _in_case_of(match[0], american if match[1] else british)
            yield Place(*match.span(), (new,))


def _hyphenated(text: str) -> Iterator[Place]:
    """A hyphen becomes a space or nothing, a space a hyphen."""
    for match in _JOINT.finditer(text):
        yield Place(*match.span(), (" ", "") if match[0] == "-" else ("-",))


def _ordered(text: str) -> Iterator[Place]:
    """`lung cancer` → `cancer lung` or, as vocabularies have it, `cancer, lung`."""
    for match in _TWO_WORDS.finditer(text):
        one, two = match.groups()
        if one != two:
            yield Place(match.start(1), match.end(2), (f"{two} {one}", f"{two}, {one}"))


def _counted(text: str) -> Iterator[Place]:
    """The last word in the other number: `metastasis` ↔ `metastases`, `MLD` → `MLDs`."""
    for word in list(_LETTERS.finditer(text))[-1:]:
        pattern, new = next(rule for rule in _NUMBERS if rule[0].search(word[0]))
        other = pattern.sub(new, word[0], count=1)
        yield Place(
            *word.span(), (other.upper() if word[0].isupper() and len(word[0]) > 4 else other,)
        )


def _cased(text: str) -> Iterator[Place]:
    """All of it in capitals, in small letters, with one capital, or with one a word."""
    forms = dict.fromkeys([text.upper(), text.lower(), text.capitalize(), text.title()])
    if choices := tuple(form for form in forms if form != text):
        yield Place(0, len(text), choices)


def _joined(text: str) -> Iterator[Place]:
    for match in _BLANK.finditer(text):
        yield Place(*match.span(), ("",))


Rule = Callable[[str], Iterator[Place]]
_SINGLE: dict[str, Rule] = {
    "keyboard": _mistyped,
    "swapped": _swapped,
    "missing": _missing,
    "doubled": _doubled,
    "ocr": _scanned,
    "spelling": _spelled,
    "hyphen": _hyphenated,
    "order": _ordered,
    "plural": _counted,
    "case": _cased,
    "blank": _joined,
}
KINDS: dict[str, tuple[Rule, ...]] = {
    "typo": (_changed, _swapped),
    **{name: (rule,) for name, rule in _SINGLE.items()},
    "mixed": tuple(_SINGLE.values()),
}
"""Of several rules each is as likely as the others, as far as the text has a place for it."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What is done to a document.

    kind (str): one of `KINDS`.
    edits (int): how many in each mention, as far as it has places for them.
    context (float): share of the words outside of mentions that get one edit, 0 to 1.
    """

    kind: str = "typo"
    edits: int = 1
    context: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise AngelError(unknown_name("kind of noise", self.kind, ", ".join(KINDS)))
        if self.edits < 0 or not 0 <= self.context <= 1:
            raise AngelError(
                "Noise needs edits of at least 0 and a context share from 0 to 1; got "
                f"{self.edits} and {self.context}."
            )

    @property
    def name(self) -> str:
        """RETURNS (str): e.g. `typo:2`, with noise in a tenth of the other words `typo:2:0.1`."""
        return f"{self.kind}:{self.edits}" + (f":{self.context:g}" if self.context else "")


def add_noise(text: str, kind: str, edits: int, chance: random.Random) -> str:
    """Noise in a mention or a name.

    text (str): e.g. `heart attack`.
    kind (str): one of `KINDS`.
    edits (int): how many, as far as the text has places for them.
    chance (random.Random): chooses; used up as far as needed.
    RETURNS (str): e.g. `heart atatck`.
    """
    return _with_edits(text, choose_edits(text, kind, edits, chance))


def add_noise_to_words(text: str, kind: str, share: float, chance: random.Random) -> str:
    """Noise in a context.

    text (str): what stands around a mention.
    kind (str): one of `KINDS`; those that need two words change none.
    share (float): of the words that get one edit each, 0 to 1.
    chance (random.Random): chooses.
    RETURNS (str): the text with noise.
    """
    return _with_edits(text, _word_edits(text, kind, share, chance, ()))


def noisy_document(document: CorpusDocument, noise: Noise, seed: int = 0) -> CorpusDocument:
    """A document as it might have been written, typed or scanned.

    document (CorpusDocument): any. Where mentions overlap, an edit inside several counts for each.
    noise (Noise): what is done.
    seed (int): with the document's identifier and a mention's offsets it fixes all that is chosen,
        whatever other documents and mentions there are, and whatever the process.
    RETURNS (CorpusDocument): offsets moved, the step `noise=…` added; parts of composites get
        noise of their own.
    """
    boundaries = {end for m in document.mentions for end in (m.start, m.end)}
    boundaries.add(document.title_end or 0)
    edits: list[Edit] = []
    # The shortest first: what is done inside it is also inside the longer ones around it.
    for mention in sorted(document.mentions, key=lambda m: (m.end - m.start, m.start)):
        inside = sum(mention.start <= e.start and e.end <= mention.end for e in edits)
        edits += [
            Edit(start + mention.start, end + mention.start, new)
            for start, end, new in choose_edits(
                mention.text,
                noise.kind,
                noise.edits - inside,
                _chance(seed, document.doc_id, mention.start, mention.end),
                taken=[(e.start - mention.start, e.end - mention.start) for e in edits],
                boundaries={boundary - mention.start for boundary in boundaries},
            )
        ]
    if noise.context:
        chance = _chance(seed, document.doc_id, "context")
        spans = [(m.start, m.end) for m in document.mentions]
        edits += _word_edits(document.text, noise.kind, noise.context, chance, spans)
    changed = replace_spans(document, sorted(edits))
    mentions = tuple(_with_noisy_parts(m, noise, seed, document.doc_id) for m in changed.mentions)
    return replace(changed, mentions=mentions, steps=(*document.steps, f"noise={noise.name}"))


def choose_edits(
    text: str,
    kind: str,
    number: int,
    chance: random.Random,
    *,
    taken: Iterable[tuple[int, int]] = (),
    boundaries: Collection[int] = (),
) -> list[Edit]:
    """Choose places, and what stands there instead.

    text (str): any.
    kind (str): one of `KINDS`.
    number (int): of edits; fewer where the text has no more places.
    chance (random.Random): chooses first the rule, then the place, then the replacement.
    taken (Iterable[tuple[int, int]]): characters, from start to end, that stay as they are.
    boundaries (Collection[int]): offsets that no edit may reach over.
    RETURNS (list[Edit]): in the order of the text, none overlapping another; a letter is left.
    """
    spans = list(taken)
    edits: list[Edit] = []
    n_letters = sum(letter.isalpha() for letter in text)
    while len(edits) < number:
        n_letters_left = n_letters - sum(not edit.new for edit in edits)
        for rule in chance.sample(KINDS[kind], len(KINDS[kind])):
            if rule is _missing and n_letters_left < 2:
                continue
            if places := [p for p in rule(text) if _is_free(p, spans, boundaries)]:
                start, end, choices = chance.choice(places)
                edits.append(Edit(start, end, chance.choice(choices)))
                spans.append((start, end))
                break
        else:
            break
    return sorted(edits)


def _is_free(place: Place, spans: Sequence[tuple[int, int]], boundaries: Collection[int]) -> bool:
    return not any(place.start < end and start < place.end for start, end in spans) and not any(
        place.start < boundary < place.end for boundary in boundaries
    )


def _word_edits(
    text: str,
    kind: str,
    share: float,
    chance: random.Random,
    taken: Sequence[tuple[int, int]],
) -> list[Edit]:
    edits = []
    for word in _TOKEN.finditer(text):
        start, end = word.span()
        if chance.random() < share and not any(start < e and s < end for s, e in taken):
            edits += [
                Edit(start + s, start + e, new)
                for s, e, new in choose_edits(word[0], kind, 1, chance)
            ]
    return edits


def _with_edits(text: str, edits: Iterable[Edit]) -> str:
    pieces = []
    done = 0
    for start, end, new in edits:
        pieces += [text[done:start], new]
        done = end
    return "".join([*pieces, text[done:]])


def _with_noisy_parts(mention: GoldMention, noise: Noise, seed: int, doc_id: str) -> GoldMention:
    parts = (
        add_noise(part, noise.kind, noise.edits, _chance(seed, doc_id, part))
        for part in mention.parts
    )
    return replace(mention, parts=tuple(parts))


def _chance(seed: int, *key: object) -> random.Random:
    """Seeded by a text, which Python hashes the same way in every process."""
    return random.Random("\0".join(map(str, (seed, *key))))
