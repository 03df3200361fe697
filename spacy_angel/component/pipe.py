"""Base class of the components: documents are read in `predict` and changed in `set_annotations`.
If a batch fails, only the documents that cause the failure are skipped."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spacy import util
from spacy.pipeline import Pipe
from spacy.tokens import Doc


class DocumentPipe(Pipe):
    """A component with `predict`, which does not change documents, and `set_annotations`, which
    does and may be called repeatedly. Exceptions are passed to the error handler
    (`nlp.set_error_handler`) with the document that caused them."""

    name: str

    def register_attributes(self) -> None:
        """Register the attributes on `span._` and `doc._` that the component reads and writes; none
        by default. Attributes are registered per process, so `__init__` and unpickling both call
        it."""

    def __setstate__(self, state: Any) -> None:
        """state (Any): the pickled state of spaCy's `Pipe`."""
        super().__setstate__(state)  # type: ignore[misc]
        self.register_attributes()

    def predict(self, docs: Sequence[Doc]) -> Sequence[Any]:
        """docs (Sequence[Doc]): documents. RETURNS (Sequence[Any]): the annotations of each
        document."""
        raise NotImplementedError

    def set_annotations(self, docs: Sequence[Doc], predicted: Sequence[Any]) -> None:
        """docs (Sequence[Doc]): changed in place. predicted (Sequence[Any]): the result of
        `predict`."""
        raise NotImplementedError

    def __call__(self, doc: Doc) -> Doc:
        """Annotate one document.

        doc (Doc): changed in place. RETURNS (Doc): the same.
        """
        try:
            self.set_annotations([doc], self.predict([doc]))
            return doc
        except Exception as error:
            self.get_error_handler()(self.name, self, [doc], error)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate a stream of documents in batches.

        stream (Iterable[Doc]): documents, changed in place.
        batch_size (int): documents per batch.
        YIELDS (Doc): the documents in the same order, except those passed to the error handler.
        """
        for docs in util.minibatch(stream, size=batch_size):
            yield from self._annotate(list(docs))

    def _annotate(self, docs: list[Doc]) -> Iterator[Doc]:
        """Annotate a batch; if it fails, annotate each document separately."""
        try:
            self.set_annotations(docs, self.predict(docs))
        except Exception as error:
            if len(docs) > 1:
                for doc in docs:
                    yield from self._annotate([doc])
            else:
                self.get_error_handler()(self.name, self, docs, error)
            return
        yield from docs
