"""Raw corpora → the preprocessed file that a training config names, or another tool's files."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from tqdm import tqdm

from .documents import CorpusDocument, CorpusReport
from .preprocessing import Preprocessing, preprocess
from .registry import FORMATS, check_writing, read_corpus, write_corpus


def prepare_corpus(
    files: Sequence[Path],
    output: Path,
    *,
    format: str | None = None,
    to: str = "bioc_json",
    steps: Preprocessing | None = None,
    known: Container[str] | None = None,
    options: Mapping[str, Any] | None = None,
    to_options: Mapping[str, Any] | None = None,
    names: Callable[[str], str] | None = None,
) -> CorpusReport:
    """Read corpora, preprocess them and write one file or folder, from which `read_corpus` gives
    back the same mentions with their identifiers and parts, and the steps.

    files (Sequence[Path]): corpora, written one after the other.
    output (Path): put in place once it is whole.
    format (str | None): of all files; None tells it from each.
    to (str): one of `registry.writable_formats()`, to write.
    steps (Preprocessing | None): e.g. of `preprocessing.PUBLISHED`; None for none.
    known (Container[str] | None): tells whether an id is in the vocabulary, e.g. a ConceptKB.
    options (Mapping[str, Any] | None): of `corpora.read_corpus`.
    to_options (Mapping[str, Any] | None): of the writer.
    names (Callable[[str], str] | None): the name of a concept, empty where there is none, for
        formats that show it.
    RETURNS (CorpusReport): of reading and preprocessing, with `documents_written` and
        `mentions_written`.
    RAISES (AngelError): a corpus or option that does not fit; nothing is written then.
    """
    writing = dict(to_options or {})
    if names is not None and "names" in FORMATS.named(to).write_options:
        writing["names"] = names
    # Before reading, which may take long.
    check_writing(to, writing)
    report = CorpusReport()
    documents = prepared_documents(files, report, format, steps, known, options)
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
    """The documents that `prepare_corpus` writes, to join them with others.

    files (Iterable[Path]), format (str | None), steps (Preprocessing | None), known
    (Container[str] | None), options (Mapping[str, Any] | None): as `prepare_corpus`.
    report (CorpusReport): filled while the documents are taken.
    RETURNS (Iterator[CorpusDocument]): in the order of the files.
    RAISES (AngelError): a corpus or option that does not fit.
    """
    documents: Iterator[CorpusDocument] = chain.from_iterable(
        [read_corpus(file, format, report=report, **(options or {})) for file in files]
    )
    if steps is not None:
        documents = preprocess(documents, steps, known=known, report=report)
    for document in tqdm(documents, desc="Corpus", unit=" documents", disable=None):
        report.count("documents_written")
        report.count("mentions_written", len(document.mentions))
        yield document
