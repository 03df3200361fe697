"""The component `angel_ner`: spaCy's recogniser, reading as the other components do."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from spacy.language import Language
from spacy.pipeline.ner import DEFAULT_NER_MODEL, EntityRecognizer
from spacy.tokens import Doc
from thinc.api import Model

from ..component.characters import ReadText, read
from ..component.view import in_document, view

# spaCy's, spacy-transformers' and curated ones.
_LISTENER = "listener"


class AngelNER(EntityRecognizer):
    """spaCy's `ner`, for which a text with noise (`component.characters`) is cut into tokens as it
    is read; the entities stand on the document's own tokens. A model that listens to a `tok2vec` or
    `transformer` of the pipeline reads the text as it stands, as that does.
    """

    def __call__(self, doc: Doc) -> Doc:
        """Find the entities of one document.

        doc (Doc): changed in place. RETURNS (Doc): the same.
        """
        text = self._read(doc)
        if text.is_clean:
            return super().__call__(doc)
        return _put(doc, text, super().__call__(view(doc, text)))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 256) -> Iterator[Doc]:
        """Find the entities of a stream of documents.

        stream (Iterable[Doc]): documents, changed in place.
        batch_size (int): documents held at a time.
        YIELDS (Doc): the documents in their order, without those given to the error handler.
        """
        behind: dict[int, tuple[Doc, Doc, ReadText]] = {}

        def views() -> Iterator[Doc]:
            for doc in stream:
                text = self._read(doc)
                seen = doc if text.is_clean else view(doc, text)
                if seen is not doc:
                    # The view is kept, so that no other document gets its number.
                    behind[id(seen)] = seen, doc, text
                yield seen

        for seen in super().pipe(views(), batch_size=batch_size):
            if id(seen) in behind:
                _, doc, text = behind.pop(id(seen))
                yield _put(doc, text, seen)
            else:
                yield seen

    def _read(self, doc: Doc) -> ReadText:
        text = read(doc.text)
        listens = not text.is_clean and any(_LISTENER in one.name for one in self.model.walk())
        return ReadText(doc.text) if listens else text


def _put(doc: Doc, text: ReadText, seen: Doc) -> Doc:
    """RETURNS (Doc): the document with the entities of the view, beside those that it has."""
    ents = list(doc.ents)
    taken = {token for ent in ents for token in range(ent.start, ent.end)}
    for ent in in_document(doc, text, seen.ents):
        tokens = range(ent.start, ent.end)
        if taken.isdisjoint(tokens):
            taken.update(tokens)
            ents.append(ent)
    doc.ents = ents
    return doc


def make_angel_ner(
    nlp: Language,
    name: str,
    model: Model,
    moves: Any,
    scorer: Callable | None,
    incorrect_spans_key: str | None,
    update_with_oracle_cut_size: int,
) -> AngelNER:
    """The factory `angel_ner`; its settings and files are those of spaCy's `ner`.

    nlp (Language): the pipeline. name (str): the component's name in it.
    model (Model), moves (Any), scorer (Callable | None), incorrect_spans_key (str | None),
        update_with_oracle_cut_size (int): see spaCy's `EntityRecognizer`.
    RETURNS (AngelNER): the component.
    """
    return AngelNER(
        nlp.vocab,
        model,
        name=name,
        moves=moves,
        update_with_oracle_cut_size=update_with_oracle_cut_size,
        incorrect_spans_key=incorrect_spans_key,
        scorer=scorer,
    )


Language.factory(
    "angel_ner",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={
        "moves": None,
        "update_with_oracle_cut_size": 100,
        "model": DEFAULT_NER_MODEL,
        "incorrect_spans_key": None,
        "scorer": {"@scorers": "spacy.ner_scorer.v1"},
    },
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
    func=make_angel_ner,
)
