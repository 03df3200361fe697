"""Concepts of a vocabulary, and the normal form of their names."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

Scope = Literal["PREFERRED", "EXACT", "NARROW", "BROAD", "RELATED", "OBSOLETE", "SUPPRESSED"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""How a name relates to its concept according to the source, closest first: it is the preferred
name; has the same meaning; or a narrower, broader or related one (OBO, MeSH); is obsolete, or
suppressed (UMLS)."""
_SHOWN_ALIASES = 10
_PUNCTUATION = re.compile(r"[,.;{}\[\]()+\-_*/?!`\"'=%><]")


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of a vocabulary, with the fields of scispaCy's `Entity` and four more.

    concept_id (str): the code with its vocabulary, e.g. `MESH:D003920`.
    canonical_name (str): the preferred name, in its original spelling.
    aliases (tuple[str, ...]): the other names, in their original spelling.
    types (tuple[str, ...]): semantic types, e.g. `T047` or `Disease`.
    definition (str | None): free text.
    alternate_ids (tuple[str, ...]): other identifiers of the concept (merged, retired).
    parents (tuple[str, ...]): identifiers of the concepts directly above it in the hierarchy.
    scopes (tuple[tuple[str, str], ...]): names with their scopes, one of `SCOPES` each, if the
        source gives them, e.g. `(("sugar sickness", "RELATED"),)`.
    parts (tuple[str, ...]): identifiers of the members of a gene family or complex, e.g.
        `NCBIGene:4790` of `FPLX:NFkappaB_1`.
    """

    concept_id: str
    canonical_name: str
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    definition: str | None = None
    alternate_ids: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    scopes: tuple[tuple[str, Scope], ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): the canonical name, then the aliases."""
        return (self.canonical_name, *self.aliases)

    def scope_of(self, name: str) -> str:
        """name (str): one of its names, in the original spelling.
        RETURNS (str): the scope, see `SCOPES`; empty if the source gives none."""
        return dict(self.scopes).get(name, "")

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


def nearest_scopes(pairs: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Scope], ...]:
    """pairs (Iterable[tuple[str, str]]): names and their scopes. RETURNS (tuple[tuple[str, str],
    ...]): distinct names with the closest of their scopes."""
    nearest: dict[str, Scope] = {}
    for name, scope in pairs:
        before = nearest.get(name, scope)
        nearest[name] = min(before, scope, key=SCOPES.index)
    return tuple(nearest.items())


def normalize_name(text: str) -> str:
    """Lower-case a name and replace its punctuation, as GenBioEL does (appendix E.1, step 2).

    text (str): a name, e.g. `Non-inherited (rare) form`.
    RETURNS (str): words separated by single spaces, e.g. `non inherited rare form`; may be empty.
    """
    return " ".join(_PUNCTUATION.sub(" ", text.lower()).split())
