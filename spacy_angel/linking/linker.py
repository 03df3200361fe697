"""The component `angel_linker`.

`mentions` reads documents, `candidates` finds names for their mentions, and `decision` chooses
concepts and writes them to the document.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from spacy import util
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from tqdm import tqdm

from ..errors import AngelError, AngelWarning
from ..model.mention import Mention
from .candidates.batch import BatchLinker
from .decision.links import rank_candidates
from .decision.scoring import gold_ids
from .decision.writing import warn_replaced, write_links
from .mentions.labels import links_label, may_share_labels
from .mentions.reading import ReadDocument, find_spans
from .parts import LinkerParts
from .settings.linker_settings import LinkerSettings
from .types import Link, Query

if TYPE_CHECKING:
    from ..vocabulary.kb import ConceptKB
    from .decision.calibration import Calibration, CalibrationItem
    from .showing.explanation import LinkExplanation


class AngelLinker(LinkerParts):
    """Links mentions to the concepts of a vocabulary by generating one of their names. All mentions
    in a batch of documents are linked together.

    Sets `span._.kb_id` (an identifier or `NIL`), `span._.kb_ents` [(concept_id, probability)],
    which is empty for `NIL`, `span._.candidates`, and, unless `outputs.kb_id` is renamed,
    `span.kb_id_`. Attributes on `span._` are stored by characters and label, so spans with
    different labels over the same characters have separate values. A span with any other label has
    the values of the first linked span over these characters.

    Entities in `doc.ents` may get another label (`other_labels`) or be removed
    (`decision.drop_unlinked_below`).

    vocab (Vocab): vocab of the pipeline.
    name (str): name of the component.
    model (str | Path | ModelLoader | None): a folder, hub name, or loader; None: the shipped model.
        It is opened when first used; a hub name is opened in `initialize`.
    vocabulary (str | Path | None): a folder, file, or name; None: the shipped vocabulary. It is
        opened when first used.
    settings (LinkerSettings | None): all other settings; None: the defaults. They can be assigned
        at any time, `linker.settings.decision.threshold = 0.7`, except `device`, `dtype`, and the
        names in `outputs`, which only take effect when the component is created.
    scorer (Callable | None): the scorer used by `score`.
    nlp (Language | None): the pipeline to which the component is added.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): the labels in `types_by_label`."""
        return tuple(self.settings.candidates.types_by_label or ())

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,
        *,
        nlp: Language | None = None,
        model: str | None = None,
        vocabulary: str | None = None,
    ) -> None:
        """Open the model and the vocabulary, and compile the name trie. If the model is given as a
        hub name, it is downloaded.

        get_examples (Callable | None): ignored; spaCy passes it to all components.
        nlp (Language | None): the pipeline.
        model (str | None), vocabulary (str | None): replacements for the model and vocabulary that
            the component was created with, e.g. from `[initialize.components.angel_linker]`.
        RAISES (AngelError): they cannot be opened, or another linker sets the same attributes.
        """
        if nlp is not None:
            self.check_outputs(nlp)
        if model is not None:
            self._model_source, self._generator = model, None
        if vocabulary is not None:
            self._vocabulary_source, self._kb = vocabulary, None
            self.take_types_of(vocabulary)
        if self._generator is None:
            self.generator = self.load_model(self._model_source, local_files_only=False)
        self.check_types()
        self.kb.search_space(self.generator.prompts, [None])

    def predict(self, docs: Iterable[Doc]) -> list[list[Link | None]]:
        """Find the links without changing the documents.

        docs (Iterable[Doc]): documents.
        RETURNS (list[list[Link | None]]): one link per mention, in the order of `find_spans`; None
            leaves the mention unchanged.
        """
        docs, span_key = list(docs), self.settings.candidates.span_key
        spans = [find_spans(doc, span_key) for doc in docs]
        if not any(spans):
            return [[] for _ in docs]
        # Concepts and names that other threads add in the meantime are used from the next batch on.
        with self.kb.reading():
            return self._pass(self.effective_kb()).links(docs, spans)

    def _pass(self, kb: "ConceptKB", settings: LinkerSettings | None = None) -> BatchLinker:
        """RETURNS (BatchLinker): a linker for the vocabulary; by default with the current
        settings."""
        settings = settings or self.settings
        ranker = self.ranker if settings.reranker.enabled else None
        if ranker is not None and settings.reranker.nil_prior is not None:
            ranker = ranker.expecting(settings.reranker.nil_prior)
        return BatchLinker(settings, kb, self.generator, ranker, self._linked_elsewhere)

    def set_annotations(self, docs: Iterable[Doc], links: Sequence[Sequence[Link | None]]) -> None:
        """Write the links to the documents.

        docs (Iterable[Doc]): the documents passed to `predict`, with the same mentions.
        links (Sequence[Sequence[Link | None]]): the result of `predict`.
        """
        warn_replaced(self.settings)
        for doc, doc_links in zip(docs, links, strict=True):
            write_links(doc, doc_links, self.settings)

    def rank(self, candidates: Iterable[dict[str, Any]]) -> list[tuple[str, float]]:
        """Compute `kb_ents` without the threshold, which only applies to links.

        candidates (Iterable[dict[str, Any]]): `span._.candidates` of a mention.
        RETURNS (list[tuple[str, float]]): concepts and probabilities, best first.
        """
        return rank_candidates(candidates)

    def explain(self, span: Span) -> "LinkExplanation":
        """Explain the link of a mention. Its document is linked again, but not changed.

        span (Span): a mention of a document that was processed by the components before this one.
        RETURNS (LinkExplanation): the explanation; `to_dict()` returns plain values, `str()` a text
            with tables.
        RAISES (AngelError): the linker does not read this mention.
        """
        span_key = self.settings.candidates.span_key
        key = (span.start, span.end, span.label)
        for i, other in enumerate(find_spans(span.doc, span_key)):
            if (other.start, other.end, other.label) == key:
                return self.explain_document(span.doc)[i]
        where = "doc.ents" if span_key is None else f"doc.spans[{span_key!r}]"
        raise AngelError(
            f"angel_linker does not read the mention {span.text!r} ({span.label_}). Take a span "
            f"from {where}."
        )

    def explain_document(self, doc: Doc) -> "list[LinkExplanation]":
        """doc (Doc): a document. RETURNS (list[LinkExplanation]): one explanation per mention, in
        the order of `find_spans`; see `explain`."""
        from .showing.explanation import explain_mentions

        with self.kb.reading():
            return explain_mentions(doc, self._pass(self.effective_kb()))

    def calibrate(self, docs: Iterable[Doc]) -> "Calibration":
        """Fit the weights of the reranker and the threshold (without the reranker, only the
        threshold), and use them from now on.

        docs (Iterable[Doc]): development documents that were processed by the components before
            this one. `kb_id_` of each mention is its gold identifier, or several joined by `|` or
            `+`. It is `NIL` or empty if the mention should get NIL, as should mentions with
            identifiers that are not in the vocabulary. The documents are not changed.
        RETURNS (Calibration): the fitted values and metrics.
        RAISES (AngelError): no mention has a gold concept among its candidates.
        """
        from .decision.calibration import calibrate

        items = []
        with tqdm(desc="Calibrating", unit=" documents", disable=None) as progress:
            for batch in util.minibatch(docs, size=64):
                items += self.calibration_items(list(batch))
                progress.update(len(batch))
        ranker = self._pass(self.kb).ranker
        fitted = calibrate(items, ranker, self.settings.decision.threshold)
        if fitted.ranker is not None:
            # The fitted weights already account for the expected share of NIL.
            self.ranker, self.settings.reranker.nil_prior = fitted.ranker, None
        self.settings.decision.threshold = fitted.threshold
        return fitted

    def calibration_items(self, docs: Sequence[Doc]) -> "list[CalibrationItem]":
        """Collect the data for fitting thresholds and weights.

        docs (Sequence[Doc]): see `calibrate`. They are not changed.
        RETURNS (list[CalibrationItem]): one item per mention, except mentions whose label is not
            linked, and mentions that are decided by a curation rule.
        """
        from .decision.calibration import CalibrationItem

        # Without shortcuts, the model is run for every mention.
        of_model = self.settings.changed({"candidates": {"shortcuts": False}})
        spans = [find_spans(doc, of_model.candidates.span_key) for doc in docs]
        with self.kb.reading():
            one_pass = self._pass(self.effective_kb(), of_model)
            candidates = one_pass.candidates(docs, spans, overwrite=True)
        return [
            CalibrationItem(
                query or Query(Mention(span.text), span.label_),
                frozenset(c for c in gold_ids(span, self.kb.resolve) if c in self.kb),
            )
            for doc_spans, doc_found in zip(spans, candidates, strict=True)
            for span, query in zip(doc_spans, doc_found, strict=True)
            # Decisions of rules are not evidence about the model.
            if links_label(span.label_, self.settings) and not (query and query.is_decided)
        ]

    def read_mentions(self, doc: Doc, spans: Sequence[Span]) -> list["Mention"]:
        """Return mentions with their context, according to the settings and the model.

        doc (Doc): the document.
        spans (Sequence[Span]): its mentions.
        RETURNS (list[Mention]): one mention per span.
        RAISES (AngelError): see `reading.read_mentions`.
        """
        return self._pass(self.kb).read(ReadDocument(doc), spans)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score the links of predicted documents against gold documents.

        examples (Iterable[Example]): pairs of predicted and gold documents.
        RETURNS (dict[str, Any]): see `scoring.score_links`; empty without a scorer.
        """
        if self.scorer is None:
            return {}
        return self.scorer(
            examples,
            kb_id_attr=self.settings.outputs.kb_id,
            span_key=self.settings.candidates.span_key,
            resolve=self.kb.resolve,
            is_linked=partial(links_label, settings=self.settings),
            **kwargs,
        )

    def check_outputs(self, nlp: Language, *, is_saved: bool = False) -> None:
        """Check that no other linker in the pipeline sets the same attributes for the same labels.
        Linkers for different labels learn each other's labels, so that neither warns about mentions
        that the other one links.

        nlp (Language): the pipeline.
        is_saved (bool): only warn, because the pipeline was saved by a version that allowed it, or
            with linkers from other pipelines.
        RAISES (AngelError): another linker sets the same attributes for the same labels.
        """
        for other_name, other in nlp.components:
            if other is self or not isinstance(other, AngelLinker):
                continue
            if not may_share_labels(self.settings, other.settings):
                self._linked_elsewhere |= set(other.labels)
                other._linked_elsewhere |= set(self.labels)
                continue
            own, others = (set(one.settings.outputs.to_dict().values()) for one in (self, other))
            if shared := ", ".join(f"span._.{name}" for name in sorted(own & others)):
                message = f"The linkers {other_name!r} and {self.name!r} both write {shared}. "
                if not is_saved:
                    raise AngelError(f"{message}Change `outputs` of {self.name!r}.")
                message += "Give them different `types_by_label` or `outputs`."
                warnings.warn(message, AngelWarning, stacklevel=2)
