"""The formats of vocabularies and their readers.

A reader takes a path, a report to fill in, and its options, and yields `Concept`s. It raises a
ValueError if the file is not in its format; `read_vocabulary` adds the file and line. Format names
end with a version, so that a new version can be added alongside an old one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ....errors import AngelError
from ....files.formats import Formats, checked_options
from ...names.concepts import Concept
from . import (
    fhir,
    genbioel,
    mesh,
    ncbi_taxonomy,
    obo,
    obographs,
    omop,
    rdf,
    registers,
    scispacy,
    snomed,
    table,
    umls,
)
from .records import VocabularyReport, merge_rows

FORMATS = Formats(
    "vocabulary",
    "spacy_angel_vocabulary_formats",
    [
        umls.UMLS,
        snomed.FORMAT,
        omop.FORMAT,
        ncbi_taxonomy.FORMAT,
        registers.GENES,
        umls.RXNORM,
        registers.HGNC,
        registers.DRUGBANK,
        registers.ICD10CM,
        mesh.FORMAT,
        rdf.FORMAT,
        scispacy.FORMAT,
        obographs.FORMAT,
        fhir.FORMAT,
        genbioel.FORMAT,
        registers.CTD,
        obo.FORMAT,
        registers.MEDIC,
        table.FORMAT,
    ],
)


def read_vocabulary(
    path: str | Path,
    format: str | None = None,
    *,
    report: VocabularyReport | None = None,
    **options: Any,
) -> Iterator[Concept]:
    """Stream the concepts of a vocabulary.

    path (str | Path): a file, plain or gzip; for UMLS and SNOMED CT, a folder.
    format (str | None): a name in `FORMATS`, with or without its version; None: inferred.
    report (VocabularyReport | None): receives the counts.
    options (Any): options of the reader, e.g. `sources` and `types` for UMLS; texts are converted,
        see `checked_options`.
    RETURNS (Iterator[Concept]): concepts in the order of the file. Adjacent rows with the same
        identifier are merged; `ConceptKB.build` joins the others.
    RAISES (AngelError): immediately, for an unknown format or option or an invalid value; while
        reading, if the file is missing or damaged, has another format, or contains no concepts. The
        message names the file and line.
    """
    path = Path(path)
    chosen = FORMATS.named(format) if format is not None else FORMATS.of(path)
    report = report if report is not None else VocabularyReport()
    options = checked_options(chosen.read, options, chosen.name)

    def concepts() -> Iterator[Concept]:
        try:
            yield from merge_rows(chosen.read(path, report, **options), report)
        except AngelError:
            raise
        except ValueError as error:
            where = f"{report.path or path}, line {report.line}"
            raise AngelError(f"[E203] {where}: {error}") from error

    return concepts()
