"""Genes of several species that have one symbol: what one is called, texts call the others."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from .concepts import Concept


def with_names_of_the_same_symbol(genes: Iterable[Concept]) -> Iterator[Concept]:
    """Give each gene the names that its orthologs have in addition.

    NCBI Gene lists `separase` for the mouse's Espl1, and not for the man's ESPL1. Which gene a name
    then means is for the endings and for what the document says of its species
    (`ConceptKB.build(endings="species")`).

    genes (Iterable[Concept]): of all species together; held in memory. A gene's symbol is its
        canonical name; case does not count.
    YIELDS (Concept): each gene, in the order given, with the names of all genes of its symbol
        behind its own.
    """
    held = list(genes)
    names: dict[str, dict[str, None]] = {}
    for gene in held:
        names.setdefault(gene.canonical_name.lower(), {}).update(dict.fromkeys(gene.names))
    for gene in held:
        own = dict.fromkeys((*gene.aliases, *names[gene.canonical_name.lower()]))
        own.pop(gene.canonical_name, None)
        yield replace(gene, aliases=tuple(own))
