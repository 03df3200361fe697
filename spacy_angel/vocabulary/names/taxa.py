"""Species that texts speak of in words of their own: laboratory animals, model organisms, people.

`data/species.tsv` has a phrase, the number of its taxon and its role a line; a method has no taxon.
Numbers and scientific names are NCBI Taxonomy's. A vocabulary of NCBI Taxonomy knows many more
names, but that a patient, a woman or a child is a human being stands in none.
"""

from collections.abc import Mapping
from typing import NamedTuple

from ...about import DATA

PREFIX = "NCBITaxon:"
HUMAN, MOUSE, RAT = f"{PREFIX}9606", f"{PREFIX}10090", f"{PREFIX}10116"
FILE = DATA / "species.tsv"
NAME, WORD, SIGN, HOST, _METHOD = "name", "word", "sign", "host", "method"
"""Roles of a phrase. NAME: the scientific name. WORD: another word for the species, `mice`. SIGN:
cells or tools of the species, which do not name it but show whose genes are meant, `hek 293`. HOST:
an animal with tissue of the species in it, `nude mice` of HUMAN, whose genes are then the species'.
_METHOD: names a method or reagent and hides the species in it, `yeast two hybrid`."""


class Taxon(NamedTuple):
    """A species and what it is called.

    concept_id (str): e.g. `NCBITaxon:10090`.
    phrases (Mapping[str, tuple[str, ...]]): by role, in small letters.
    """

    concept_id: str
    phrases: Mapping[str, tuple[str, ...]]

    @property
    def name(self) -> str:
        """RETURNS (str): the scientific name, e.g. `mus musculus`."""
        return self.phrases[NAME][0]

    def of(self, *roles: str) -> tuple[str, ...]:
        """roles (str): e.g. `WORD`. RETURNS (tuple[str, ...]): phrases that have one."""
        return tuple(phrase for role in roles for phrase in self.phrases.get(role, ()))


def is_taxon(name: str) -> bool:
    """name (str): identifier or semantic type. RETURNS (bool): whether it is a taxon's."""
    return name.startswith(PREFIX)


def is_virus(name: str) -> bool:
    """name (str): of a taxon. RETURNS (bool): e.g. of `human papillomavirus type 16`."""
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
"""By identifier."""
