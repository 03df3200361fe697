"""Readers of vocabularies: every format gives `Concept`s, in a stream.

A reader takes the path, a report that it fills and its options, and yields concepts. It raises a
ValueError where the file is not in its format; `read_vocabulary` adds file and line. The name of a
format has a version, so that a new one can stand beside an old one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
from .records import VocabularyReport, located, merge_rows

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
    """Read the concepts of a vocabulary in a stream.

    path (str | Path): a file, gzipped or not; for UMLS and SNOMED CT the folder.
    format (str | None): a name in `FORMATS`, with or without its version; None: inferred.
    report (VocabularyReport | None): filled with counts of what is read, merged and left out.
    options (Any): of the reader, e.g. `sources` and `types` for UMLS; text is converted, see
        `checked_options`.
    RETURNS (Iterator[Concept]): concepts in the order of the file; neighboring rows of one
        identifier are joined, others are for `ConceptKB.build` to join.
    RAISES (AngelError): at once: an unknown format or option, or a wrong value of one; while
        reading: a file that is missing, damaged, of another format, or without a concept. The
        message names file and line.
    """
    path = Path(path)
    chosen = FORMATS.named(format) if format is not None else FORMATS.of(path)
    report = report if report is not None else VocabularyReport()
    options = checked_options(chosen.read, options, chosen.name)

    def concepts() -> Iterator[Concept]:
        with located(path, report):
            yield from merge_rows(chosen.read(path, report, **options), report)

    return concepts()


def infer_format(path: str | Path) -> str:
    """Tell the format of a vocabulary by its name and its first lines.

    path (str | Path): a file or folder.
    RETURNS (str): a name in `FORMATS`.
    RAISES (AngelError): it cannot be read, is empty or UTF-16, or looks like none of them.
    """
    return FORMATS.of(Path(path)).name
