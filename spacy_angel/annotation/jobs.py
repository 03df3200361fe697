"""Shards of a run: inputs are read and divided; shards that exist already are skipped."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ..corpora.documents import CorpusDocument, CorpusReport
from ..errors import AngelError
from .folder import OutputFolder
from .inputs import Input, read_input

# Name of its file, and the document; None where a newer version replaces it.
_Document: TypeAlias = tuple[str, CorpusDocument | None]

# PubMed's identifiers have up to eight digits.
_MAX_PMID = 10**8


@dataclass(frozen=True, slots=True)
class ShardJob:
    """A shard to annotate.

    input (int), shard (int): numbers of the input and of the shard in it.
    source (str): SHA-256 of the input, see `ShardRecord`.
    size (int): the shard's bytes in the input, for the progress bar.
    documents (Sequence[tuple[str, CorpusDocument]]): name of its file, and each document.
    """

    input: int
    shard: int
    source: str
    size: int
    documents: Sequence[tuple[str, CorpusDocument]]


def shard_jobs(
    sources: Sequence[Input],
    folder: OutputFolder,
    bar: "tqdm[Any]",
    *,
    shard_size: int,
    options: Mapping[str, Any],
) -> Iterator[ShardJob]:
    """Read the inputs, a path that was given twice only once.

    sources (Sequence[Input]): PubMed's files are read last, the newest first.
    folder (OutputFolder): the output; gets the records of the inputs.
    bar (tqdm): counts bytes of the inputs; gets those that need no annotation.
    shard_size (int), options (Mapping[str, Any]): as for `annotate`.
    YIELDS (ShardJob): each shard that is not in the output.
    """
    articles = [source for source in sources if source.format == "pubmed"]
    others = [source for source in sources if source.format != "pubmed"]
    seen_names: set[str] = set()
    # All 38 million PMIDs take 40 MB: only what is written to needs memory.
    seen_pmids = np.zeros(_MAX_PMID if articles else 0, bool)
    for source in others + articles[::-1]:
        if source.name in seen_names:
            continue
        seen_names.add(source.name)
        fingerprint = source.fingerprint()
        record = folder.begin_input(source, fingerprint)
        # Of a finished PubMed file, newer ones may have replaced articles.
        if folder.is_done(record) and source.format != "pubmed":
            _skip(bar, source.size)
            continue
        report, error = CorpusReport(), None
        documents: Iterator[_Document] = read_input(source, report=report, options=options)
        if source.format == "pubmed":
            documents = _latest(documents, report, seen_pmids)
        shards = position = 0
        while error is None:
            chunk, error = _take(documents, shard_size)
            if not chunk:
                break
            size, position = report.position - position, report.position
            kept = [(name, document) for name, document in chunk if document is not None]
            version = fingerprint
            if len(kept) < len(chunk):
                dropped = [i for i, (_, document) in enumerate(chunk) if document is None]
                version = sha256(f"{fingerprint} {dropped}".encode()).hexdigest()
            present = folder.shards.get((record.number, shards))
            if present is not None and present.source == version:
                _skip(bar, size)
            else:
                yield ShardJob(record.number, shards, version, size, kept)
            shards += 1
        _skip(bar, source.size - position)
        if not fingerprint or source.fingerprint() != fingerprint:
            changed = f"{source.name} has changed while it was read. Run the same command again."
            error = changed if fingerprint else error or changed
            fingerprint = ""
        end = replace(record, sha256=fingerprint, shards=shards, error=error)
        folder.write_input(replace(end, counts=dict(report.counts), notes=list(report.notes)))


def _skip(bar: "tqdm[Any]", size: int) -> None:
    # Not part of the rate, from which the remaining time is estimated.
    bar.initial += size
    bar.update(size)


def _take(documents: Iterator[_Document], n: int | None) -> tuple[list[_Document], str | None]:
    """The next documents, at most n, and the error that ended the reading."""
    taken: list[_Document] = []
    try:
        # Those before an error stay in the list.
        taken.extend(islice(documents, n))
    except AngelError as error:
        return taken, str(error)
    return taken, None


def _latest(
    documents: Iterator[_Document], report: CorpusReport, seen: NDArray[np.bool_]
) -> Iterator[_Document]:
    """Drop the articles of a PubMed file that a newer file has or deletes, and that the file itself
    deletes or has in a higher version; count them as `superseded`.

    seen (np.ndarray): for each PMID, whether a newer file has or deletes it; shape `(_MAX_PMID,)`.
    """

    def number(pmid: str) -> int:
        return int(pmid) if pmid.isdecimal() and len(pmid) < 9 else 0

    # The file is held as a whole: what comes later in it may replace what came before.
    articles, error = _take(documents, None)
    seen[[number(pmid) for pmid in report.withdrawn]] = True
    order = sorted(range(len(articles)), key=lambda i: (report.versions[i], i), reverse=True)
    for index in order:
        name, document = articles[index]
        pmid = number(document.doc_id) if document is not None else 0
        if pmid and seen[pmid]:
            articles[index] = name, None
            report.count("superseded")
        seen[pmid] = True
    end = report.position
    for n, article in enumerate(articles, 1):
        report.position = end * n // len(articles)  # for the progress bar
        yield article
    if error is not None:
        raise AngelError(error)
