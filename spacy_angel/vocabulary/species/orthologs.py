"""Genes of several species that have one symbol: what one is called, texts call the others."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..names.concepts import Concept
from ..names.taxa import PREFIX, is_taxon

# Symbols of other species are of their own: the fly's `Trh` is a tryptophan hydroxylase, the man's
# TRH a hormone.
_LIKE_MAN = frozenset(
    f"{PREFIX}{number}"
    for number in (9606, 10090, 10116, 7955, 9031, 8355, 8364, 9913, 9823, 9615, 9544, 9598)
)


def may_share_symbols(types: Iterable[str]) -> bool:
    """types (Iterable[str]): of a concept. RETURNS (bool): whether it is of a vertebrate, or of no
    species, so that a gene of another vertebrate with its symbol is the same gene."""
    taxa = [name for name in types if is_taxon(name)]
    return not taxa or not _LIKE_MAN.isdisjoint(taxa)


def with_names_of_the_same_symbol(genes: Iterable[Concept]) -> Iterator[Concept]:
    """Give each gene the names that its orthologs have in addition.

    NCBI Gene lists `separase` for the mouse's Espl1, and not for the man's ESPL1. Which gene a name
    then means is for the suffixes and for what the document says of its species
    (`ConceptKB.build(suffixes="species")`).

    genes (Iterable[Concept]): of all species together; held in memory. A gene's symbol is its
        canonical name; case does not count.
    YIELDS (Concept): each gene, in the order given, with the names of all genes of its symbol
        behind its own, where both are of vertebrates, whose symbols follow man's.
    """
    held = list(genes)
    names: dict[str, dict[str, None]] = {}
    for gene in held:
        if not may_share_symbols(gene.types):
            continue
        names.setdefault(gene.canonical_name.lower(), {}).update(dict.fromkeys(gene.names))
    for gene in held:
        if not may_share_symbols(gene.types):
            yield gene
            continue
        own = dict.fromkeys((*gene.aliases, *names[gene.canonical_name.lower()]))
        own.pop(gene.canonical_name, None)
        yield replace(gene, aliases=tuple(own))
