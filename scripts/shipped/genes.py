"""Genes and gene families of `en_angel_bio`: ten species, limited to what texts mention.

A gene has its symbol, its full name, and further names of up to three words (two for human and
mouse genes that no text mentions); human and mouse genes also have the names of their products.
Longer names and names of clones (`AW060991`) are included if a text has them. Human and mouse genes
with the same symbol share their names; genes of other species with this symbol get those that texts
have. Genes of worm, thale cress, chicken, and fission yeast, and numbered loci (`LOC100130370`,
`Gm5907`, `CG13283`, `si:dkey-11f4.16`), are included if a text has one of their names.
"""

import csv
import gzip
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path

from mesh import rows

from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.names.taxa import HUMAN, PREFIX
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary
from spacy_angel.vocabulary.species.reader import may_share_symbols

# File → taxon, and kinds of genes to include besides protein-coding ones.
GENE_INFO = {
    "vocab/gene/Homo_sapiens.gene_info.gz": ("9606", "ncRNA", "other"),
    "vocab/gene/Mus_musculus.gene_info.gz": ("10090", "ncRNA", "other"),
    "vocab/gene/Danio_rerio.gene_info.gz": ("7955",),
    "vocab/gene/Drosophila_melanogaster.gene_info.gz": ("7227", "ncRNA"),
}
TABLES = {
    "more/vocab/ncbi_gene_Rattus_norvegicus_rgd_homologene.tsv.gz": "10116",
    "more/vocab/ncbi_gene_Saccharomyces_cerevisiae.tsv.gz": "4932",
}
SYMBOLS = "more/vocab/homologene_updated_symbols.tsv.gz"
BY_SYMBOL = ("6239", "3702", "9031", "4896")
_BY_SYMBOL = frozenset(PREFIX + taxon for taxon in BY_SYMBOL)
# Longer names are included only if texts have them.
_MOST_WORDS = 3
_MOST_OF_UNTOLD = 2
FAMILIES = "vocab/gene/famplex_entities.csv.gz"
FAMILY_NAMES = "vocab/gene/famplex_grounding_map.csv.gz"
MEMBERS = "vocab/gene/famplex_relations.csv.gz"
NAMES = Path(__file__).with_name("gene_names.tsv")
NAMESAKES = Path(__file__).with_name("gene_namesakes.tsv")
GENE, FAMILY = "Gene", "Gene family"
_WHOLE = frozenset({HUMAN, f"{PREFIX}10090"})
_LOCUS = re.compile(
    r"(LOC|RGD|MGC|Gm)\d+|\w+Rik\d*"
    # zebrafish: clones and models
    r"|(zgc|si|im|wu|hm|id|zmp):\S+|cb\d+|f[a-k]\d\d[a-p]\d\d"
    # fruit fly, and yeast
    r"|(Dmel_|Dmel\\)\S+|(\w+RNA:)?C[GR]\d+(-P\w)?|Y[A-P][LR]\d{3}[CW](-\w)?"
)
# Sequences and segments of the mouse genome by which a gene was once known.
_CLONE = re.compile(
    r"(A[AILUVW]|B[BCEFGM]|C|N|R|T|W)\d{5,6}|D[\dXY]+[A-Z][a-z]{2}[a-z\d]*|\w+Rik\d*"
    r"|(OTTMUSG|ENSMUSG|EG|Gm|LOC|mKIAA|mCG_?|MGC:?|ESTM)\d+|RP\d+-\S+"
)
# Uninformative names, shared by thousands of products.
_EMPTY = re.compile(
    r"(uncharacterized|putative|predicted|probable|novel|microrna|alternative protein)\b.*", re.I
)
# Rows of the yeast table that are not genes.
_NO_GENE = "NEWENTRY"


def listed(data: Path) -> list[Concept]:
    """data (Path): folder of the vocabularies. RETURNS (list[Concept]): all genes, human ones
    first, with the names in their registers; one of the types is the species."""
    return [*without_namesakes(_of_species(data))]


