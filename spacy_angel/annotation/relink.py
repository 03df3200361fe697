"""An annotated set with a new vocabulary: which links change. The model is asked only about
documents in which a link may be another one; all others are taken over."""

import csv
import io
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from spacy.util import minibatch
from tqdm import tqdm

from ..corpora.documents import CorpusDocument, CorpusReport
from ..errors import AngelError
from ..files.atomic import replacing, write_text
from ..files.json_values import parse_as
from ..linking.decision.vocabulary_change import VocabularyChange
from ..linking.settings.loaders import load_vocabulary
from ..pipelines.components import types_for_vocabulary
from ..pipelines.open import open_pipeline
from ..pipelines.shipped import load
from .document_linker import DocumentLinker, LinkingSettings
from .documents import AnnotatedDocument, AnnotatedMention, Failure
from .inputs import fingerprint, plan_inputs, read_input
from .outputs import OUTPUT_FORMATS
from .source import Input
from .stored import TABLES, read_stored, stored_format

if TYPE_CHECKING:
    from spacy.language import Language

COLUMNS = (
    *("doc_id", "start", "end", "text", "label", "change"),
    *("old_id", "old_name", "old_probability", "new_id", "new_name", "new_probability"),
)
_BATCH = 64


@dataclass(frozen=True, slots=True)
class Relinked:
    """What came of it.

    changes (Path): the table; its columns are `COLUMNS`. `change` is `merged` (the concept has
        another identifier now), `moved` (another concept), `linked` or `unlinked`.
    counts (Counter[str]): `documents`, `mentions`, `asked_documents`; `may_change` mentions that
        were the reason to ask; of each kind of change how many.
    """

    changes: Path
    counts: Counter[str]


def relink(
    annotated: str | Path,
    kb: str | Path,
    *,
    changes: str | Path,
    output: str | Path | None = None,
    old: str | Path | None = None,
    pipeline: str | Path | None = None,
    texts: str | Path | None = None,
    ask_all: bool = False,
) -> Relinked:
    """Tell which links of an annotated set change with another vocabulary.

    A document is linked anew, with the mentions that it has, where one of them may change (see
    `VocabularyChange`); its links are then those of `annotate` with these mentions. Interrupted,
    the same call goes on after the files that were done.

    annotated (str | Path): a file, or the output folder of `annotate`.
    kb (str | Path): the new vocabulary.
    changes (str | Path): table to write, with tabs.
    output (str | Path | None): folder to write the set with its new links to, file by file in the
        format of each.
    old (str | Path | None): the vocabulary that the set was linked to; None: the pipeline's own.
    pipeline (str | Path | None): that linked it; None: the one that ships.
    texts (str | Path | None): what was annotated, a file or folder, where the set is in tables of
        mentions (CSV, TSV), which have no texts: they are read where the model has to be asked.
    ask_all (bool): link every document anew.
    RETURNS (Relinked): see there.
    RAISES (AngelError): something cannot be read or written, or a document cannot be linked.
    """
    changes = Path(changes)
    output = None if output is None else Path(output)
    sources = plan_inputs([annotated])
    names = [Path(source.name).name for source in sources]
    if output is not None and output.resolve() in {s.paths[0].resolve().parent for s in sources}:
        raise AngelError(
            f"{output} holds the files that are read. Use another folder with --output."
        )
    run = _Run(kb, old, pipeline, texts, ask_all=ask_all)
    parts = changes.with_name(f".{changes.name}.parts")
    total: Counter[str] = Counter()
    tables = []
    for number, (source, name) in enumerate(zip(sources, names, strict=True)):
        key = sha256(f"{run.key} {output and output.resolve()} {fingerprint(source)}".encode())
        part = parts / f"{number:05d}-{key.hexdigest()[:32]}.json"
        stored = _stored(part)
        if stored is None:
            done, counts, data = run.relink(source)
            if output is not None:
                with replacing(output / name) as file:
                    file.write(data)
            stored = _Part(changes=done, counts=counts)
            write_text(part, json.dumps(stored.model_dump()))
        total.update(stored.counts)
        tables.append(stored.changes)
    write_text(changes, "\t".join(COLUMNS) + "\n" + "".join(tables))
    shutil.rmtree(parts, ignore_errors=True)
    return Relinked(changes, total)


class _Part(BaseModel, extra="forbid"):
    """A file that was done: its lines of the table, and its part of `Relinked.counts`."""

    changes: str
    counts: dict[str, int]


def _stored(part: Path) -> _Part | None:
    """RETURNS (_Part | None): what was kept of a file; None where that is not there or damaged, and
    the file is done again."""
    try:
        return parse_as(part.read_bytes(), _Part)
    except (FileNotFoundError, ValueError):
        return None


