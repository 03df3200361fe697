"""Adds the names of orthologs, which are genes of other species with the same symbol."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..names.concepts import Concept
from ..names.taxa import PREFIX, is_taxon

# Vertebrates, whose symbols follow the human ones; in other species a symbol can be another gene:
# `Trh` is a tryptophan hydroxylase in flies, TRH a human hormone.
_VERTEBRATES = frozenset(
    f"{PREFIX}{number}"
    for number in (9606, 10090, 10116, 7955, 9031, 8355, 8364, 9913, 9823, 9615, 9544, 9598)
)


def may_share_symbols(types: Iterable[str]) -> bool:
    """types (Iterable[str]): types of a concept. RETURNS (bool): whether it is a gene of a
    vertebrate or has no species, so that a vertebrate gene with the same symbol is its ortholog."""
    taxa = [name for name in types if is_taxon(name)]
    return not taxa or not _VERTEBRATES.isdisjoint(taxa)


def with_names_of_the_same_symbol(genes: Iterable[Concept]) -> Iterator[Concept]:
    """Add the names of its orthologs to each gene.

    NCBI Gene lists `separase` for the mouse gene Espl1, but not for the human gene ESPL1. The
    document then determines which gene is meant (`ConceptKB.build(by_species=True)`).

    genes (Iterable[Concept]): genes of all species, which are held in memory. The symbol of a gene
        is its canonical name; case is ignored.
    YIELDS (Concept): each gene, in the given order. Vertebrate genes, whose symbols follow the
        human ones, also get the names of all vertebrate genes with the same symbol, after their
        own.
    """
    all_genes = list(genes)
    names: dict[str, dict[str, None]] = {}
    for gene in all_genes:
        if may_share_symbols(gene.types):
            symbol = gene.canonical_name.lower()
            names.setdefault(symbol, {}).update(dict.fromkeys(gene.names))
    for gene in all_genes:
        if may_share_symbols(gene.types):
            own = dict.fromkeys((*gene.aliases, *names[gene.canonical_name.lower()]))
            own.pop(gene.canonical_name, None)
            gene = replace(gene, aliases=tuple(own))
        yield gene
