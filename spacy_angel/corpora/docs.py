"""Gold documents as spaCy Docs and back, and DocBin files."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import AngelError, Errors
from ..files.atomic import replacing
from .documents import CorpusDocument, GoldMention, Reading

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

GOLD_SPANS = "gold"
# spaCy drops an entity without label; in `doc.spans` the label stays empty.
NO_LABEL = "MENTION"


def to_doc(document: CorpusDocument, nlp: "Language") -> "Doc":
    """A document as a Doc with gold mentions.

    All mentions are in `doc.spans["gold"]`, in order, with label and `kb_id_` (the composite as
    one string); those that do not overlap, longer ones first, also in `doc.ents`, where a missing
    label is `MENTION`. A token that a mention begins or ends in is split there, so that offsets
    are exact.

    document (CorpusDocument): any.
    nlp (Language): its tokenizer and vocab are used.
    RETURNS (Doc): with `doc_id`, `split`, `title_end`, `steps` and `parts` in `user_data`.
    """
    from spacy.tokens import Doc, Span
    from spacy.util import filter_spans

    cuts = sorted({at for m in document.mentions for at in (m.start, m.end)})
    words, spaces = _split_words(nlp.make_doc(document.text), cuts)
    doc = Doc(nlp.vocab, words=words, spaces=spaces)
    starts = {token.idx: token.i for token in doc}
    ends = {token.idx + len(token): token.i + 1 for token in doc}
    places = [(m, starts[m.start], ends[m.end]) for m in document.mentions]
    doc.spans[GOLD_SPANS] = [
        Span(doc, start, end, label=m.label, kb_id=m.concept_ids) for m, start, end in places
    ]
    doc.ents = filter_spans(
        Span(doc, start, end, label=m.label or NO_LABEL, kb_id=m.concept_ids)
        for m, start, end in places
    )
    doc.user_data.update(
        doc_id=document.doc_id,
        split=document.split,
        title_end=document.title_end,
        steps=list(document.steps),
        parts=[list(mention.parts) for mention in document.mentions],
    )
    return doc


def _split_words(doc: "Doc", cuts: list[int]) -> tuple[list[str], list[bool]]:
    words, spaces = [], []
    # `doc.text` is put together from the tokens each time.
    text = doc.text
    at = 0
    for token in doc:
        start, end = token.idx, token.idx + len(token)
        while at < len(cuts) and cuts[at] <= start:
            at += 1
        while at < len(cuts) and cuts[at] < end:
            words.append(text[start : cuts[at]])
            spaces.append(False)
            start = cuts[at]
            at += 1
        words.append(text[start:end])
        spaces.append(bool(token.whitespace_))
    return words, spaces


def from_doc(doc: "Doc", doc_id: str = "") -> CorpusDocument:
    """The gold mentions of a Doc: its spans `gold`, or its entities where there are none.

    doc (Doc): from `to_doc`, or any other.
    doc_id (str): where the Doc has none in its `user_data`.
    RETURNS (CorpusDocument): `from_doc(to_doc(document, nlp)) == document`.
    """
    data = {key: value for key, value in doc.user_data.items() if isinstance(key, str)}
    spans = list(doc.spans.get(GOLD_SPANS, doc.ents))
    parts = data.get("parts") or []
    if len(parts) != len(spans):
        parts = [()] * len(spans)
    return CorpusDocument(
        doc_id=str(data.get("doc_id") or doc_id),
        text=doc.text,
        mentions=tuple(
            GoldMention(
                span.start_char, span.end_char, span.text, span.label_, span.kb_id_, tuple(some)
            )
            for span, some in zip(spans, parts, strict=True)
        ),
        split=str(data.get("split") or ""),
        title_end=data.get("title_end"),
        steps=tuple(data.get("steps") or ()),
    )


def read_docbin(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Documents of a `.spacy` file, or of all such files of a folder, one after the other.

    A file is unpacked whole; many documents belong in several files.

    path (Path): file or folder.
    reading (Reading): gets counts and faults; its prefix completes the ids of foreign files.
    RETURNS (Iterator[CorpusDocument]): Docs without `doc_id` are named by file and number.
    RAISES (AngelError): where a file is no DocBin, or is broken.
    """
    files = sorted(path.glob("*.spacy")) if path.is_dir() else [path]
    if not files:
        raise AngelError(Errors.E901.format(path=path, error="no .spacy files in this folder"))
    for file in files:
        for number, doc in enumerate(_docs(file), start=1):
            document = from_doc(doc, doc_id=f"{file.name}:{number}")
            yield _completed(document, reading)


def _completed(document: CorpusDocument, reading: Reading) -> CorpusDocument:
    mentions = tuple(
        replace(mention, concept_ids=reading.concept_ids(mention.concept_ids, mention.label))
        for mention in document.mentions
    )
    return replace(document, mentions=mentions, split=document.split or reading.split)


def _docs(file: Path) -> Iterator["Doc"]:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    try:
        data = file.read_bytes()
    except OSError as error:
        raise AngelError(Errors.E901.format(path=file, error=error)) from error
    vocab = Vocab()
    docs: Iterator[Any] = iter(())
    while True:
        # Bytes that are no DocBin fail in zlib, msgpack, numpy or spaCy, each in its own way.
        try:
            if data:
                docs, data = DocBin().from_bytes(data).get_docs(vocab), b""
            doc = next(docs, None)
        except Exception as error:
            raise AngelError(Errors.E423.format(path=file, error=error)) from error
        if doc is None:
            return
        yield doc


def write_docbin(documents: Iterable[CorpusDocument], path: Path, nlp: "Language") -> None:
    """Write documents as one DocBin, with everything that `to_doc` keeps.

    documents (Iterable[CorpusDocument]): all are in memory until the file is written.
    path (Path): e.g. `corpus/train.spacy`.
    nlp (Language): see `to_doc`.
    """
    from spacy.tokens import DocBin

    docs = DocBin(store_user_data=True)
    for document in documents:
        docs.add(to_doc(document, nlp))
    with replacing(path) as file:
        file.write(docs.to_bytes())
