"""Benchmark corpora: files of the published formats → documents with gold mentions → spaCy Docs.

Reading imports no spaCy; `to_doc`, `write_docbin` and DocBin files do.
"""

import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..errors import AngelError, AngelWarning, cannot_read
from ..files.formats import Format, Formats
from ..files.options import checked_options
from ..files.reading import pieces
from .documents import CorpusDocument, CorpusReport, Reading
from .formats import (
    askapatient,
    bioc,
    brat,
    cometa,
    corrections,
    craft,
    csv_tables,
    docbin,
    genbioel,
    gsc,
    label_studio,
    lines,
    pubmed,
    pubtator,
    rows,
    text,
    uima,
)

FORMATS = Formats(
    "corpus",
    "spacy_angel_corpus_formats",
    [
        corrections.FORMAT,
        rows.JSONL,
        rows.PARQUET,
        docbin.FORMAT,
        genbioel.FORMAT,
        pubmed.FORMAT,
        brat.FORMAT,
        craft.FORMAT,
        label_studio.FORMAT,
        uima.XMI,
        uima.JSON,
        bioc.XML,
        bioc.JSON,
        pubtator.FORMAT,
        askapatient.FORMAT,
        gsc.FORMAT,
        cometa.FORMAT,
        csv_tables.FORMAT,
        text.FORMAT,
        lines.FORMAT,
    ],
)

_SPLITS = {
    "dev": re.compile(r"dev|valid", re.IGNORECASE),
    "test": re.compile(r"test", re.IGNORECASE),
    "train": re.compile(r"train|trng", re.IGNORECASE),
}

# Options of `read_corpus` that all formats have.
_OPTIONS = ("prefix", "split", "pmids", "keep_duplicates", "strict")


def read_corpus(
    path: str | Path,
    format: str | None = None,
    *,
    prefix: str | Mapping[str, str] = "",
    split: str | None = None,
    pmids: str | Path | Collection[str] | None = None,
    keep_duplicates: bool = False,
    strict: bool = True,
    report: CorpusReport | None = None,
    **options: Any,
) -> Iterator[CorpusDocument]:
    """Stream the documents of a corpus.

    path (str | Path): file (plain or gzip) or folder.
    format (str | None): one of FORMATS; None: by the file.
    prefix (str | Mapping[str, str]): vocabulary of ids without one, or one for each label, e.g.
        `{"GENE": "NCBIGene"}`, by any of its spellings; MeSH ids and CUIs are known without.
    split (str | None): split of the documents; None: by the file's name.
    pmids (str | Path | Collection[str] | None): ids of the documents to keep, or a file with one
        a line (MedMentions' splits).
    keep_duplicates (bool): keep documents that stand twice, word for word (NCBI-disease's
        8528200). Without, a digest of each document stays in memory.
    strict (bool): raise at the first fault; otherwise leave out what it spoils and count it.
    report (CorpusReport | None): gets counts and notes while the documents are taken.
    options (Any): of the format, e.g. `granularity="specific"` for COMETA; text is converted for
        them and the two above, see `options.checked_options`.
    RETURNS (Iterator[CorpusDocument]): in the order of the file.
    RAISES (AngelError): naming file and line; where the format or an option is unknown, or an
        option has a wrong value.
    """
    path = Path(path)
    chosen = FORMATS.named(format) if format else FORMATS.of(path)
    if not path.exists():
        raise AngelError(cannot_read(path, "there is no such file"))
    options = chosen.checked(options, _OPTIONS)
    flags = {"keep_duplicates": keep_duplicates, "strict": strict}
    keep_duplicates, strict = checked_options(read_corpus, flags, chosen.name).values()
    report = report if report is not None else CorpusReport()
    if split is None:
        split = "" if path.is_dir() else infer_split(path.name)
    reading = Reading(str(path), strict, report, prefix=prefix, split=split)
    documents = chosen.read(path, reading, **options)
    if pmids is not None:
        wanted = read_pmids(pmids) if isinstance(pmids, str | Path) else frozenset(pmids)
        documents = _listed(documents, wanted, report)
    if not keep_duplicates:
        documents = _distinct(documents, report)
    return _counted(documents, report)


def writable_formats() -> tuple[str, ...]:
    """RETURNS (tuple[str, ...]): names of the formats that `write_corpus` writes."""
    return tuple(name for name, format in FORMATS.items() if format.write is not None)


