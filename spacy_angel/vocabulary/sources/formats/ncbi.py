"""NCBI's own files: genes (gene_info) and species (names.dmp, nodes.dmp, merged.dmp)."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from sys import intern

from ....errors import AngelError
from ....files.formats import Format
from .lines import read_lines, read_rows, wrong
from .records import Row, VocabularyReport, count_unused, make_row, successors

_GENE_COLUMNS = (
    *("tax_id", "GeneID", "Symbol", "Synonyms", "dbXrefs", "description", "type_of_gene"),
    *("Symbol_from_nomenclature_authority", "Full_name_from_nomenclature_authority"),
    "Other_designations",
)
# Stretches of a genome without a product, which no text names; a third of the human file.
_NO_GENES = "biological-region"
_SAME_GENE = {"HGNC": "HGNC:", "Ensembl": "ENSEMBL:", "MGI": "MGI:", "FLYBASE": "FLYBASE:"}
# In the order in which they serve as further names; authorities and type material are no names.
_NAME_CLASSES = (
    *("genbank common name", "common name", "blast name", "equivalent name"),
    *("synonym", "acronym", "includes"),
)
_SCIENTIFIC = "scientific name"


def read_gene_info(
    path: Path,
    report: VocabularyReport,
    *,
    taxa: frozenset[int] | None = None,
    kinds: frozenset[str] | None = None,
    designations: bool = True,
) -> Iterator[Row]:
    """NCBI Gene's table `gene_info`. Types are the species (`NCBITaxon:9606`) and the kind of the
    gene (`protein-coding`); further identifiers are HGNC's, Ensembl's, MGI's and FlyBase's.

    path (Path): the file, gzipped or not, of one species or of all.
    taxa (frozenset[int] | None): species to take, as NCBI Taxonomy numbers them; None: all.
    kinds (frozenset[str] | None): kinds of genes to take; None: all but biological regions.
    designations (bool): take other names of its products (column `Other_designations`) as well,
        about half of all names.
    YIELDS (Row): one a line.
    RAISES (AngelError): the first line does not name the columns, or a line has not as many.
    """
    for number, row in read_rows(path, _GENE_COLUMNS):
        cell = {name: "" if value == "-" else value for name, value in row.items()}
        if taxa is not None and cell["tax_id"] not in map(str, taxa):
            continue
        kind = cell["type_of_gene"]
        if kind == _NO_GENES if kinds is None else kind not in kinds:
            report.skipped["genes of other kinds"] += 1
            continue
        if cell["Symbol"] == "NEWENTRY":
            report.skipped["placeholders of new genes"] += 1
            continue
        symbol = cell["Symbol_from_nomenclature_authority"] or cell["Symbol"]
        names = (
            symbol,
            cell["Symbol"],
            cell["Full_name_from_nomenclature_authority"],
            cell["description"],
            *cell["Synonyms"].split("|"),
            *(cell["Other_designations"].split("|") if designations else ()),
        )
        yield make_row(
            path,
            number,
            f"NCBIGene:{cell['GeneID']}",
            dict.fromkeys(filter(None, names)),
            types=filter(None, (f"NCBITaxon:{cell['tax_id']}", cell["type_of_gene"])),
            alternate_ids=_same_genes(cell["dbXrefs"]),
        )


def _same_genes(references: str) -> Iterator[str]:
    """`MIM:138670|HGNC:HGNC:5|Ensembl:ENSG1` → `HGNC:5`, `ENSEMBL:ENSG1`. OMIM's numbers may be
    those of a disease."""
    for reference in filter(None, references.split("|")):
        database, _, code = reference.partition(":")
        if prefix := _SAME_GENE.get(database):
            yield prefix + code.removeprefix(f"{database}:")


def read_ncbi_taxonomy(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """NCBI Taxonomy's `names.dmp`, with ranks (types) and parents of `nodes.dmp`, and the numbers
    that were merged (`merged.dmp`) as further identifiers, where these files are beside it.

    path (Path): names.dmp, or the folder of the three.
    YIELDS (Row): one a taxon.
    RAISES (AngelError): a file is missing or not as described, or a taxon has no scientific name.
    """
    folder = path if path.is_dir() else path.parent
    names = folder / "names.dmp" if path.is_dir() else path
    if not names.is_file():
        hint = "Unpack taxdump.tar.gz there."
        raise AngelError(f"{path}: expected a folder with names.dmp. {hint}")
    # parent and rank
    nodes = {cells[0]: (cells[1], intern(cells[2])) for _, cells in _dmp(folder / "nodes.dmp", 5)}
    replaced_by = {cells[0]: [cells[1]] for _, cells in _dmp(folder / "merged.dmp", 2)}
    retired = successors(replaced_by, report)
    for taxon, lines in groupby(_dmp(names, 4), key=lambda entry: entry[1][0]):
        rows = list(lines)
        number = rows[0][0]
        by_class: dict[str, list[str]] = {}
        for _, (_, name, _, name_class, *_) in rows:
            by_class.setdefault(name_class, []).append(name)
        if _SCIENTIFIC not in by_class:
            raise wrong(names, number, f"a {_SCIENTIFIC} of taxon {taxon}", sorted(by_class))
        parent, rank = nodes.get(taxon, ("", ""))
        kept = (name for kind in (_SCIENTIFIC, *_NAME_CLASSES) for name in by_class.get(kind, ()))
        yield make_row(
            names,
            number,
            f"NCBITaxon:{taxon}",
            dict.fromkeys(kept),
            types=filter(None, [rank]),
            parents=[f"NCBITaxon:{parent}"] if parent and parent != taxon else (),
            alternate_ids=[f"NCBITaxon:{old}" for old in retired.pop(taxon, ())],
        )
    count_unused(retired, report)


def _dmp(path: Path, least: int) -> Iterator[tuple[int, list[str]]]:
    """Line and cells of a dump: `1\\t|\\troot\\t|\\t…\\t|`; nothing if there is no file."""
    if not path.is_file():
        return
    for number, line in read_lines(path):
        cells = [cell.strip() for cell in line.rstrip().removesuffix("|").split("|")]
        if len(cells) < least or not cells[0].isdecimal():
            raise wrong(path, number, f"at least {least} columns with | between them", line)
        yield number, cells


def _is_taxonomy(path: Path, head: str) -> bool:
    return any(path.glob("names.dmp")) or head.startswith("1\t|\tall\t|")


GENES = Format(
    "gene_info.v1", read_gene_info, lambda path, head: head.startswith("#tax_id\tGeneID\t")
)
TAXONOMY = Format("ncbi_taxonomy.v1", read_ncbi_taxonomy, _is_taxonomy)