def without_namesakes(own: Iterable[Concept]) -> Iterator[Concept]:
    """own (Iterable[Concept]): genes of all species. YIELDS (Concept): the genes without names that
    texts use for another gene (`protein C` is PROC, not PRH1) or for no gene (`MRI` is a scan, not
    CYREN), except symbols and full names."""
    lost: dict[str, set[str]] = defaultdict(set)
    with NAMESAKES.open(encoding="utf8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            for symbol in row["others"].split("|"):
                lost[symbol].add(normalize_name(row["name"]))
    for gene in own:
        losing = lost[gene.canonical_name.upper()]
        kept = (name for name in gene.aliases[1:] if normalize_name(name) not in losing)
        yield replace(gene, aliases=(*gene.aliases[:1], *kept))


def chosen(own: Sequence[Concept], told: Set[str]) -> Iterator[Concept]:
    """own (Sequence[Concept]): result of `listed`. told (Set[str]): names in normal form that texts
    have. YIELDS (Concept): the genes to ship, with `Gene` as first type."""
    kept = {*told, *map(normalize_name, chain.from_iterable(_proteins().values()))}
    of_whole = (_without_rare(g, kept) for g in own if species_of(g) in _WHOLE)
    whole = [*with_names_of_the_same_symbol(of_whole)]
    others = [gene for gene in own if species_of(gene) not in _WHOLE]
    named = islice(with_names_of_the_same_symbol([*whole, *others]), len(whole), None)
    fewer = (_fewer(gene, as_listed, told) for gene, as_listed in zip(named, others, strict=True))
    for gene in chain(whole, fewer):
        is_rare = _LOCUS.fullmatch(gene.canonical_name) or species_of(gene) in _BY_SYMBOL
        if not is_rare or not told.isdisjoint(map(normalize_name, gene.names)):
            yield replace(gene, types=(GENE, *gene.types))


def with_names_of_the_same_symbol(genes: Iterable[Concept]) -> Iterator[Concept]:
    """Add the names of its orthologs to each gene.

    NCBI Gene lists `separase` for the mouse gene Espl1, but not for the human gene ESPL1. The
    document then determines which gene is meant.

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


def _without_rare(gene: Concept, kept: Set[str]) -> Concept:
    """Keep the symbol, the full name, short names that are not clones, and the names in `kept`."""

    is_untold = kept.isdisjoint(map(normalize_name, gene.names))
    most = _MOST_OF_UNTOLD if is_untold else _MOST_WORDS

    def stays(name: str) -> bool:
        normal = normalize_name(name)
        is_short = len(normal.split()) <= most and not _CLONE.fullmatch(name)
        return normal in kept or (is_short and not _EMPTY.match(name))

    full, others = gene.aliases[:1], gene.aliases[1:]
    return replace(gene, aliases=(*full, *filter(stays, others)))


def _fewer(gene: Concept, as_listed: Concept, told: Set[str]) -> Concept:
    """Keep the gene's own short names, and other names that texts have, without duplicates."""
    kept = {normalize_name(gene.canonical_name): gene.canonical_name}
    for name in gene.aliases:
        normal = normalize_name(name)
        is_short = name in as_listed.aliases and len(normal.split()) <= _MOST_WORDS
        if normal and (is_short or normal in told):
            kept.setdefault(normal, name)
    return replace(gene, aliases=tuple(kept.values())[1:])


def species_of(gene: Concept) -> str:
    """gene (Concept): a gene. RETURNS (str): its taxon."""
    return next(name for name in gene.types if name.startswith(PREFIX))


def families(data: Path, human: Iterable[Concept]) -> Iterator[Concept]:
    """Read the families and complexes of FamPlex, without names that several families have.

    data (Path): folder of the vocabularies. human (Iterable[Concept]): human genes.
    YIELDS (Concept): a family with its genes and subfamilies as parts.
    """
    by_symbol = {gene.canonical_name: gene.concept_id for gene in human}
    names: dict[str, dict[str, None]] = defaultdict(dict)
    owners: dict[str, set[str]] = defaultdict(set)
    for row in _comma_separated(data / FAMILY_NAMES):
        for register, code in zip(row[1::2], row[2::2], strict=False):
            if register == "FPLX":
                names[code][row[0]] = None
                owners[normalize_name(row[0])].add(code)
    parts: dict[str, dict[str, None]] = defaultdict(dict)
    for register, code, _, _, whole in _comma_separated(data / MEMBERS):
        part = f"FPLX:{code}" if register == "FPLX" else by_symbol.get(code)
        if part is not None:
            parts[whole][part] = None
    for (code,) in _comma_separated(data / FAMILIES):
        alone = (name for name in names[code] if owners[normalize_name(name)] == {code})
        aliases = {normalize_name(name): name for name in (*reversed([*alone]), code)}
        aliases.pop(normalize_name(code))
        kinds, members = (GENE, FAMILY), tuple(parts[code])
        yield Concept(f"FPLX:{code}", code, tuple(aliases.values())[::-1], kinds, parts=members)


def _proteins() -> dict[str, tuple[str, ...]]:
    """RETURNS (dict[str, tuple[str, ...]]): symbol → names of the gene's protein in texts."""
    with NAMES.open(encoding="utf8", newline="") as file:
        rows_ = csv.DictReader(file, delimiter="\t")
        return {row["symbol"]: tuple(row["names"].split("|")) for row in rows_}


def _of_species(data: Path) -> Iterator[Concept]:
    proteins = _proteins()
    for path, (taxon, *further) in GENE_INFO.items():
        taxa, kinds = frozenset({int(taxon)}), frozenset({"protein-coding", *further})
        is_whole = PREFIX + taxon in _WHOLE
        for gene in read_vocabulary(data / path, taxa=taxa, kinds=kinds, designations=is_whole):
            if is_whole:
                more = proteins.get(gene.canonical_name, ())
                yield replace(gene, aliases=(*gene.aliases, *more))
            else:
                names = tuple(n for n in gene.aliases if not _is_code(n))
                # The identifiers of other registers would take a megabyte.
                yield replace(gene, aliases=names, alternate_ids=())
    for path, taxon in TABLES.items():
        for code, symbol, *synonyms in rows(data / path):
            if symbol != _NO_GENE:
                yield _gene(code, symbol, taxon, [n for cell in synonyms for n in cell.split("|")])
    for code, symbol, taxon, _ in rows(data / SYMBOLS):
        if taxon in BY_SYMBOL:
            yield _gene(code, symbol, taxon, [])


def _gene(code: str, symbol: str, taxon: str, synonyms: Iterable[str]) -> Concept:
    aliases = tuple(name for name in synonyms if name and not _is_code(name))
    return Concept(f"NCBIGene:{code}", symbol, aliases, (PREFIX + taxon,))


def _is_code(name: str) -> bool:
    """Whether a name only numbers a locus (`zgc:65942`), except in yeast, whose loci texts name."""
    return _LOCUS.fullmatch(name) is not None and not re.match(r"Y[A-P][LR]|CG\d", name)


def _comma_separated(path: Path) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf8", newline="") as file:
        yield from csv.reader(file)
