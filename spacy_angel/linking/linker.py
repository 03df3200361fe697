"""The component `angel_linker`: mentions in, identifiers out.

It knows documents, not tensors: `mentions` reads them, `candidates` finds names for what is
mentioned, `decision` takes a concept and puts it on the document.
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
from .decision.extensions import warn_replaced
from .decision.links import rank_candidates
from .decision.scoring import gold_ids
from .decision.writing import write_links
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
    """Links mentions to the concepts of a vocabulary by generating one of its names; those of a
    batch of documents go through the model together.

    Writes `span._.kb_id` (an identifier or `NIL`), `span._.kb_ents` [(concept_id, probability)],
    which is empty with `NIL`, `span._.candidates`, and `span.kb_id_` unless `outputs.kb_id` has
    another name. Attributes on `span._` belong to the characters and the label: spans over the
    same characters have each its own. A span with another label shows that of the first that is
    linked.

    In `doc.ents` entities may get another label (`other_labels`) or be removed
    (`decision.drop_unlinked_below`).

    vocab (Vocab): the pipeline's.
    name (str): the component's name.
    model (str | Path | ModelLoader | None): a folder or hub name, or a loader; None is the shipped
        one. Opened at first use, a hub name in `initialize`.
    vocabulary (str | Path | VocabularyLoader | None): likewise.
    settings (LinkerSettings | None): everything else; None: the defaults. Any of them can be
        assigned at any time, `linker.settings.decision.threshold = 0.7`, but `device`, `dtype` and
        the names of `outputs` are read once.
    scorer (Callable | None): computes `score`.
    nlp (Language | None): the pipeline that the component is being added to.
    is_saved (bool): it is made for a saved pipeline, whose folder is read later.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): those of `types_by_label`; spaCy's components have their
        labels there."""
        return tuple(self.settings.candidates.types_by_label or ())

    @property
    def hide_labels(self) -> bool:
        """RETURNS (bool): true, for the labels are other components'."""
        return True

    @property
    def num_beams_used(self) -> int:
        """RETURNS (int): beams of the search: the setting, or else the model's own."""
        return self.settings.candidates.num_beams or self.generator.num_beams

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,
        *,
        nlp: Language | None = None,
        model: str | None = None,
        vocabulary: str | None = None,
    ) -> None:
        """Open model and vocabulary and compile the name trie; a hub name is fetched.

        get_examples (Callable | None): not used, spaCy hands it to every component.
        nlp (Language | None): the pipeline.
        model (str | None), vocabulary (str | None): in place of those given before, e.g. from
            `[initialize.components.angel_linker]`.
        RAISES (AngelError): they cannot be opened, or another linker writes the same outputs.
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
        """Find the links; changes nothing.

        docs (Iterable[Doc]): documents.
        RETURNS (list[list[Link | None]]): one a mention, in the order of `find_spans`; None where
            the mention stays as it is.
        """
        docs, span_key = list(docs), self.settings.candidates.span_key
        spans = [find_spans(doc, span_key) for doc in docs]
        if not any(spans):
            return [[] for _ in docs]
        # What other threads add to the vocabulary meanwhile is there for the next documents.
        with self.kb.reading():
            return self._pass(self.effective_kb()).links(docs, spans)

    def _pass(self, kb: "ConceptKB", settings: LinkerSettings | None = None) -> BatchLinker:
        """RETURNS (BatchLinker): with a vocabulary, and the settings of this moment."""
        settings = settings or self.settings.copy_now()
        self._forks.ensure()
        ranker, nil_prior = self.ranker, settings.reranker.nil_prior
        if nil_prior is not None:
            ranker = ranker.expecting(nil_prior)
        return BatchLinker(
            settings,
            kb,
            self.generator,
            ranker if settings.reranker.enabled else None,
            self._linked_elsewhere,
        )

    def set_annotations(self, docs: Iterable[Doc], links: Sequence[Sequence[Link | None]]) -> None:
        """Write the links on the documents.

        docs (Iterable[Doc]): as given to `predict`, with the same mentions.
        links (Sequence[Sequence[Link | None]]): as `predict` returned them.
        """
        warn_replaced(self.settings)
        for doc, doc_links in zip(docs, links, strict=True):
            write_links(doc, doc_links, self.settings)

    def rank(self, candidates: Iterable[dict[str, Any]]) -> list[tuple[str, float]]:
        """What `kb_ents` would hold without the threshold, which is for links.

        candidates (Iterable[dict[str, Any]]): of one mention, as `span._.candidates` has them.
        RETURNS (list[tuple[str, float]]): concepts with their probability, best first.
        """
        return rank_candidates(candidates)

    def explain(self, span: Span) -> "LinkExplanation":
        """Explain the link of a mention. Its document is linked once more, and not changed.

        span (Span): a mention of a document that went through the components before this one.
        RETURNS (LinkExplanation): plain values, `to_dict()`; a text with tables, `str()`.
        RAISES (AngelError): it is none of the mentions that this linker reads.
        """
        key_name = self.settings.candidates.span_key
        keys = [(s.start, s.end, s.label) for s in find_spans(span.doc, key_name)]
        key = (span.start, span.end, span.label)
        if key not in keys:
            where = "doc.ents" if key_name is None else f"doc.spans[{key_name!r}]"
            raise AngelError(
                f"angel_linker does not read the mention {span.text!r} ({span.label_}). Take a "
                f"span from {where}."
            )
        return self.explain_document(span.doc)[keys.index(key)]

    def explain_document(self, doc: Doc) -> "list[LinkExplanation]":
        """doc (Doc): a document. RETURNS (list[LinkExplanation]): see `explain`, one a mention, in
        the order of `find_spans`."""
        from .showing.explanation import explain_mentions

        with self.kb.reading():
            kb = self.effective_kb()
            without_rules = None if kb is self.kb else self._pass(self.kb)
            return explain_mentions(doc, self._pass(kb), without_rules)

    def calibrate(self, docs: Iterable[Doc]) -> "Calibration":
        """Fit the reranker's weights and the threshold, without the reranker the threshold alone,
        and use them from now on.

        docs (Iterable[Doc]): development documents that went through the components before this
            one; `kb_id_` of each mention is its right identifier, several joined by `|` or `+`,
            `NIL` or empty where it should link to NIL, as should a mention whose identifiers
            the vocabulary does not have. They are not changed.
        RETURNS (Calibration): what was fitted, and figures.
        RAISES (AngelError): no mention's right concept is among its candidates.
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
            # The fitted weights include the expected share of NIL.
            self.ranker, self.settings.reranker.nil_prior = fitted.ranker, None
        self.settings.decision.threshold = fitted.threshold
        return fitted

    def calibration_items(self, docs: Sequence[Doc]) -> "list[CalibrationItem]":
        """What thresholds and weights are fitted on.

        docs (Sequence[Doc]): as `calibrate` takes them. They are not changed.
        RETURNS (list[CalibrationItem]): one a mention whose label is linked and for which no rule
            decides.
        """
        from .decision.calibration import CalibrationItem

        # Fitted to what the model says of every mention.
        of_model = self.settings.copy_now()
        of_model.candidates.shortcuts = False
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
            # What a rule decides says nothing of the model.
            if links_label(span.label_, self.settings) and not (query and query.is_decided)
        ]

    def read_mentions(self, doc: Doc, spans: Sequence[Span]) -> list["Mention"]:
        """Mentions in their context, as the settings and the model have them read.

        doc (Doc): the document.
        spans (Sequence[Span]): its mentions.
        RETURNS (list[Mention]): one a span.
        RAISES (AngelError): see `reading.read_mentions`.
        """
        return self._pass(self.kb).read(ReadDocument(doc), spans)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score the links of predicted documents against gold ones.

        examples (Iterable[Example]): as spaCy's.
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
        """nlp (Language): the pipeline. is_saved (bool): it was saved so, by a version that did not
            refuse it, or with linkers of other pipelines in it.
        RAISES (AngelError): another linker in it writes the same outputs for the same labels; of a
            saved pipeline only a warning says so. Linkers of other labels learn of each other's, of
            which neither warns."""
        for other_name, other in nlp.components:
            if other is self or not isinstance(other, AngelLinker):
                continue
            if not may_share_labels(self.settings, other.settings):
                self._linked_elsewhere |= set(other.labels)
                other._linked_elsewhere |= set(self.labels)
                continue
            if shared := ", ".join(sorted(self.settings.written & other.settings.written)):
                message = f"The linkers {other_name!r} and {self.name!r} both write {shared}. "
                if not is_saved:
                    raise AngelError(f"{message}Change `outputs` of {self.name!r}.")
                message += "Give them different `labels` or `outputs`."
                warnings.warn(message, AngelWarning, stacklevel=2)