class _Run:
    """The vocabularies and, once a document needs it, the pipeline with the new one."""

    def __init__(
        self,
        kb: str | Path,
        old: str | Path | None,
        pipeline: str | Path | None,
        texts: str | Path | None,
        *,
        ask_all: bool,
    ) -> None:
        self._texts = None if texts is None else _Texts(texts)
        self._pipeline = pipeline
        self._ask_all = ask_all
        self._kb = kb
        self.new = load_vocabulary(kb)
        if old is None and pipeline is not None:
            before = open_pipeline(pipeline)[1].kb
        else:
            before = load_vocabulary(old)
        self._change = VocabularyChange(before, self.new)
        described = [self.new.meta, before.meta, str(pipeline), ask_all]
        self.key = sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()

    def relink(self, source: Input) -> tuple[str, Counter[str], bytes]:
        """source (Input): a file. RETURNS (tuple[str, Counter[str], bytes]): rows of the table,
        counts, and the file with its new links."""
        counts: Counter[str] = Counter()
        rows: list[list[Any]] = []
        documents: list[AnnotatedDocument] = []
        has_candidates = False
        with tqdm(desc=source.name, unit=" documents", disable=None) as progress:
            for batch in minibatch(read_stored(source), _BATCH):
                has_candidates |= any(m.candidates for d in batch for m in d.mentions)
                asked = [self._must_ask(document, counts) for document in batch]
                pairs = zip(batch, asked, strict=True)
                chosen = (document for document, is_asked in pairs if is_asked)
                if stored_format(source) in TABLES:
                    chosen = (self._with_text(source, document) for document in chosen)
                anew = iter(self._linked_anew(list(chosen)))
                for document, is_asked in zip(batch, asked, strict=True):
                    result = next(anew) if is_asked else self._taken_over(document)
                    rows += self._changes(document, result, counts)
                    counts.update(documents=1, mentions=len(document.mentions))
                    documents.append(result)
                progress.update(len(batch))
        format, nlp = OUTPUT_FORMATS[stored_format(source)], self._nlp(source)
        pieces = [format.encode(document, nlp, has_candidates) for document in documents]
        return _lines(rows), counts, format.join(pieces, has_candidates)

    def _must_ask(self, document: AnnotatedDocument, counts: Counter[str]) -> bool:
        n_may = sum(
            self._change.may_change(m.text, m.concept_id, [c.name for c in m.candidates])
            for m in document.mentions
        )
        is_asked = bool(document.mentions) and (self._ask_all or n_may > 0)
        counts.update(may_change=n_may, asked_documents=int(is_asked))
        return is_asked

    def _with_text(self, source: Input, document: AnnotatedDocument) -> AnnotatedDocument:
        if self._texts is None:
            raise AngelError(
                f"{source.name} has no texts, and document {document.doc_id} must be read again. "
                "Give its text with --texts."
            )
        return self._texts.added_to(document)

    def _linked_anew(self, documents: Sequence[AnnotatedDocument]) -> list[AnnotatedDocument]:
        if not documents:
            return []
        given = [document.to_corpus().without_ids() for document in documents]
        results = self._linker(given, strict=True)
        return [result for result in results if not isinstance(result, Failure)]

    def _taken_over(self, document: AnnotatedDocument) -> AnnotatedDocument:
        return replace(document, mentions=tuple(map(self._as_named_now, document.mentions)))

    def _as_named_now(self, mention: AnnotatedMention) -> AnnotatedMention:
        own = self.new.resolve(mention.concept_id) if mention.concept_id else None
        if own is None:
            return mention
        candidates = tuple(
            replace(c, concept_id=self.new.resolve(c.concept_id) or c.concept_id)
            for c in mention.candidates
        )
        name = self.new[own].canonical_name
        return replace(mention, concept_id=own, name=name, candidates=candidates)

    def _changes(
        self, before: AnnotatedDocument, after: AnnotatedDocument, counts: Counter[str]
    ) -> Iterator[list[Any]]:
        for was, now in zip(before.mentions, after.mentions, strict=True):
            if was.concept_id == now.concept_id:
                continue
            if not was.concept_id or not now.concept_id:
                change = "linked" if now.concept_id else "unlinked"
            else:
                is_same = self.new.resolve(was.concept_id) == self.new.resolve(now.concept_id)
                change = "merged" if is_same else "moved"
            counts[change] += 1
            yield [
                *(before.doc_id, was.start, was.end, was.text, was.label, change),
                *(was.concept_id, was.name, _probability(was)),
                *(now.concept_id, now.name, _probability(now)),
            ]

    @cached_property
    def _linker(self) -> DocumentLinker:
        if self._pipeline is None:
            nlp, linker = open_pipeline(load(kb=self._kb))
        else:
            nlp, linker = open_pipeline(self._pipeline)
            types = types_for_vocabulary(linker, self.new)
            linker.settings = linker.settings.changed(types_by_label=types)
            linker.kb = self.new
        return DocumentLinker(nlp, linker, LinkingSettings("input", candidates=True))

    def _nlp(self, source: Input) -> "Language":
        """Only DocBin files are encoded with the pipeline."""
        if source.format == "docbin":
            return self._linker.nlp
        import spacy

        return spacy.blank("en")


class _Texts:
    """The documents that were annotated, read on as far as they are asked for: `annotate` keeps
    their order.

    path (str | Path): a file or folder.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self._documents = self._read()
        self._next = next(self._documents, None)

    def added_to(self, document: AnnotatedDocument) -> AnnotatedDocument:
        """document (AnnotatedDocument): of a table. RETURNS (AnnotatedDocument): with its text.
        RAISES (AngelError): it is not there, or its mentions are not in the text."""
        doc_id = document.doc_id
        while self._next is not None and self._next.doc_id != doc_id:
            self._next = next(self._documents, None)
        text = self._next.text if self._next is not None else ""
        # The table has one document of all that have this identifier one after the other.
        while self._next is not None and self._next.doc_id == doc_id:
            if self._next.text != text:
                raise AngelError(
                    f"{self._path} has different texts with the id {doc_id}. Use unique ids."
                )
            self._next = next(self._documents, None)
        for mention in document.mentions:
            if (there := text[mention.start : mention.end]) != mention.text:
                raise AngelError(
                    f"{self._path}: expected {mention.text!r} in document {doc_id}, found "
                    f"{there!r}. Give the annotated texts in order."
                )
        return replace(document, text=text)

    def _read(self) -> Iterator[CorpusDocument]:
        for source in plan_inputs([self._path]):
            yield from read_input(source, strict=True, report=CorpusReport(), options={})


def _lines(rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(rows)
    return text.getvalue()


def _probability(mention: AnnotatedMention) -> float | None:
    return None if mention.is_share else mention.score