def check_writing(to: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """to (str), options (Mapping[str, Any]): see `write_corpus`. RETURNS (dict[str, Any]): the
    options for the writer. RAISES (AngelError): the format is not written, or not so."""
    chosen = FORMATS.named(to)
    if chosen.write is None:
        known = ", ".join(writable_formats())
        raise AngelError(f"The format {chosen.name} cannot be written. Formats that can: {known}.")
    return chosen.checked_to_write(options)


def write_corpus(
    documents: Iterable[CorpusDocument], path: str | Path, to: str = "bioc_json", **options: Any
) -> None:
    """Write documents in any of the formats that are written.

    What a format has no place for is left out, with one warning for each kind of it.

    documents (Iterable[CorpusDocument]): written as they come.
    path (str | Path): file, or folder where a format keeps a file for each document.
    to (str): one of `writable_formats()`.
    options (Any): of the format's writer, e.g. `results="annotations"` for Label Studio.
    RAISES (AngelError): the format is only read, has no such option, or cannot hold a document.
    """
    checked = check_writing(to, options)
    chosen = FORMATS.named(to)
    assert chosen.write is not None
    chosen.write(_told(documents, chosen, Path(path)), Path(path), **checked)


def _told(documents: Iterable[CorpusDocument], to: Format, path: Path) -> Iterator[CorpusDocument]:
    """The same documents; a warning the first time that something of them is left out."""
    lacking = list(to.lacks)
    for document in documents:
        for what in list(lacking):
            if any(getattr(one, what, None) for one in (document, *document.mentions)):
                lacking.remove(what)
                warnings.warn(
                    f"{to.name} cannot hold {what}: left out of {path}, first in document "
                    f"{document.doc_id}.",
                    AngelWarning,
                    stacklevel=2,
                )
        yield document


def infer_format(path: str | Path) -> str:
    """Tell the format of a corpus from its first line, or from what a folder holds.

    path (str | Path): file or folder.
    RETURNS (str): one of FORMATS.
    RAISES (AngelError): where it is empty or looks like none of them.
    """
    return FORMATS.of(Path(path)).name


def infer_split(name: str) -> str:
    """RETURNS (str): `train`, `dev` or `test` where exactly one stands in a file's name."""
    splits = [split for split, pattern in _SPLITS.items() if pattern.search(name)]
    return splits[0] if len(splits) == 1 else ""


def read_pmids(path: str | Path) -> frozenset[str]:
    """path (str | Path): file with an id a line. RETURNS (frozenset[str]): the ids."""
    ids = (line.strip() for _, line in pieces(Path(path)))
    return frozenset(doc_id.decode("utf8", errors="replace") for doc_id in ids if doc_id)


def _listed(
    documents: Iterable[CorpusDocument], wanted: frozenset[str], report: CorpusReport
) -> Iterator[CorpusDocument]:
    read_ids = set()
    for document in documents:
        if document.doc_id in wanted:
            read_ids.add(document.doc_id)
            yield document
        else:
            report.count("documents_outside_list")
    for doc_id in sorted(wanted - read_ids):
        report.count("ids_not_found", note=f"document {doc_id} of the list is not in the corpus")


def _distinct(
    documents: Iterable[CorpusDocument], report: CorpusReport
) -> Iterator[CorpusDocument]:
    """Leave out documents that are equal word for word; same id, other text is only reported."""
    seen: dict[bytes, bytes] = {}
    for document in documents:
        key = blake2b(document.doc_id.encode(), digest_size=8).digest()
        content = blake2b(repr((document.text, document.mentions)).encode(), digest_size=8).digest()
        if key not in seen:
            seen[key] = content
        elif seen[key] == content:
            note = f"document {document.doc_id} stands twice, word for word; read once"
            report.count("duplicate_documents", note=note)
            report.count("duplicate_mentions", len(document.mentions))
            continue
        else:
            note = f"the id {document.doc_id} stands for two different documents; both are read"
            report.count("repeated_ids", note=note)
        yield document


def _counted(documents: Iterable[CorpusDocument], report: CorpusReport) -> Iterator[CorpusDocument]:
    for document in documents:
        report.count("documents")
        report.count("mentions", len(document.mentions))
        missing = sum(not mention.concept_ids for mention in document.mentions)
        report.count("mentions_without_id", missing)
        yield document
