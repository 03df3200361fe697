"""Least figures of a pipeline, so that a team's CI can hold it: by label, by vocabulary, of all.

[all]
precision = 85
recall = 80

[label.DISEASE]
recall = 82.5

[vocabulary.MESH]
precision = 90
"""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from ..errors import AngelError
from ..vocabulary.names.labels import find_entries

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_BYTES = 2**20


class _Rates(BaseModel, extra="forbid"):
    precision: float | None = Field(default=None, ge=0, le=100)
    recall: float | None = Field(default=None, ge=0, le=100)


class _Floors(BaseModel, extra="forbid"):
    all: _Rates = _Rates()
    label: dict[str, _Rates] = {}
    vocabulary: dict[str, _Rates] = {}


@dataclass(frozen=True, slots=True)
class Floor:
    """What a part of the links is to reach.

    part (str): `all`, `label` or `vocabulary`. name (str): of the label, or the prefix of
        identifiers; empty for all.
    precision (float | None), recall (float | None): in per cent; None: any.
    """

    part: str
    name: str
    precision: float | None
    recall: float | None

    def __str__(self) -> str:
        return f"{self.part} {self.name}".strip()


@dataclass
class FloorResult:
    """How a part of the links did.

    floor (Floor): what it is to reach.
    linked (int): links, those of mentions that the corpus does not have included. gold (int):
        mentions with an identifier. right (int): links to one of the gold identifiers.
    wrong (Counter[tuple[str, str, str]]): mention, what it was linked to (`NIL`: nothing), gold
        identifiers, of those that are not right.
    """

    floor: Floor
    linked: int = 0
    gold: int = 0
    right: int = 0
    wrong: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    @property
    def precision(self) -> float:
        """RETURNS (float): per cent of the links; 100 where there is none."""
        return 100 * self.right / self.linked if self.linked else 100.0

    @property
    def recall(self) -> float:
        """RETURNS (float): per cent of the mentions with an identifier; 0 where there is none, for
        a floor that nothing can be held against is a mistake."""
        return 100 * self.right / self.gold if self.gold else 0.0

    @property
    def below(self) -> list[str]:
        """RETURNS (list[str]): which of the figures are under their floor."""
        floors = (("precision", self.floor.precision), ("recall", self.floor.recall))
        return [name for name, least in floors if least is not None and getattr(self, name) < least]


def read_floors(path: Path) -> list[Floor]:
    """path (Path): TOML. RETURNS (list[Floor]): those that name a figure.
    RAISES (AngelError): it cannot be read, or has something else in it."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ValueError(f"it has more than {MAX_BYTES:,} bytes")
        floors = _Floors.model_validate(tomllib.loads(data.decode("utf8")))
    except (OSError, ValueError) as error:
        raise AngelError(f"Cannot read the floors {path}: {error}.") from error
    rates = [
        ("all", "", floors.all),
        *(("label", name, rates) for name, rates in floors.label.items()),
        *(("vocabulary", name, rates) for name, rates in floors.vocabulary.items()),
    ]
    found = [
        Floor(part, name, one.precision, one.recall)
        for part, name, one in rates
        if one.precision is not None or one.recall is not None
    ]
    if not found:
        raise AngelError(f"Cannot read the floors {path}: it has no precision or recall.")
    return found


def hold_floors(
    floors: Iterable[Floor],
    predictions: Iterable[Mapping[str, Any]],
    spurious: Mapping[str, int],
) -> list[FloorResult]:
    """floors (Iterable[Floor]): as `read_floors` gives them. predictions (Iterable[Mapping[str,
    Any]]): lines of `predictions.jsonl`. spurious (Mapping[str, int]): links of mentions that the
    corpus does not have, by their type; of these nobody knows the vocabulary, so that they count
    for labels and for all.
    RETURNS (list[FloorResult]): one a floor."""
    results = [FloorResult(floor) for floor in floors]
    for line in predictions:
        gold = [one["id"] for one in line["gold"]]
        links = list(line["kb_ids"]) if line.get("linked", True) else []
        for result in results:
            _count(result, line, gold, links)
    for name, n in spurious.items():
        for result in results:
            if result.floor.part == "all" or _has_label(result.floor, name):
                result.linked += n
    return results


def _count(result: FloorResult, line: Mapping[str, Any], gold: list[str], links: list[str]) -> None:
    floor = result.floor
    if floor.part == "label" and not _has_label(floor, line["label"]):
        return
    if floor.part == "vocabulary":
        gold = [one for one in gold if _is_of(one, floor.name)]
        links = [one for one in links if _is_of(one, floor.name)]
    is_right = bool(set(links) & set(gold))
    if not (gold or links):
        return
    result.linked += bool(links)
    result.gold += bool(gold)
    result.right += is_right
    if not is_right:
        shown = "|".join(links) or "NIL"
        result.wrong[line["mention"], shown, "|".join(gold) or "NIL"] += 1


def _has_label(floor: Floor, label: str) -> bool:
    return floor.part == "label" and bool(find_entries(label, (floor.name,)))


def _is_of(concept_id: str, prefix: str) -> bool:
    return concept_id.lower().startswith(f"{prefix.lower()}:")
