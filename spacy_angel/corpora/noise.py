"""Noise in texts, as produced by people, keyboards, and scanners.

A rule yields positions in a text and possible replacements; a seeded random generator chooses.
Edits never overlap, and the first n edits do not depend on the total number.
"""

import random
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from string import ascii_lowercase

from ..errors import AngelError, unknown_name

Place = tuple[int, int, tuple[str, ...]]
"""Start and end of at least one character, and its possible replacements."""
Edit = tuple[int, int, str]
"""A place and the chosen replacement, as `text_changes.replace_spans` takes them."""
Rule = Callable[[str], Iterator[Place]]

# A row of keys, and how far to the right of the first row it begins, in widths of a key.
_KEY_ROWS = (("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))
_KEYS = {
    key: (x + shift, y) for y, (row, shift) in enumerate(_KEY_ROWS) for x, key in enumerate(row)
}
_NEIGHBORS = {
    key: tuple(k for k, (u, v) in _KEYS.items() if k != key and max(abs(u - x), abs(v - y)) <= 1)
    for key, (x, y) in _KEYS.items()
}

# Shapes that a scanner confuses.
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
# The British stem first, since it may contain the American one. `chemo` and `schema` are neither.
_SPELLINGS = tuple(
    (re.compile(f"({british})|(?<!c){american}", re.IGNORECASE), british, american)
    for british, american in _STEMS
)

# From singular to plural or back; the first that matches.
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
_TWO_WORDS = re.compile(r"(?<!\S)(?=([\w'-]+) ([\w'-]+)(?!\S))")
_JOINT = re.compile(r"(?<=\w)[- ](?=\w)")
_BLANK = re.compile(r"(?<=\S) (?=\S)")


def _with_case_of(old: str, new: str) -> str:
    """`new`, in capitals or with an initial capital if `old` is."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _letter_rule(choices: Callable[[str], Iterator[str]]) -> Rule:
    """choices (Callable[[str], Iterator[str]]): replacements of a lower-case letter."""

    def rule(text: str) -> Iterator[Place]:
        for start, letter in enumerate(text):
            if letter.isalpha() and (others := tuple(choices(letter.lower()))):
                new = tuple(_with_case_of(letter, other) for other in others)
                yield start, start + 1, new

    return rule


_changed = _letter_rule(lambda letter: (other for other in ascii_lowercase if other != letter))
_mistyped = _letter_rule(lambda letter: iter(_NEIGHBORS.get(letter, ())))


def _swapped(text: str) -> Iterator[Place]:
    """Capitals keep their position: `Gout` → `Ogut`."""
    for start, (one, two) in enumerate(pairwise(text)):
        if one.isalpha() and two.isalpha() and one.lower() != two.lower():
            swapped = _with_case_of(one, two.lower()) + _with_case_of(two, one.lower())
            yield start, start + 2, (swapped,)


def _missing(text: str) -> Iterator[Place]:
    """Never the only letter of a word."""
    for word in _WORD.finditer(text):
        for start in range(*word.span()) if len(word[0]) > 1 else ():
            if text[start].isalpha():
                yield start, start + 1, ("",)


def _doubled(text: str) -> Iterator[Place]:
    """`Gout` → `Ggout`, `MLD` → `MLLD`."""
    for start, letter in enumerate(text):
        if letter.isalpha():
            second = letter if text.isupper() else letter.lower()
            yield start, start + 1, (letter + second,)


def _scanned(text: str) -> Iterator[Place]:
    for pair in _LOOKALIKES:
        for old, new in (pair, pair[::-1]):
            for match in re.finditer(old, text):
                yield *match.span(), (new,)


def change_spelling(text: str) -> Iterator[Place]:
    for pattern, british, american in _SPELLINGS:
        for match in pattern.finditer(text):
            new = _with_case_of(match[0], american if match[1] else british)
            yield *match.span(), (new,)


def _hyphenated(text: str) -> Iterator[Place]:
    """A hyphen becomes a space or nothing, a space a hyphen."""
    for match in _JOINT.finditer(text):
        yield *match.span(), (" ", "") if match[0] == "-" else ("-",)


def _ordered(text: str) -> Iterator[Place]:
    """`lung cancer` → `cancer lung` or, as vocabularies have it, `cancer, lung`."""
    for match in _TWO_WORDS.finditer(text):
        one, two = match.groups()
        if one != two:
            yield match.start(1), match.end(2), (f"{two} {one}", f"{two}, {one}")


def change_number(text: str) -> Iterator[Place]:
    """The last word in the other number: `metastasis` ↔ `metastases`, `MLD` → `MLDs`."""
    for word in list(_LETTERS.finditer(text))[-1:]:
        pattern, new = next(rule for rule in _NUMBERS if rule[0].search(word[0]))
        other = pattern.sub(new, word[0], count=1)
        is_upper = word[0].isupper() and len(word[0]) > 4
        yield *word.span(), (other.upper() if is_upper else other,)


def _cased(text: str) -> Iterator[Place]:
    """All of it in capitals, in lower case, with one capital, or with one for each word."""
    forms = dict.fromkeys([text.upper(), text.lower(), text.capitalize(), text.title()])
    if choices := tuple(form for form in forms if form != text):
        yield 0, len(text), choices


def _joined(text: str) -> Iterator[Place]:
    for match in _BLANK.finditer(text):
        yield *match.span(), ("",)


KINDS: dict[str, tuple[Rule, ...]] = {
    "typo": (_changed, _swapped),
    "mixed": (
        *(_mistyped, _swapped, _missing, _doubled, _scanned, change_spelling),
        *(_hyphenated, _ordered, change_number, _cased, _joined),
    ),
}
"""The rules of a kind are equally likely, as far as the text has a place for them."""


def add_noise(text: str, kind: str, edits: int, chance: random.Random) -> str:
    """Add noise to a mention or name.

    text (str): e.g. `heart attack`.
    kind (str): one of `KINDS`.
    edits (int): maximum number of edits; fewer if the text is too short.
    chance (random.Random): random generator.
    RETURNS (str): e.g. `heart atatck`.
    """
    return _with_edits(text, choose_edits(text, kind, edits, chance))


def choose_edits(
    text: str, kind: str, number: int, chance: random.Random, offset: int = 0
) -> list[Edit]:
    """Choose positions and replacements.

    text (str): any.
    kind (str): one of `KINDS`.
    number (int): maximum number of edits; fewer if the text is too short.
    chance (random.Random): chooses the rule, the position, and the replacement, in this order.
    offset (int): offset of the text, added to the positions.
    RETURNS (list[Edit]): in the order of the text, not overlapping; at least one letter is kept.
    RAISES (AngelError): unknown kind.
    """
    if kind not in KINDS:
        raise AngelError(unknown_name("kind of noise", kind, ", ".join(KINDS)))
    edits: list[Edit] = []
    n_letters = sum(letter.isalpha() for letter in text)
    while len(edits) < number:
        for rule in chance.sample(KINDS[kind], len(KINDS[kind])):
            if rule is _missing and n_letters - sum(not new for _, _, new in edits) < 2:
                continue
            places = [
                (start, end, choices)
                for start, end, choices in rule(text)
                if not any(start < done and begin < end for begin, done, _ in edits)
            ]
            if places:
                start, end, choices = chance.choice(places)
                edits.append((start, end, chance.choice(choices)))
                break
        else:
            break
    return [(start + offset, end + offset, new) for start, end, new in sorted(edits)]


def _with_edits(text: str, edits: list[Edit]) -> str:
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return text
