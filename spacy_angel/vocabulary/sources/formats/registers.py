"""Registers in one table: CTD's diseases (MEDIC) and chemicals, HGNC, NCBI Gene, DrugBank."""

from collections.abc import Iterator
from pathlib import Path

from ....files.formats import Format
from .layout import Layout
from .lines import read_lines, read_rows, wrong
from .records import Concepts, VocabularyReport

_CTD_HEADS = ("DiseaseName\tDiseaseID\t", "ChemicalName\tChemicalID\t")
# The columns differ by year, those of synonyms among them.
_CTD = Layout(
    {
        "id": ("DiseaseID", "ChemicalID"),
        "name": ("DiseaseName", "ChemicalName"),
        "synonyms": ("Synonyms", "MESHSynonyms", "CTDCuratedSynonyms"),
        "definition": ("Definition",),
        "tree": ("TreeNumbers",),
        "alternates": ("AltDiseaseIDs", "AltChemicalIDs"),
        "parents": ("ParentIDs",),
    },
    prefix="MESH",
)
_HGNC = Layout(
    {
        "id": ("hgnc_id",),
        "name": ("symbol", "name"),
        "synonyms": ("alias_symbol", "prev_symbol", "alias_name", "prev_name"),
        "type": ("locus_group",),
        "alternates": ("entrez_id", "ensembl_gene_id"),
    },
    prefixes={"entrez_id": "NCBIGene", "ensembl_gene_id": "ENSEMBL"},
    distinct=True,
)
_DRUGBANK = Layout(
    {
        "id": ("DrugBank ID",),
        "name": ("Common name",),
        "synonyms": ("Synonyms",),
        "alternates": ("Accession Numbers", "CAS", "UNII"),
    },
    prefix="DRUGBANK",
    prefixes={"CAS": "CAS", "UNII": "UNII"},
    separator=" | ",
    distinct=True,
)
_GENES = Layout(
    {
        "id": ("GeneID",),
        "name": ("Symbol_from_nomenclature_authority", "Symbol"),
        "synonyms": (
            "Full_name_from_nomenclature_authority",
            "description",
            "Synonyms",
            "Other_designations",
        ),
        "type": ("tax_id", "type_of_gene"),
        "alternates": ("dbXrefs",),
    },
    prefix="NCBIGene",
    prefixes={"dbXrefs": ""},
    distinct=True,
)
# Stretches of a genome without a product, which no text names; a third of the human file.
_NO_GENES = "biological-region"
# OMIM's numbers may be those of a disease.
_SAME_GENE = {"HGNC": "HGNC:", "Ensembl": "ENSEMBL:", "MGI": "MGI:", "FLYBASE": "FLYBASE:"}


def read_ctd(path: Path, report: VocabularyReport) -> Concepts:
    """CTD_diseases.tsv (MEDIC) and CTD_chemicals.tsv of any year. Types are the letter and the
    branch of the tree numbers.

    path (Path): the file, gzipped or not.
    YIELDS (Concept): one for each line.
    RAISES (AngelError): no line with CTD's column names, or a row that does not fit them.
    """
    return _CTD.concepts(path, read_rows(path, (), lines=_ctd_lines(path)), report)


def _ctd_lines(path: Path) -> Iterator[str]:
    """The line of column names and the rows, with blank lines in the place of comments."""
    has_head = False
    for number, line in read_lines(path):
        if line.startswith("#"):
            head = line.lstrip("# ")
            is_head = head.startswith(_CTD_HEADS)
            has_head |= is_head
            yield head if is_head else ""
        elif has_head:
            yield line
        else:
            expected = "CTD's column names (`# DiseaseName` or `# ChemicalName` …) before the rows"
            raise wrong(path, number, expected, line)


