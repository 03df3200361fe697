"""Reading and writing of corpora in all registered formats.

spaCy is imported only for DocBin files, and by `to_doc` and `write_docbin`.
"""

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..errors import AngelError, AngelWarning, cannot_read
from ..files.formats import Formats, checked_options
from .documents import CorpusDocument, CorpusReport, Reading, within_text
from .formats import (
    bigbio,
    bioc,
    brat,
    docbin,
    grounded,
    jats,
    label_studio,
    phrases,
    pubmed,
    pubtator,
    rows,
    text,
)

# Files of other tools, by a pattern in their first bytes.
_FOREIGN = {
    r'^{\s*"projects"\s*:\s*\[': "an export of MedCATtrainer",
    r'"(ner|bio|iob)_tags"\s*:|"tokenized_text"\s*:': "tokens with tags (Hugging Face, GLiNER)",
    r"\A(%PDF-|{\\rtf|PK\x03\x04(?![\s\S]*xl/))": "a PDF, Word, or RTF document, or a zip archive",
    r"\A[\s\S]{257}ustar": "a tar archive",
    r"(?i)\A<(!doctype )?html": "a web page",
    r"\A(PMID- |TY  - )": "a list of references (MEDLINE, RIS)",
    r"\A(-DOCSTART-|(\S+[ \t]+(\S+[ \t]+)*(O|[BIES]-\S+)\s*\n){2})": "tokens with tags (CoNLL)",
    r'"(annotatable|extId)"\s*:': "annotations without their text (tagtog, Europe PMC)",
    r'"%FEATURE_STRUCTURES"|<xmi:XMI|\A#FORMAT=WebAnno': "an export of INCEpTION (WebAnno, UIMA)",
}

FORMATS = Formats(
    "corpus",
    "spacy_angel_corpus_formats",
    [
        grounded.FORMAT,
        rows.JSONL,
        rows.PARQUET,
        docbin.FORMAT,
        pubmed.FORMAT,
        brat.FORMAT,
        label_studio.FORMAT,
        jats.FORMAT,
        bigbio.FORMAT,
        bioc.XML,
        bioc.JSON,
        rows.JSON,
        pubtator.FORMAT,
        phrases.ASKAPATIENT,
        phrases.COMETA,
        rows.CSV,
        text.TEXT,
        text.LINES,
    ],
    _FOREIGN,
)

# Options of `read_corpus` that apply to all formats.
_OPTIONS = ("prefix", "pmids", "keep_duplicates", "strict")


def read_corpus(
    path: str | Path,
    format: str | None = None,
    *,
    prefix: str | Mapping[str, str] = "",
    pmids: str | Path | Collection[str] | None = None,
    keep_duplicates: bool = False,
    strict: bool = True,
    report: CorpusReport | None = None,
    **options: Any,
) -> Iterator[CorpusDocument]:
    """Stream the documents of a corpus.

    path (str | Path): file (plain or gzip) or folder.
    format (str | None): one of FORMATS; None to infer it from the file.
    prefix (str | Mapping[str, str]): vocabulary for identifiers without a prefix, or a mapping from
        labels (in any spelling) to vocabularies, e.g. `{"GENE": "NCBIGene"}`. MeSH identifiers and
        CUIs are recognized without it.
    pmids (str | Path | Collection[str] | None): identifiers of the documents to read, or a text
        file with identifiers (MedMentions' splits).
    keep_duplicates (bool): keep exact duplicates of documents, e.g. document 8528200 of
        NCBI-disease. If False, a digest of each document is kept in memory.
    strict (bool): raise an error at the first fault; otherwise, skip invalid content and count it.
    report (CorpusReport | None): receives counts and notes while documents are read.
    options (Any): options of the format, e.g. `results="predictions"` for Label Studio. Values
        given as text are converted, see `checked_options`.
    RETURNS (Iterator[CorpusDocument]): the documents, in the order of the file.
    RAISES (AngelError): if the file is invalid, the format or an option is unknown, or an option
        has an invalid value.
    """
    path = Path(path)
    chosen = FORMATS.named(format) if format else FORMATS.of(path)
    if not path.exists():
        raise AngelError(cannot_read(path, "there is no such file"))
    options = checked_options(chosen.read, options, chosen.name, _OPTIONS)
    flags = {"keep_duplicates": keep_duplicates, "strict": strict}
    keep_duplicates, strict = checked_options(read_corpus, flags, chosen.name).values()
    report = report if report is not None else CorpusReport()
    reading = Reading(str(path), strict, report, prefix=prefix)
    documents = chosen.read(path, reading, **options)
    if isinstance(pmids, str | Path):
        pmids = Path(pmids).read_text(encoding="utf8").split()
    wanted = None if pmids is None else frozenset(pmids)
    return _selected(documents, wanted, None if keep_duplicates else {}, report)


