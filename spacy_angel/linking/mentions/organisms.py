"""Names of organisms as texts have them: `Shiga toxin-producing Escherichia coli`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...model.mention import Mention

_BINOMIAL = re.compile(
    r"(?<![\w.])[A-Z][a-z]{0,2}\. ?[a-z][a-z-]{2,}|(?<!\w)[A-Z][a-z]{2,} [a-z-]{3,}"
)

_CELLS = re.compile(r" (?:cells?|cell lines?)\b")
_BEFORE_CELLS = re.compile(r"(?<![\w-])(?:([\w/.-]+) )?([\w/.-]+)$")
_LONGEST_LINE = 40
_SHORTEST_LINE = 3


def cell_lines_in(text: str) -> Iterator[list[tuple[int, int]]]:
    """text (str): of a document. YIELDS (list[tuple[int, int]]): where it speaks of cells, the
    characters of what may be the name of their line, the longer one first: a word before `cells`,
    or two, that ends with a word of three letters and more with a number or an inner capital in it,
    e.g. `SK-N-SH cells` → `SK-N-SH`."""
    for cells in _CELLS.finditer(text):
        first = max(cells.start() - _LONGEST_LINE, 0)
        words = _BEFORE_CELLS.search(text[first : cells.start()])
        if words is None or len(words[2]) < _SHORTEST_LINE:
            continue
        if any(letter.isdigit() or letter.isupper() for letter in words[2][1:]):
            numbers = (0, 2) if words[1] else (2,)
            yield [(first + words.start(n), cells.start()) for n in numbers]


def read_organism(mention: "Mention", is_name: Callable[[str], bool]) -> "Mention":
    """Read a mention of an organism that is no name as the binomial name in it.

    mention (Mention): long forms that its document defines are already in their place.
    is_name (Callable[[str], bool]): whether a text is a name of a concept that the mention may
        have.
    RETURNS (Mention): e.g. `Shiga toxin-producing Escherichia coli` → `Escherichia coli`; others
        as they are.
    """
    if is_name(mention.text):
        return mention
    names = (found[0] for found in _BINOMIAL.finditer(mention.text))
    return replace(mention, text=next(filter(is_name, names), mention.text))