def read_hgnc(path: Path, report: VocabularyReport) -> Concepts:
    """HGNC's complete set. The symbol is canonical; former and alias symbols and names follow;
    types are the locus group (`protein-coding gene`), further identifiers those of NCBI Gene and
    Ensembl.

    path (Path): hgnc_complete_set.txt, gzipped or not.
    YIELDS (Concept): one for each approved gene.
    RAISES (AngelError): the first line does not name the columns, or a line cannot be read.
    """
    needed = ("hgnc_id", "symbol", "name", "status", "alias_symbol", "alias_name")

    def approved() -> Iterator[tuple[int, dict[str, str]]]:
        for line, cells in read_rows(path, needed, quotes=True):
            if cells["status"] == "Approved":
                yield line, cells
            else:
                report.skipped["withdrawn entries"] += 1

    return _HGNC.concepts(path, approved(), report)


def read_drugbank(path: Path, report: VocabularyReport) -> Concepts:
    """DrugBank's open vocabulary. Former accession numbers, CAS and UNII are further identifiers.

    path (Path): `drugbank vocabulary.csv`, gzipped or not.
    YIELDS (Concept): one for each drug.
    RAISES (AngelError): the first line does not name the columns, or a line cannot be read.
    """
    needed = ("DrugBank ID", "Accession Numbers", "Common name", "Synonyms")
    return _DRUGBANK.concepts(path, read_rows(path, needed, ",", quotes=True), report)


def read_gene_info(
    path: Path,
    report: VocabularyReport,
    *,
    taxa: frozenset[int] | None = None,
    kinds: frozenset[str] | None = None,
    designations: bool = True,
) -> Concepts:
    """NCBI Gene's table `gene_info`. Types are the species (`NCBITaxon:9606`) and the kind of the
    gene (`protein-coding`); further identifiers are HGNC's, Ensembl's, MGI's and FlyBase's.

    path (Path): the file, gzipped or not, of one species or of all.
    taxa (frozenset[int] | None): species to take, as NCBI Taxonomy numbers them; None: all.
    kinds (frozenset[str] | None): kinds of genes to take; None: all but biological regions.
    designations (bool): take other names of its products (column `Other_designations`) as well,
        about half of all names.
    YIELDS (Concept): one for each line.
    RAISES (AngelError): the first line does not name the columns, or a line has not as many.
    """

    def genes() -> Iterator[tuple[int, dict[str, str]]]:
        needed = [column for columns in _GENES.columns.values() for column in columns]
        for line, row in read_rows(path, needed):
            cells = {column: "" if cell == "-" else cell for column, cell in row.items()}
            kind = cells["type_of_gene"]
            if taxa is not None and cells["tax_id"] not in map(str, taxa):
                continue
            if kind == _NO_GENES if kinds is None else kind not in kinds:
                report.skipped["genes of other kinds"] += 1
                continue
            if cells["Symbol"] == "NEWENTRY":
                report.skipped["placeholders of new genes"] += 1
                continue
            cells["tax_id"] = f"NCBITaxon:{cells['tax_id']}"
            cells["dbXrefs"] = "|".join(_same_genes(cells["dbXrefs"]))
            if not designations:
                cells["Other_designations"] = ""
            yield line, cells

    return _GENES.concepts(path, genes(), report)


def _same_genes(references: str) -> Iterator[str]:
    """`MIM:138670|HGNC:HGNC:5|Ensembl:ENSG1` → `HGNC:5`, `ENSEMBL:ENSG1`."""
    for reference in filter(None, references.split("|")):
        database, _, code = reference.partition(":")
        if prefix := _SAME_GENE.get(database):
            yield prefix + code.removeprefix(f"{database}:")


def _is_ctd(path: Path, head: str) -> bool:
    return any(f"\n# {name}" in f"\n{head}" for name in _CTD_HEADS)


CTD = Format("ctd.v1", read_ctd, _is_ctd)
HGNC = Format("hgnc.v1", read_hgnc, lambda path, head: head.startswith("hgnc_id\tsymbol\t"))
DRUGBANK = Format("drugbank.v1", read_drugbank, lambda path, head: head.startswith("DrugBank ID,"))
GENES = Format(
    "gene_info.v1", read_gene_info, lambda path, head: head.startswith("#tax_id\tGeneID\t")
)