def writable_formats() -> tuple[str, ...]:
    """RETURNS (tuple[str, ...]): names of the formats that `write_corpus` supports."""
    return tuple(name for name, format in FORMATS.items() if format.write is not None)


def write_corpus(
    documents: Iterable[CorpusDocument], path: str | Path, to: str = "bioc_json", **options: Any
) -> None:
    """Write documents in a format that supports writing.

    documents (Iterable[CorpusDocument]): documents, which are read and written one by one, once the
        options have been checked.
    path (str | Path): file, or folder for formats with a file for each document.
    to (str): one of `writable_formats()`.
    options (Any): options of the writer, e.g. `results="annotations"` for Label Studio.
    RAISES (AngelError): if the format can only be read, does not have one of the options, or cannot
        represent a document.
    """
    chosen = FORMATS.named(to)
    if chosen.write is None:
        known = ", ".join(writable_formats())
        raise AngelError(f"The format {chosen.name} cannot be written. Formats that can: {known}.")
    options = checked_options(chosen.write, options, chosen.name)
    lost: dict[str, None] = {}

    def noting_lost() -> Iterator[CorpusDocument]:
        for document in map(within_text, documents):
            for name in chosen.lacks:
                if any(getattr(one, name, None) for one in (document, *document.mentions)):
                    lost.setdefault(name)
            yield document

    chosen.write(noting_lost(), Path(path), **options)
    if lost:
        message = f"{path}: {chosen.name} has no place for {', '.join(lost)}; they are lost."
        warnings.warn(message, AngelWarning, stacklevel=2)


def infer_format(path: str | Path) -> str:
    """Infer the format of a corpus from its first line, or from the files in a folder.

    path (str | Path): file or folder.
    RETURNS (str): one of FORMATS.
    RAISES (AngelError): if it is empty or has an unknown format.
    """
    return FORMATS.of(Path(path)).name


def _selected(
    documents: Iterable[CorpusDocument],
    wanted: frozenset[str] | None,
    seen: dict[bytes, bytes] | None,
    report: CorpusReport,
) -> Iterator[CorpusDocument]:
    """Select and count documents. Duplicates are dropped unless `seen` is None."""
    missing = set(wanted or ())
    for document in (within_text(document, report) for document in documents):
        if wanted is not None and document.doc_id not in wanted:
            report.count("documents_outside_list")
            continue
        missing.discard(document.doc_id)
        if seen is not None and _is_duplicate(document, seen, report):
            continue
        report.count("documents")
        report.count("mentions", len(document.mentions))
        without_id = sum(not mention.concept_ids for mention in document.mentions)
        report.count("mentions_without_id", without_id)
        yield document
    for doc_id in sorted(missing):
        report.count("ids_not_found", note=f"document {doc_id} of the list is not in the corpus")


def _is_duplicate(document: CorpusDocument, seen: dict[bytes, bytes], report: CorpusReport) -> bool:
    """Return whether a document is an exact duplicate. Repeated identifiers are only reported."""
    key = blake2b(document.doc_id.encode(), digest_size=8).digest()
    content = blake2b(repr((document.text, document.mentions)).encode(), digest_size=8).digest()
    before = seen.get(key)
    seen.setdefault(key, content)
    if before == content:
        note = f"document {document.doc_id} stands twice, word for word; read once"
        report.count("duplicate_documents", note=note)
        report.count("duplicate_mentions", len(document.mentions))
    elif before is not None:
        note = f"the id {document.doc_id} stands for two different documents; both are read"
        report.count("repeated_ids", note=note)
    return before == content
