"""Families of texts that expose superlinear running time. Each family is a function of the size,
which is approximately the number of words."""

from collections.abc import Callable
from itertools import cycle, islice, product
from random import Random
from string import ascii_lowercase

Family = Callable[[int], str]


def letters(number: int) -> str:
    """number (int): from 0.
    RETURNS (str): a word of at least four lowercase letters that is unique to the number."""
    digits = ""
    while number or len(digits) < 4:
        number, digit = divmod(number, 26)
        digits = ascii_lowercase[digit] + digits
    return digits


def many(word: Callable[[int], str], join: str = " ") -> Family:
    """word (Callable[[int], str]): number → word.
    RETURNS (Family): texts of the first words."""
    return lambda n: join.join(map(word, range(n)))


def repeated(*words: str, join: str = " ") -> Family:
    """words (str): words in their order.
    RETURNS (Family): texts that repeat these words."""
    return lambda n: join.join(islice(cycle(words), n))


def _nested(n: int) -> str:
    half = n // 2
    return " ".join(["(a"] * half + ["b)"] * half)


def _definition(i: int) -> str:
    first, second = letters(i), letters(i * 7 + 3)
    return f"{first} {second} ({first[0]}{second[0]}{i}).".replace("x", "y")


def _noise(n: int) -> str:
    random = Random(0)
    marks = "()[]{}\"'.,;:-/+*=<>%&#"
    return "".join(random.choice(marks + "ab1 ") for _ in range(2 * n))


NAMES = ("breast cancer", "diabetes", "aspirin", "heart attack", "TP53", "E. coli", "mice")
TYPOS = ("athsma", "diabtes mellitus", "hypertensoin", "astpirin", "epilpesy", "carcnioma")
_SPECIES = tuple("".join(word) for word in product("abcdef", "aeiou", "lmnr", "aeiou", "s"))

FAMILIES: dict[str, Family] = {
    "opening, then closing brackets": lambda n: "(" * (n // 2) + ")" * (n // 2),
    "brackets with blanks": lambda n: "( " * (n // 2) + ") " * (n // 2),
    "pairs of brackets": repeated("()", join=""),
    "nested brackets": _nested,
    "square brackets": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "quotes": repeated('"', "'", join=""),
    "one letter": repeated("a", join=""),
    "one letter apart": repeated("a"),
    "digits": repeated("7", join=""),
    "numbers": many(str),
    "commas": repeated(",", join=""),
    "full stops": repeated(".", join=""),
    "hyphens": repeated("-", join=""),
    "blanks": repeated(" ", join=""),
    "line ends": repeated("\n", join=""),
    "marks at random": _noise,
    "words glued together": many(letters, join=""),
    "names glued together": repeated("breastcancer", "Aspirin", "TP53", join=""),
    "words with hyphens": many(letters, join="-"),
    "slashes": many(letters, join="/"),
    "definitions": many(_definition),
    "one short form": repeated("breast cancer (BC)", "BC", "and"),
    "mentions": repeated(*NAMES, join=", "),
    "mentions without a mark": repeated(*NAMES),
    "mentions of many kinds": many(lambda i: f"breast cancer {i} of TP53 in mice,"),
    "names in brackets": repeated("asthma (", "aspirin) ("),
    "typos": repeated(*TYPOS, join=", "),
    "words near to names": many(lambda i: f"carcinom{letters(i)[-3:]} diabet{letters(i)[-2:]}s"),
    "genera in short": many(lambda i: f"E. {_SPECIES[i % len(_SPECIES)]}{letters(i)},"),
    "accents apart": repeated("a\u0301", join=""),
    "invisible": repeated("\u200b", "a", "\u00ad", join=""),
    "line ends in words": repeated("myo-\n", join=""),
}
