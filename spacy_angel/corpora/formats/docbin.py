"""spaCy's DocBin files."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import AngelError, cannot_read
from ...files.atomic import replacing
from ...files.formats import Format
from ...files.reading import check_packing
from ..docs import from_doc, to_doc
from ..documents import CorpusDocument, Reading

_PIECE_BYTES = 2**20

if TYPE_CHECKING:
    from spacy.tokens import Doc


def read_docbin(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Read a `.spacy` file, or all `.spacy` files in a folder.

    Each file is loaded into memory, so split large corpora into several files.

    path (Path): file or folder.
    reading (Reading): completes identifiers with its prefix.
    RETURNS (Iterator[CorpusDocument]): the documents. Docs without `doc_id` are named after their
        file and position.
    RAISES (AngelError): if a file is not a DocBin, or is damaged.
    """
    files = sorted(path.glob("*.spacy")) if path.is_dir() else [path]
    if not files:
        raise AngelError(cannot_read(path, "no .spacy files in this folder"))
    for file in files:
        for number, doc in enumerate(_docs(file), start=1):
            document = from_doc(doc, doc_id=f"{file.name}:{number}")
            mentions = tuple(
                replace(m, concept_ids=reading.concept_ids(m.concept_ids, m.label))
                for m in document.mentions
            )
            yield replace(document, mentions=mentions)


def _docs(file: Path) -> Iterator["Doc"]:
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    # For invalid content, zlib, msgpack, numpy, and spaCy raise different exceptions.
    try:
        rest = data = file.read_bytes()
        unpacking, size = zlib.decompressobj(), 0
        while rest:
            size += len(unpacking.decompress(rest, _PIECE_BYTES))
            check_packing(size, len(data), str(file))
            rest = unpacking.unconsumed_tail
        docs = DocBin().from_bytes(data).get_docs(Vocab())
        while (doc := next(docs, None)) is not None:
            yield doc
    except (AngelError, GeneratorExit):
        raise
    except OSError as error:
        raise AngelError(cannot_read(file, error)) from error
    except Exception as error:
        raise AngelError(f"{file} is not a spaCy DocBin, or is damaged ({error}).") from error


def write_docbin(documents: Iterable[CorpusDocument], path: Path) -> None:
    """Write documents as one DocBin, with everything that `to_doc` keeps.

    documents (Iterable[CorpusDocument]): documents, which are kept in memory until the file is
        written.
    path (Path): file to write, e.g. `corpus/train.spacy`.
    """
    import spacy
    from spacy.tokens import DocBin

    nlp = spacy.blank("en")
    docs = DocBin(store_user_data=True)
    for document in documents:
        docs.add(to_doc(document, nlp))
    with replacing(path) as file:
        file.write(docs.to_bytes())


def _recognises(path: Path, head: str) -> bool:
    return any(path.glob("*.spacy")) if path.is_dir() else path.suffix == ".spacy"


FORMAT = Format("docbin", read_docbin, _recognises, write=write_docbin)
