"""What a vocabulary is made of: concepts, their names in normal form, their identifiers."""

import re
from dataclasses import dataclass

_PUNCTUATION = re.compile(r"[,.;{}\[\]()+\-_*/?!`\"'=%><]")


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept of a vocabulary; the fields are scispaCy's, and three more.

    concept_id (str): the code with its vocabulary, e.g. `MESH:D003920`.
    canonical_name (str): the preferred name, in its original spelling.
    aliases (tuple[str, ...]): the other names, in their original spelling.
    types (tuple[str, ...]): semantic types, e.g. `T047` or `Disease`.
    definition (str | None): free text.
    alternate_ids (tuple[str, ...]): further identifiers of the same concept (merged, retired).
    tree_numbers (tuple[str, ...]): where it stands in MeSH's trees, e.g. `C04.557.337`.
    parts (tuple[str, ...]): identifiers of its members, where it is a family of genes or a complex,
        e.g. `NCBIGene:4790` of `FPLX:NFkappaB_1`.
    """

    concept_id: str
    canonical_name: str
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    definition: str | None = None
    alternate_ids: tuple[str, ...] = ()
    tree_numbers: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): the canonical name, then the aliases."""
        return (self.canonical_name, *self.aliases)


def normalize_name(text: str) -> str:
    """Lower-case a name and blank its punctuation, as GenBioEL does (appendix E.1, step 2).

    text (str): a name, e.g. `Non-inherited (rare) form`.
    RETURNS (str): words with one blank between, e.g. `non inherited rare form`; may be empty.
    """
    return " ".join(_PUNCTUATION.sub(" ", text.lower()).split())
