"""Readers of vocabularies: every format gives `Concept`s, in a stream.

A reader takes the path, a report that it fills and its options, and yields rows; it is registered
under a versioned name, so that a new version can stand beside an old one.
"""

import codecs
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...errors import AngelError, Errors
from ...files.options import checked_options
from ...files.reading import pieces
from ..concepts import Concept
from .cellosaurus import read_cellosaurus
from .genbioel import read_target_kb
from .mesh import read_mesh_xml
from .ncbi import read_gene_info, read_ncbi_taxonomy
from .obo import read_obo
from .orphadata import read_orphadata
from .records import Row, VocabularyReport, merge_rows
from .registers import read_drugbank, read_hgnc, read_icd10cm, read_rxnorm
from .scispacy import read_scispacy
from .snomed import read_snomed
from .tables import read_ctd, read_medic, read_table
from .umls import ST21PV_SOURCES, ST21PV_TYPES, read_umls, read_umls_st21pv

__all__ = [
    "FORMATS",
    "ST21PV_SOURCES",
    "ST21PV_TYPES",
    "VocabularyReport",
    "infer_format",
    "read_vocabulary",
]

FORMATS: dict[str, Callable[..., Iterator[Row]]] = {
    "cellosaurus.v1": read_cellosaurus,
    "ctd.v1": read_ctd,
    "drugbank.v1": read_drugbank,
    "gene_info.v1": read_gene_info,
    "hgnc.v1": read_hgnc,
    "icd10cm.v1": read_icd10cm,
    "medic.v1": read_medic,
    "mesh_xml.v1": read_mesh_xml,
    "ncbi_taxonomy.v1": read_ncbi_taxonomy,
    "obo.v1": read_obo,
    "orphadata.v1": read_orphadata,
    "rxnorm.v1": read_rxnorm,
    "scispacy.v1": read_scispacy,
    "snomed.v1": read_snomed,
    "table.v1": read_table,
    "target_kb.v1": read_target_kb,
    "umls.v1": read_umls,
    "umls_st21pv.v1": read_umls_st21pv,
}
_FIRST_LINES = {
    "#tax_id\tGeneID\t": "gene_info.v1",
    "hgnc_id\tsymbol\t": "hgnc.v1",
    "DrugBank ID,": "drugbank.v1",
    "1\t|\tall\t|": "ncbi_taxonomy.v1",
}
_LINES = {
    re.compile(r"\d{5} [A-Z]\w{2,6} +[01] \S"): "icd10cm.v1",
    re.compile(r"\d+\|[A-Z]{3}\|([^|]*\|){16}$"): "rxnorm.v1",
}
_HEAD_BYTES = 1 << 16


def read_vocabulary(
    path: str | Path,
    format: str | None = None,
    *,
    report: VocabularyReport | None = None,
    **options: Any,
) -> Iterator[Concept]:
    """Read the concepts of a vocabulary, each once, in a stream.

    path (str | Path): a file, gzipped or not; for UMLS and SNOMED CT the folder.
    format (str | None): a name in `FORMATS`, with or without its version; None: inferred.
    report (VocabularyReport | None): filled with counts of what is read, merged and left out.
    options (Any): of the reader, e.g. `sources` and `types` for UMLS; text is converted, see
        `options.checked_options`.
    RETURNS (Iterator[Concept]): concepts in the order of the file; neighbouring rows of one
        identifier are joined.
    RAISES (AngelError): at once: an unknown format or option, or a wrong value of one; while
        reading: a file that is missing, damaged, of another format, without a concept, or with an
        identifier in two places. The message names file and line.
    """
    path = Path(path)
    name = format if format is not None else infer_format(path)
    reader = FORMATS.get(name) or FORMATS.get(f"{name}.v1")
    if reader is None:
        raise AngelError(Errors.E206.format(format=name, known=", ".join(FORMATS)))
    known = list(inspect.signature(reader).parameters)[2:]
    if unknown := sorted(set(options) - set(known)):
        raise AngelError(
            Errors.E208.format(
                format=name, unknown=", ".join(unknown), known=", ".join(known) or "none"
            )
        )
    report = report if report is not None else VocabularyReport()
    rows = reader(path, report, **checked_options(reader, options, name))
    return merge_rows(path, rows, report)


def infer_format(path: str | Path) -> str:
    """Tell the format of a vocabulary by its name and its first lines.

    path (str | Path): a file or folder.
    RETURNS (str): a name in `FORMATS`.
    RAISES (AngelError): it cannot be read, is empty or UTF-16, or looks like none of them.
    """
    path = Path(path)
    if path.is_dir():
        found = _folder_format(path)
    elif path.name.upper().startswith("MRCONSO.RRF"):
        found = "umls.v1"
    else:
        found = _content_format(_head(path))
    if found is None:
        raise AngelError(Errors.E207.format(path=path, known=", ".join(FORMATS)))
    return found


def _folder_format(path: Path) -> str | None:
    if any(path.glob("MRCONSO.RRF*")) or any(path.glob("META/MRCONSO.RRF*")):
        return "umls.v1"
    if any(path.glob("names.dmp")):
        return "ncbi_taxonomy.v1"
    if any(path.glob("RXNCONSO.RRF")):
        return "rxnorm.v1"
    if any(path.rglob("sct2_Concept_Snapshot*")):
        return "snomed.v1"
    return None


def _head(path: Path) -> str:
    head = b""
    for _, piece in pieces(path, size=_HEAD_BYTES):
        head += piece
        if len(head) >= _HEAD_BYTES:
            break
    if not head.strip():
        raise AngelError(Errors.E212.format(path=path))
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise AngelError(Errors.E213.format(path=path))
    return head.decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()


def _content_format(head: str) -> str | None:
    """The format that a file's first 64 KiB look like."""
    lines = [line for line in head.splitlines() if line.strip()]
    if head.startswith("<"):
        roots = {
            "<DescriptorRecordSet": "mesh_xml.v1",
            "<SupplementalRecordSet": "mesh_xml.v1",
            "<JDBOR": "orphadata.v1",
        }
        return next((format for root, format in roots.items() if root in head), None)
    for start, format in _FIRST_LINES.items():
        if head.startswith(start):
            return format
    if head.startswith("{"):
        return "scispacy.v1" if '"concept_id"' in lines[0] else "target_kb.v1"
    if any(line.startswith(("# DiseaseName\t", "# ChemicalName\t")) for line in lines):
        return "ctd.v1"
    if "[Term]" in lines or head.startswith("format-version:"):
        return "obo.v1"
    for pattern, format in _LINES.items():
        if lines and pattern.match(lines[0]):
            return format
    if lines and "||" in lines[0] and "\t" not in lines[0]:
        return "medic.v1"
    if any(line.startswith("AC   CVCL_") for line in lines):
        return "cellosaurus.v1"
    return "table.v1" if lines and lines[0].count("\t") in (1, 2) else None
