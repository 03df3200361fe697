"""DocBin: spaCy's own files of Docs."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import AngelError, cannot_read
from ...files.atomic import replacing
from ...files.formats import Format
from ...files.reading import check_packing
from ..docs import from_doc, to_doc
from ..documents import CorpusDocument, Reading

_PIECE_BYTES = 2**20

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


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
        raise AngelError(cannot_read(path, "no .spacy files in this folder"))
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
        raise AngelError(cannot_read(file, error)) from error
    unpacking, rest, size = zlib.decompressobj(), data, 0
    vocab = Vocab()
    docs: Iterator[Any] = iter(())
    while True:
        # Bytes that are no DocBin fail in zlib, msgpack, numpy or spaCy, each in its own way.
        try:
            while rest:
                size += len(unpacking.decompress(rest, _PIECE_BYTES))
                check_packing(size, len(data), str(file))
                rest = unpacking.unconsumed_tail
            if data:
                docs, data = DocBin().from_bytes(data).get_docs(vocab), b""
            doc = next(docs, None)
        except AngelError:
            raise
        except Exception as error:
            raise AngelError(f"{file} is not a spaCy DocBin, or is damaged ({error}).") from error
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


def _recognises(path: Path, head: str) -> bool:
    return any(path.glob("*.spacy")) if path.is_dir() else path.suffix == ".spacy"


def _write(documents: Iterable[CorpusDocument], path: Path) -> None:
    import spacy

    write_docbin(documents, path, spacy.blank("en"))


FORMAT = Format("docbin", read_docbin, _recognises, write=_write)
