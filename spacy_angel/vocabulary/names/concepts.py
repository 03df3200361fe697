"""What a vocabulary is made of: concepts, their names in normal form, their identifiers."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

SCOPES = ("PREFERRED", "EXACT", "NARROW", "BROAD", "RELATED", "OBSOLETE", "SUPPRESSED")
"""What a source says of a name of a concept, the nearest to the concept first: it is the source's
own name of it; means the same; something narrower, broader or related (OBO, MeSH); is out of use,
or not to be shown (UMLS)."""
_ENTITY_FIELDS = ("concept_id", "canonical_name", "aliases", "types", "definition")
_SHOWN_ALIASES = 10
_PUNCTUATION = re.compile(r"[,.;{}\[\]()+\-_*/?!`\"'=%><]")


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of a vocabulary; the fields are scispaCy's, and four more. It unpacks, is indexed
    and prints as scispaCy's `Entity`, a tuple of the first five.

    concept_id (str): the code with its vocabulary, e.g. `MESH:D003920`.
    canonical_name (str): the preferred name, in its original spelling.
    aliases (tuple[str, ...]): the other names, in their original spelling.
    types (tuple[str, ...]): semantic types, e.g. `T047` or `Disease`.
    definition (str | None): free text.
    alternate_ids (tuple[str, ...]): further identifiers of the same concept (merged, retired).
    parents (tuple[str, ...]): identifiers of the concepts directly above it in the hierarchy.
    scopes (tuple[tuple[str, str], ...]): names of which the source says how they belong to the
        concept, and which of `SCOPES` it says, e.g. `(("sugar sickness", "RELATED"),)`.
    parts (tuple[str, ...]): identifiers of its members, where it is a family of genes or a complex,
        e.g. `NCBIGene:4790` of `FPLX:NFkappaB_1`.
    """

    concept_id: str
    canonical_name: str
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    definition: str | None = None
    alternate_ids: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    scopes: tuple[tuple[str, str], ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): the canonical name, then the aliases."""
        return (self.canonical_name, *self.aliases)

    def scope_of(self, name: str) -> str:
        """name (str): one of its names, as it is spelled. RETURNS (str): its scope, see `SCOPES`;
        empty where its source says nothing."""
        return dict(self.scopes).get(name, "")

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in _ENTITY_FIELDS)

    def __getitem__(self, i: int | slice) -> Any:
        return tuple(self)[i]

    def _asdict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): the fields of scispaCy's `Entity`."""
        return dict(zip(_ENTITY_FIELDS, self, strict=True))

    def __str__(self) -> str:
        n = len(self.aliases)
        all_shown = n <= _SHOWN_ALIASES
        head = f"Aliases: (total: {n})" if all_shown else f"Aliases (abbreviated, total: {n})"
        return (
            f"CUI: {self.concept_id}, Name: {self.canonical_name}\n"
            f"Definition: {self.definition}\n"
            f"TUI(s): {', '.join(self.types)}\n"
            f"{head}: \n\t {', '.join(self.aliases[:_SHOWN_ALIASES])}"
        )


def nearest_scopes(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """pairs (Iterable[tuple[str, str]]): names with one of `SCOPES` each. RETURNS (tuple[tuple[str,
    str], ...]): each name once, with the nearest of its scopes."""
    nearest: dict[str, str] = {}
    for name, scope in pairs:
        before = nearest.get(name, scope)
        nearest[name] = min(before, scope, key=SCOPES.index)
    return tuple(nearest.items())


def normalize_name(text: str) -> str:
    """Lower-case a name and blank its punctuation, as GenBioEL does (appendix E.1, step 2).

    text (str): a name, e.g. `Non-inherited (rare) form`.
    RETURNS (str): words with one space between, e.g. `non inherited rare form`; may be empty.
    """
    return " ".join(_PUNCTUATION.sub(" ", text.lower()).split())
