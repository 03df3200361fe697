"""Nomenclature databases that are single tables: CTD's diseases (MEDIC) and chemicals, HGNC, NCBI
Gene, DrugBank, ICD-10-CM, and MEDIC in the version of the NCBI-disease benchmark."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ....files.formats import Format, first_line
from .lines import read_lines, read_rows
from .records import (
    Concepts,
    VocabularyReport,
    make_concept,
    own_id,
    split_cell,
    tree_types,
    wrong,
)

_GENE_COLUMNS = (
    *("tax_id", "GeneID", "type_of_gene", "dbXrefs", "Symbol_from_nomenclature_authority"),
    *("Symbol", "Full_name_from_nomenclature_authority", "description", "Synonyms"),
    "Other_designations",
)
# Genomic regions without a product, which are never mentioned in texts; a third of the human file.
_NO_GENES = "biological-region"
# OMIM numbers may refer to a disease.
_SAME_GENE = {"HGNC": "HGNC:", "Ensembl": "ENSEMBL:", "MGI": "MGI:", "FLYBASE": "FLYBASE:"}
_CTD_HEAD = re.compile(r"^# (Disease|Chemical)Name\t\1ID\t", re.MULTILINE)
_MEDIC_LINE = re.compile(r"[^\t]*\|\|[^\t]*$")
_MEDIC_ID = re.compile(r"(?:OMIM:|MESH:)?(?:([CD]\d*)|(\d+))", re.ASCII)
# order number, code, 1 for a code and 0 for a header, short title up to column 77, long title
_ICD_LINE = re.compile(r"\d{5} ([A-Z]\w{2,6}) +([01]) (?=\S)")
_LONG_TITLE = 77


def read_ctd(path: Path, report: VocabularyReport) -> Concepts:
    """CTD_diseases.tsv (MEDIC) and CTD_chemicals.tsv of any year. Types are the letters and
    branches of the tree numbers.

    path (Path): the file, plain or gzip.
    YIELDS (Concept): one for each line.
    RAISES (ValueError): CTD's column names are missing, or a row has another number of columns.
    """
    for row in read_rows(path, report, ("Definition", "ParentIDs", "TreeNumbers")):
        kind = "Disease" if "DiseaseID" in row else "Chemical"
        if not {f"{kind}ID", f"{kind}Name"} <= row.keys():
            raise wrong(f"the columns {kind}ID and {kind}Name", ", ".join(row))
        # The columns differ by year, those of synonyms among them.
        synonyms = _values(row, "Synonyms", "MESHSynonyms", "CTDCuratedSynonyms")
        yield make_concept(
            own_id(row[f"{kind}ID"], "MESH"),
            [row[f"{kind}Name"], *synonyms],
            types=tree_types(_values(row, "TreeNumbers")),
            definition=row["Definition"],
            alternate_ids=_ids(row, {f"Alt{kind}IDs": "MESH"}),
            parents=_ids(row, {"ParentIDs": "MESH"}),
        )


def read_medic(path: Path, report: VocabularyReport) -> Concepts:
    """MEDIC of 2012, `id|alternate ids||name|synonyms`. Numeric identifiers are OMIM's, the others
    MeSH's; the root `C||Diseases` is a concept like the others. All concepts have the type `C`,
    MeSH's branch of diseases.

    path (Path): the file, plain or gzip.
    YIELDS (Concept): one for each line.
    RAISES (ValueError): a line has no `||`, or an identifier of another form.
    """
    for line in filter(str.strip, read_lines(path, report)):
        head, bars, names = line.partition("||")
        if not bars:
            raise wrong("`id|alternate ids||name|synonyms`", line)
        own, *others = map(_medic_id, head.split("|"))
        yield make_concept(own, split_cell(names), types=["C"], alternate_ids=others)


def _medic_id(code: str) -> str:
    match = _MEDIC_ID.fullmatch(code)
    if match is None:
        raise wrong("an identifier of OMIM (digits) or MeSH (`C…`, `D…`)", code)
    return f"MESH:{match[1]}" if match[1] else f"OMIM:{match[2]}"


def read_icd10cm(path: Path, report: VocabularyReport) -> Concepts:
    """ICD-10-CM's order file (`icd10cm_order_2026.txt`), with columns of fixed width. The long
    title is the canonical name, and the short title an alias if it differs. Types are `code` or
    `header`; the parent of a code is the longest code that is a prefix of it.

    path (Path): the file, plain or gzip.
    YIELDS (Concept): one for each code, with its dot: `ICD10CM:A00.0`; including headings (`A00`
        Cholera).
    RAISES (ValueError): a line has another layout.
    """
    known: set[str] = set()
    for line in filter(str.strip, read_lines(path, report)):
        match = _ICD_LINE.match(line)
        if match is None:
            raise wrong("order number, code, 0 or 1, short and long title", line)
        code, flag = match.groups()
        above = [code[:n] for n in range(len(code) - 1, 2, -1) if code[:n] in known]
        known.add(code)
        titles = line[_LONG_TITLE:].strip(), line[match.end() : _LONG_TITLE].strip()
        yield make_concept(
            _icd_id(code),
            dict.fromkeys(titles),
            types=["code" if flag == "1" else "header"],
            parents=map(_icd_id, above[:1]),
        )


def _icd_id(code: str) -> str:
    return f"ICD10CM:{code[:3]}.{code[3:]}" if len(code) > 3 else f"ICD10CM:{code}"


def read_hgnc(path: Path, report: VocabularyReport) -> Concepts:
    """HGNC's complete set. The symbol is the canonical name, followed by former and alias symbols
    and names. Types are the locus group (`protein-coding gene`); alternate identifiers are those of
    NCBI Gene and Ensembl.

    path (Path): hgnc_complete_set.txt, plain or gzip.
    YIELDS (Concept): one for each approved gene.
    RAISES (ValueError): the column names are missing, or a line cannot be read.
    """
    needed = ("hgnc_id", "symbol", "name", "status", "alias_symbol", "alias_name")
    for row in read_rows(path, report, needed, quotes=True):
        if row["status"] != "Approved":
            report.skipped["withdrawn entries"] += 1
            continue
        aliases = _values(row, "alias_symbol", "prev_symbol", "alias_name", "prev_name")
        yield make_concept(
            row["hgnc_id"],
            dict.fromkeys([row["symbol"], row["name"], *aliases]),
            types=[row.get("locus_group", "")],
            alternate_ids=_ids(row, {"entrez_id": "NCBIGene", "ensembl_gene_id": "ENSEMBL"}),
        )


def read_drugbank(path: Path, report: VocabularyReport) -> Concepts:
    """DrugBank's open vocabulary. Former accession numbers, CAS, and UNII are alternate
    identifiers.

    path (Path): `drugbank vocabulary.csv`, plain or gzip.
    YIELDS (Concept): one for each drug.
    RAISES (ValueError): the column names are missing, or a line cannot be read.
    """
    needed = ("DrugBank ID", "Accession Numbers", "Common name", "Synonyms")
    prefixes = {"Accession Numbers": "DRUGBANK", "CAS": "CAS", "UNII": "UNII"}
    for row in read_rows(path, report, needed, ",", quotes=True):
        yield make_concept(
            f"DRUGBANK:{row['DrugBank ID']}",
            dict.fromkeys([row["Common name"], *_values(row, "Synonyms")]),
            alternate_ids=_ids(row, prefixes),
        )


def read_gene_info(
    path: Path,
    report: VocabularyReport,
    *,
    taxa: frozenset[int] | None = None,
    kinds: frozenset[str] | None = None,
    designations: bool = True,
) -> Concepts:
    """NCBI Gene's table `gene_info`. Types are the species (`NCBITaxon:9606`) and the kind of the
    gene (`protein-coding`); alternate identifiers are those of HGNC, Ensembl, MGI, and FlyBase.

    path (Path): the file, plain or gzip, of one or all species.
    taxa (frozenset[int] | None): species to include, as numbers of NCBI Taxonomy; None: all.
    kinds (frozenset[str] | None): kinds of genes to include; None: all except biological regions.
    designations (bool): also include other names of the gene's products (column
        `Other_designations`), about half of all names.
    YIELDS (Concept): one for each line.
    RAISES (ValueError): the column names are missing, or a line has another number of columns.
    """
    for row in read_rows(path, report, _GENE_COLUMNS):
        cells = ("" if row[column] == "-" else row[column] for column in _GENE_COLUMNS)
        taxon, code, kind, references, *names, synonyms, others = cells
        if taxa is not None and int(taxon) not in taxa:
            continue
        if kind == _NO_GENES if kinds is None else kind not in kinds:
            report.skipped["genes of other kinds"] += 1
        elif row["Symbol"] == "NEWENTRY":
            report.skipped["placeholders of new genes"] += 1
        else:
            names += [*synonyms.split("|"), *(others.split("|") if designations else ())]
            yield make_concept(
                f"NCBIGene:{code}",
                dict.fromkeys(filter(None, names)),
                types=[f"NCBITaxon:{taxon}", kind],
                alternate_ids=_same_genes(references),
            )


def _same_genes(references: str) -> Iterator[str]:
    """`MIM:138670|HGNC:HGNC:5|Ensembl:ENSG1` → `HGNC:5`, `ENSEMBL:ENSG1`."""
    for reference in filter(None, references.split("|")):
        database, _, code = reference.partition(":")
        if prefix := _SAME_GENE.get(database):
            yield prefix + code.removeprefix(f"{database}:")


def _values(row: Mapping[str, str], *columns: str) -> list[str]:
    return [value for column in columns for value in split_cell(row.get(column, ""))]


def _ids(row: Mapping[str, str], prefixes: Mapping[str, str]) -> list[str]:
    """Identifiers in several columns, with the prefix of each column."""
    return [own_id(code, prefixes[column]) for column in prefixes for code in _values(row, column)]


CTD = Format("ctd.v1", read_ctd, lambda path, head: _CTD_HEAD.search(head) is not None)
MEDIC = Format(
    "medic.v1", read_medic, lambda path, head: _MEDIC_LINE.match(first_line(head)) is not None
)
ICD10CM = Format("icd10cm.v1", read_icd10cm, lambda path, head: _ICD_LINE.match(head) is not None)
HGNC = Format("hgnc.v1", read_hgnc, lambda path, head: head.startswith("hgnc_id\tsymbol\t"))
DRUGBANK = Format("drugbank.v1", read_drugbank, lambda path, head: head.startswith("DrugBank ID,"))
GENES = Format(
    "gene_info.v1", read_gene_info, lambda path, head: head.startswith("#tax_id\tGeneID\t")
)
