"""Words for species: laboratory animals, model organisms and people.

Each line of `data/species.tsv` has a phrase, the NCBI Taxonomy number of its taxon, and its role;
methods have no taxon. A vocabulary of NCBI Taxonomy has many more names, but not that a patient, a
woman or a child is human.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ...about import DATA

PREFIX = "NCBITaxon:"
HUMAN, MOUSE, RAT = f"{PREFIX}9606", f"{PREFIX}10090", f"{PREFIX}10116"
FILE = DATA / "species.tsv"
NAME, WORD, SIGN, HOST, _METHOD = "name", "word", "sign", "host", "method"
"""Roles of a phrase. NAME: the scientific name. WORD: another word for the species, `mice`. SIGN:
cells or tools that imply the species, `hek 293`. HOST: an animal that hosts tissue of the species,
`nude mice` for HUMAN. _METHOD: a method or reagent whose name contains a species, `yeast two
hybrid`."""


class Taxon(NamedTuple):
    """A species and its phrases.

    concept_id (str): e.g. `NCBITaxon:10090`.
    phrases (Mapping[str, tuple[str, ...]]): by role, in lower case.
    """

    concept_id: str
    phrases: Mapping[str, tuple[str, ...]]

    @property
    def name(self) -> str:
        """RETURNS (str): the scientific name, e.g. `mus musculus`."""
        return self.phrases[NAME][0]

    def of(self, *roles: str) -> tuple[str, ...]:
        """roles (str): e.g. `WORD`. RETURNS (tuple[str, ...]): phrases with these roles."""
        return tuple(phrase for role in roles for phrase in self.phrases.get(role, ()))


def is_taxon(name: str) -> bool:
    """name (str): identifier or semantic type. RETURNS (bool): whether it is a taxon."""
    return name.startswith(PREFIX)


def is_virus(name: str) -> bool:
    """name (str): name of a taxon.
    RETURNS (bool): whether it is a virus."""
    return "virus" in name.lower()


_ROWS = [line.split("\t") for line in FILE.read_text(encoding="utf8").splitlines()]
METHODS = tuple(phrase for phrase, _, role in _ROWS if role == _METHOD)


def _taxa() -> dict[str, Taxon]:
    phrases: dict[str, dict[str, tuple[str, ...]]] = {}
    for phrase, number, role in _ROWS:
        if role != _METHOD:
            own = phrases.setdefault(f"{PREFIX}{number}", {})
            own[role] = (*own.get(role, ()), phrase)
    return {concept_id: Taxon(concept_id, own) for concept_id, own in phrases.items()}


TAXA: Mapping[str, Taxon] = _taxa()
"""Taxa by identifier."""
