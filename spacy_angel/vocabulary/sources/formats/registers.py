"""Registers in one table: HGNC's genes, DrugBank's open vocabulary, ICD-10-CM, RxNorm."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from ....files.formats import Format, first_line
from ...names.concepts import normalize_name
from .lines import read_lines, read_rows, wrong
from .records import Row, VocabularyReport, make_row

_HGNC_COLUMNS = ("hgnc_id", "symbol", "name", "status", "alias_symbol", "alias_name")
_DRUGBANK_COLUMNS = ("DrugBank ID", "Accession Numbers", "Common name", "Synonyms")
_ICD10CM_CODE = re.compile(r"[A-Z]\w{2,6}")
_ICD10CM_LINE = re.compile(r"\d{5} [A-Z]\w{2,6} +[01] \S")
_RXNORM_LINE = re.compile(r"\d+\|[A-Z]{3}\|([^|]*\|){16}$")
_RXNORM_COLUMNS = 18
# RxNorm's kinds of names, the better canonical one first: ingredients, brands, drugs with their
# strength, packages; then what only gives further names.
_RXNORM_KINDS = ("IN", "PIN", "MIN", "BN", "SCDC", "SCD", "SBD", "GPCK", "BPCK")
_RXNORM_ORDER = (*_RXNORM_KINDS, "PSN", "SY", "TMSY")


def read_hgnc(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """HGNC's complete set. The symbol is canonical; former and alias symbols and names follow;
    types are the locus group (`protein-coding gene`), further identifiers those of NCBI Gene and
    Ensembl.

    path (Path): hgnc_complete_set.txt, gzipped or not.
    YIELDS (Row): one an approved gene.
    RAISES (AngelError): the first line does not name the columns, or a line cannot be read.
    """
    for number, cell in read_rows(path, _HGNC_COLUMNS, quotes=True):
        if cell["status"] != "Approved":
            report.skipped["withdrawn entries"] += 1
            continue
        lists = ("alias_symbol", "prev_symbol", "alias_name", "prev_name")
        names = [cell["symbol"], cell["name"]]
        names += [name for column in lists for name in cell.get(column, "").split("|")]
        same = {"NCBIGene": "entrez_id", "ENSEMBL": "ensembl_gene_id"}
        yield make_row(
            path,
            number,
            cell["hgnc_id"],
            dict.fromkeys(filter(None, names)),
            types=filter(None, [cell.get("locus_group")]),
            alternate_ids=[f"{prefix}:{cell[c]}" for prefix, c in same.items() if cell.get(c)],
        )


def read_drugbank(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """DrugBank's open vocabulary. Former accession numbers, CAS and UNII are further identifiers.

    path (Path): `drugbank vocabulary.csv`, gzipped or not.
    YIELDS (Row): one a drug.
    RAISES (AngelError): the first line does not name the columns, or a line cannot be read.
    """
    for number, cell in read_rows(path, _DRUGBANK_COLUMNS, ",", quotes=True):
        own = f"DRUGBANK:{cell['DrugBank ID']}"
        others = [f"DRUGBANK:{code}" for code in _parts(cell["Accession Numbers"])]
        others += [f"{p}:{cell[p]}" for p in ("CAS", "UNII") if cell.get(p)]
        names = [cell["Common name"], *_parts(cell["Synonyms"])]
        yield make_row(path, number, own, dict.fromkeys(names), alternate_ids=others)


def read_icd10cm(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """ICD-10-CM's file in order (`icd10cm_order_2026.txt`): columns of fixed width. The long title
    is canonical, the short one, where it is another, an alias; types are `code` or `header`; the
    parent of a code is the longest one that it continues.

    path (Path): the file, gzipped or not.
    YIELDS (Row): one a code, with its dot: `ICD10CM:A00.0`; headings (`A00` Cholera) as well.
    RAISES (AngelError): a line of another layout.
    """
    known: set[str] = set()
    for number, line in read_lines(path):
        if not line.strip():
            continue
        code, flag = line[6:14].strip(), line[14:15]
        short, long = line[16:77].strip(), line[77:].strip()
        if not (line[:5].isdecimal() and _ICD10CM_CODE.fullmatch(code) and flag in "01"):
            raise wrong(path, number, "order number, code, 0 or 1, short and long title", line)
        above = next((code[:n] for n in range(len(code) - 1, 2, -1) if code[:n] in known), "")
        known.add(code)
        yield make_row(
            path,
            number,
            _dotted(code),
            dict.fromkeys(filter(None, (long, short))),
            types=["code" if flag == "1" else "header"],
            parents=[_dotted(above)] if above else (),
        )


def _dotted(code: str) -> str:
    return f"ICD10CM:{code[:3]}{'.' if len(code) > 3 else ''}{code[3:]}"


def read_rxnorm(path: Path, report: VocabularyReport) -> Iterator[Row]:
    """RxNorm's RXNCONSO.RRF: ingredients, brands, clinical and branded drugs. Types are the term
    types of the names by RxNorm itself (`IN`, `BN`, `SCD`, …); names of other sources are aliases.

    path (Path): RXNCONSO.RRF, gzipped or not, or the folder that holds it.
    YIELDS (Row): one a concept.
    RAISES (AngelError): a line of other than 18 columns, or a concept in two places.
    """
    file = path / "RXNCONSO.RRF" if path.is_dir() else path
    for rxcui, lines in groupby(_rxnorm_lines(file, report), key=lambda entry: entry[1][0]):
        atoms = list(lines)
        own = [cells for _, cells in atoms if cells[11] == "RXNORM"]
        own.sort(key=lambda cells: _rank(cells[12]))
        kinds = list(dict.fromkeys(c[12] for c in own if c[12] in _RXNORM_KINDS))
        if not kinds:
            report.skipped["concepts without a name of RxNorm's own"] += 1
            continue
        names: dict[str, str] = {}
        for cells in (*own, *(cells for _, cells in atoms if cells[11] != "RXNORM")):
            names.setdefault(normalize_name(cells[14]), cells[14])
        yield make_row(file, atoms[0][0], f"RXNORM:{rxcui}", names.values(), types=kinds)


def _rank(term_type: str) -> int:
    return _RXNORM_ORDER.index(term_type) if term_type in _RXNORM_ORDER else len(_RXNORM_ORDER)


def _rxnorm_lines(path: Path, report: VocabularyReport) -> Iterator[tuple[int, list[str]]]:
    for number, line in read_lines(path):
        cells = line.split("|")
        if len(cells) != _RXNORM_COLUMNS + 1:
            raise wrong(path, number, f"{_RXNORM_COLUMNS} columns, each closed by |", line)
        if cells[1] == "ENG" and cells[16] in ("N", ""):
            yield number, cells
        else:
            report.skipped["suppressed names"] += 1


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(" | ") if part.strip()]


def _is_rxnorm(path: Path, head: str) -> bool:
    return any(path.glob("RXNCONSO.RRF")) or _RXNORM_LINE.match(first_line(head)) is not None


HGNC = Format("hgnc.v1", read_hgnc, lambda path, head: head.startswith("hgnc_id\tsymbol\t"))
DRUGBANK = Format("drugbank.v1", read_drugbank, lambda path, head: head.startswith("DrugBank ID,"))
ICD10CM = Format(
    "icd10cm.v1", read_icd10cm, lambda path, head: _ICD10CM_LINE.match(head) is not None
)
RXNORM = Format("rxnorm.v1", read_rxnorm, _is_rxnorm)
