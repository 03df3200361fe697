"""Conversion of corpora to the training format, or to the format of another tool."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from .documents import CorpusDocument, CorpusReport
from .preprocessing import Preprocessing, preprocess
from .registry import FORMATS, read_corpus, write_corpus

if TYPE_CHECKING:
    from ..vocabulary.kb import ConceptKB


def prepare_corpus(
    files: Sequence[Path],
    output: Path,
    format: str | None = None,
    to: str = "bioc_json",
    steps: Preprocessing | None = None,
    kb: "ConceptKB | None" = None,
    options: Mapping[str, Any] | None = None,
    to_options: Mapping[str, Any] | None = None,
) -> CorpusReport:
    """Read corpora, preprocess them, and write one file or folder.

    files (Sequence[Path]): corpora, which are concatenated.
    output (Path): file or folder to write. An existing file is replaced once the new one is
        complete.
    format (str | None): format of all files; None to infer it for each file.
    to (str): format to write, see `registry.writable_formats`.
    steps (Preprocessing | None): e.g. from `preprocessing.PUBLISHED`.
    kb (ConceptKB | None): vocabulary with the known concepts; also provides their names for formats
        that include them.
    options (Mapping[str, Any] | None): options of `corpora.read_corpus`.
    to_options (Mapping[str, Any] | None): options of the writer.
    RETURNS (CorpusReport): counts from reading and preprocessing, including `documents_written` and
        `mentions_written`.
    RAISES (AngelError): if a corpus or option is invalid; nothing is written in this case.
    """
    writing = dict(to_options or {})
    if kb is not None and "names" in FORMATS.named(to).write_options:
        writing["names"] = lambda concept_id: getattr(kb.get(concept_id), "canonical_name", "")
    report = CorpusReport()
    documents = prepared_documents(files, report, format, steps, kb, options)
    write_corpus(documents, output, to, **writing)
    return report


def prepared_documents(
    files: Iterable[Path],
    report: CorpusReport,
    format: str | None = None,
    steps: Preprocessing | None = None,
    known: Container[str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Iterator[CorpusDocument]:
    """Yield the documents that `prepare_corpus` writes, and fill the report."""
    corpora = [read_corpus(file, format, report=report, **(options or {})) for file in files]
    documents: Iterator[CorpusDocument] = chain.from_iterable(corpora)
    if steps is not None:
        documents = preprocess(documents, steps, known=known, report=report)
    for document in tqdm(documents, desc="Corpus", unit=" documents", disable=None):
        report.count("documents_written")
        report.count("mentions_written", len(document.mentions))
        yield document
