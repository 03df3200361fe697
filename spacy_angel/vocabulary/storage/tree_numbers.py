"""Tree numbers of concepts in three flat columns: a number is its parent's and one part more.

    concept i   tree_offsets[i] .. tree_offsets[i + 1] - 1 are the rows of its numbers
    row r       tree_part[r] is its last part, an index into the parts; tree_parent[r] the row of
                the number without that part, -1 where there is none

`C04` of concept 0, `C04.557.337` of concept 1 and the parts `C04`, `337`, `557` are

    tree_offsets [0, 1, 2]   tree_part [0, 1, 2]   tree_parent [-1, 2, 0]

where row 2, `C04.557`, stands for no concept.
"""

from collections.abc import Mapping

import numpy as np

from .arrays import Columns
from .strings import Strings, StringsBuilder, offsets_of

# A vocabulary without tree numbers has none of these columns.
TREE_COLUMNS = ("tree_offsets", "tree_part", "tree_parent", "tree_parts_data", "tree_parts_offsets")


class TreeNumbers:
    """The numbers that `TreeNumbersBuilder` laid out.

    columns (Mapping[str, np.ndarray]): those named in `TREE_COLUMNS`, among others.
    """

    def __init__(self, columns: Mapping[str, np.ndarray]) -> None:
        self._offsets, self._part, self._parent = (columns[name] for name in TREE_COLUMNS[:3])
        self._parts = Strings(columns["tree_parts_data"], columns["tree_parts_offsets"])

    def of(self, i: int) -> tuple[str, ...]:
        """i (int): concept row. RETURNS (tuple[str, ...]): its numbers, as they were added."""
        first, last = self._offsets[i : i + 2].tolist()
        return tuple(map(self._number, range(first, last)))

    def below(self, i: int) -> np.ndarray:
        """i (int): concept row. RETURNS (np.ndarray): rows of the concepts with a number that is
        one of its own or continues it, ascending."""
        first, last = self._offsets[i : i + 2].tolist()
        found = np.zeros(len(self._parent), dtype=bool)
        found[first:last] = True
        n = 0
        # A step down the trees at a time; they are a dozen steps deep.
        while n != (n := int(found.sum())):
            found |= found[self._parent] & (self._parent >= 0)
        rows = np.flatnonzero(found[: self._offsets[-1]])
        return np.unique(np.searchsorted(self._offsets, rows, side="right") - 1)

    def _number(self, row: int) -> str:
        parts: list[str] = []
        while row >= 0:
            parts.append(self._parts[int(self._part[row])])
            row = int(self._parent[row])
        return ".".join(reversed(parts))


class TreeNumbersBuilder:
    """Collects the numbers of concepts."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, str], None] = {}

    def add(self, concept: int, number: str) -> None:
        """concept (int): row. number (str): e.g. `C04.557.337`; one that it has is passed over."""
        self._numbers[concept, number] = None

    def finish(self, n: int) -> Columns:
        """n (int): how many concepts there are. RETURNS (Columns): those of `TREE_COLUMNS`, or
        none where no concept has a number."""
        if not self._numbers:
            return {}
        pairs = sorted(self._numbers, key=lambda pair: pair[0])
        counts = np.bincount([concept for concept, _ in pairs], minlength=n)
        numbers = [number for _, number in pairs]
        rows: dict[str, int] = {}
        for row, number in enumerate(numbers):
            rows.setdefault(number, row)
        index: dict[str, int] = {}
        parts, parents = [], []
        # The list grows behind its end by the numbers between that no concept has.
        for number in numbers:
            above, _, part = number.rpartition(".")
            if above and above not in rows:
                rows[above] = len(numbers)
                numbers.append(above)
            parents.append(rows[above] if above else -1)
            parts.append(index.setdefault(part if above else number, len(index)))
        strings = StringsBuilder(index).finish()
        return {
            "tree_offsets": offsets_of(counts),
            "tree_part": np.array(parts, dtype=np.min_scalar_type(len(index))),
            "tree_parent": np.array(parents, dtype=np.int32),
            "tree_parts_data": strings.data,
            "tree_parts_offsets": strings.offsets,
        }
