"""Descriptors of MeSH 2024 with their current and earlier names and tree numbers.

The 2024 edition provides identifiers, headings, entry terms, permuted terms (the only ones with
`heart attacks`), and tree numbers. A descriptor keeps a name from 2019 unless another one has it
now; a removed descriptor becomes an alternate identifier of the one that has its names. The tops
of the trees (`Neoplasms`, C04), which the table lacks, are taken from 2015 or from `_TOPS`.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.sources.formats.lines import read_lines
from spacy_angel.vocabulary.sources.formats.records import (
    VocabularyReport,
    tree_parents,
    tree_types,
)

DESCRIPTORS = "more/vocab/mesh_2024_descriptors.tsv.gz"
NUMBERS = "more/vocab/mesh_2024_tree_numbers.tsv.gz"
EARLIER = "mesh/mesh_2019_descriptors.tsv"
EARLIER_NUMBERS = "mesh/mesh_2015_tree_numbers.tsv"
# Infections; Metabolism; Urogenital Diseases.
_TOPS = {"D007239": "C01", "D008660": "G03", "D000091642": "C12"}
_LONGEST_TOP = 3


@dataclass
class Descriptor:
    """heading (str): canonical name. terms (list[str]): entry terms. further (list[str]): permuted
    terms and earlier names. numbers (list[str]): tree numbers."""

    heading: str
    terms: list[str]
    further: list[str]
    numbers: list[str]

    @property
    def names(self) -> list[str]:
        """RETURNS (list[str]): all names, the heading first."""
        return [self.heading, *self.terms, *self.further]


def descriptors(data: Path) -> Iterator[Concept]:
    """data (Path): folder of the tables. YIELDS (Concept): each descriptor of 2024; it has no types
    if it is in no tree."""
    held = read(data)
    owners: dict[str, str] = {}
    for code, descriptor in held.items():
        for name in descriptor.names:
            owners.setdefault(normalize_name(name), code)
    earlier = {cells[0]: [cells[1], *_split(cells[2])] for cells in rows(data / EARLIER)}
    replaced: dict[str, list[str]] = defaultdict(list)
    for code, names in earlier.items():
        if code in held:
            kept = (n for n in names if owners.get(normalize_name(n), code) == code)
            held[code].further.extend(kept)
        elif now := _successor(names, owners):
            replaced[now].append(code)
            held[now].further.extend(n for n in names if normalize_name(n) not in owners)
    concepts = {number: f"MESH:{code}" for code, d in held.items() for number in d.numbers}
    for code, descriptor in held.items():
        yield Concept(
            f"MESH:{code}",
            descriptor.heading,
            tuple(_distinct(descriptor)),
            tuple(tree_types(descriptor.numbers)),
            alternate_ids=tuple(f"MESH:{old}" for old in replaced[code]),
            parents=tuple(dict.fromkeys(tree_parents(descriptor.numbers, concepts))),
        )


def read(data: Path) -> dict[str, Descriptor]:
    """data (Path): folder of the tables. RETURNS (dict[str, Descriptor]): by code, of 2024."""
    numbers = {cells[0]: _split(cells[2]) for cells in rows(data / NUMBERS)}
    tops = {c[0]: c[2] for c in rows(data / EARLIER_NUMBERS) if len(c[2]) <= _LONGEST_TOP} | _TOPS
    return {
        code: Descriptor(
            heading,
            _split(terms),
            _split(permuted),
            numbers.get(code) or [tops[code]] if code in numbers or code in tops else [],
        )
        for code, heading, terms, permuted in rows(data / DESCRIPTORS)
    }


def rows(path: Path) -> Iterator[list[str]]:
    """path (Path): tab-separated table, plain or gzip. YIELDS (list[str]): the cells of each row
    except the headers of MeSH's tables."""
    for line in read_lines(path, VocabularyReport()):
        cells = line.split("\t")
        if cells[0] not in ("id", "mesh_id"):
            yield cells


def _split(cell: str) -> list[str]:
    return [name for name in cell.split("|") if name]


def _successor(names: Iterable[str], owners: Mapping[str, str]) -> str | None:
    """Find the descriptor with most of these names."""
    found = Counter(owners[n] for n in map(normalize_name, names) if n in owners)
    return found.most_common(1)[0][0] if found else None


def _distinct(descriptor: Descriptor) -> Iterator[str]:
    """Yield the names except the heading, without inverted ones (`Attack, Heart`) if the descriptor
    also has the natural order, and without further names whose normal form is already there, such
    as `SARS CoV 2` beside `SARS-CoV-2`."""
    known = {normalize_name(name) for name in descriptor.names}
    seen = {normalize_name(name) for name in (descriptor.heading, *descriptor.terms)}
    for name in descriptor.terms:
        if not _is_turned(name, known):
            yield name
    for name in descriptor.further:
        normal = normalize_name(name)
        if normal not in seen and not _is_turned(name, known):
            seen.add(normal)
            yield name


def _is_turned(name: str, known: Collection[str]) -> bool:
    parts = name.split(", ")
    return len(parts) > 1 and normalize_name(" ".join(reversed(parts))) in known
