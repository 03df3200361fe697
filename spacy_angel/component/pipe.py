"""What the components share: documents are first read, then written on, and of a batch that fails
only the bad documents are lost."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spacy import util
from spacy.pipeline import Pipe
from spacy.tokens import Doc


class DocumentPipe(Pipe):
    """A component with `predict`, which changes nothing, and `set_annotations`, which writes and
    does no harm where it is called again. What either raises goes to the error handler, as
    `nlp.set_error_handler` sets it, with the document that it was raised for."""

    name: str

    def register_attributes(self) -> None:
        """Register the attributes on `span._` and `doc._` that the component reads and writes; by
        default none. Attributes belong to a process, so `__init__` and unpickling both call it."""

    def __setstate__(self, state: Any) -> None:
        """state (Any): what spaCy's `Pipe` puts into a pickle."""
        super().__setstate__(state)  # type: ignore[misc]
        self.register_attributes()

    def predict(self, docs: Sequence[Doc]) -> Sequence[Any]:
        """docs (Sequence[Doc]): documents. RETURNS (Sequence[Any]): what is to be written, one a
        document."""
        raise NotImplementedError

    def set_annotations(self, docs: Sequence[Doc], predicted: Sequence[Any]) -> None:
        """docs (Sequence[Doc]): changed in place. predicted (Sequence[Any]): what `predict` gave
        for them."""
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
        """Annotate a stream of documents, a batch at a time.

        stream (Iterable[Doc]): documents, changed in place.
        batch_size (int): documents held at a time.
        YIELDS (Doc): the documents in their order, without those given to the error handler.
        """
        for docs in util.minibatch(stream, size=batch_size):
            yield from self._annotate(list(docs))

    def _annotate(self, docs: list[Doc]) -> Iterator[Doc]:
        """Annotate a batch; where it fails, each document alone."""
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
