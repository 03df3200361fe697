"""The component `angel_linker`.

`mentions` reads documents, `candidates` finds names for their mentions, and `decision` chooses
concepts and writes them to the document.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import srsly
from spacy import util
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab
from tqdm import tqdm
from typing_extensions import Self

from ..about import SHIPPED_NAME, SHIPPED_NAMES
from ..component.block import read_block, require_spans
from ..component.forks import use_one_thread_in_forks
from ..component.pipe import DocumentPipe
from ..component.running import OPENING
from ..errors import AngelError, AngelWarning
from ..files.atomic import replacing
from ..vocabulary.changes.curation_file import CurationFile
from ..vocabulary.changes.rules import read_rules
from ..vocabulary.sources.installed import load_vocabulary, vocabulary_path
from .candidates.batch import BatchLinker
from .decision.scoring import gold_ids
from .decision.writing import set_extensions, write_links
from .mentions.labels import check_types, limit_types, links_label, may_share_labels
from .mentions.reading import find_spans
from .ranking.ranker import Ranker, rank_candidates, shipped_ranker
from .settings.linker_settings import LinkerSettings, types_of
from .shared_parts import find_part, share_parts
from .types import Link

if TYPE_CHECKING:
    from ..search.generator import Generator
    from ..vocabulary.kb import ConceptKB
    from .decision.calibration import Calibration, CalibrationItem
    from .showing.explanation import LinkExplanation

RULES_FILE, RANKER_FILE = "curation.tsv", "ranker.json"
"""Copies of the curation rules and the fitted weights, saved with a pipeline."""

_BLOCK_OF = {entry: block for block, own in LinkerSettings().to_dict().items() for entry in own}


class AngelLinker(DocumentPipe):
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
    model (str | Path | None): a folder or hub name; None: the shipped model. It is opened when
        first used; a hub name is opened in `initialize`.
    vocabulary (str | Path | None): a folder, file, or name; None: the shipped vocabulary. It is
        opened when first used.
    settings (LinkerSettings | None): all other settings; None: the defaults. They can be assigned
        at any time, `linker.settings.decision.threshold = 0.7`, except `device`, `dtype`, and the
        names in `outputs`, which only take effect when the component is created.
    scorer (Callable | None): the scorer used by `score`.
    nlp (Language | None): the pipeline to which the component is added.
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "angel_linker",
        *,
        model: str | Path | None = None,
        vocabulary: str | Path | None = None,
        settings: LinkerSettings | None = None,
        scorer: Callable | None = None,
        nlp: Language | None = None,
    ) -> None:
        self.vocab = vocab
        self.settings = (settings or LinkerSettings()).changed({})
        self._nlp = nlp
        self._config: dict[str, Any] = {}
        self.name = name
        self.scorer = scorer
        self.ranker = shipped_ranker()
        self._model_source = model
        self._vocabulary_source = vocabulary
        self._generator: Generator | None = None
        self._kb: ConceptKB | None = None
        self._curation: CurationFile | None = None
        self._linked_elsewhere: set[str] = set()
        if self.settings.candidates.types_by_label is None:
            self.settings.candidates.types_by_label = types_of(vocabulary)
        self.register_attributes()
        # scispaCy's abbreviation detector warns about every text without abbreviations.
        warnings.filterwarnings("ignore", message=r"\[W036\]", module=r"scispacy\.abbreviation")

    if not TYPE_CHECKING:  # mypy reports unknown attributes by itself

        def __setattr__(self, name: str, value: Any) -> None:
            """RAISES (AttributeError): the name is the name of a setting; assigning it here would
            have no effect."""
            if block := _BLOCK_OF.get(name):
                raise AttributeError(
                    f"{name} is a setting of angel_linker: assign "
                    f"linker.settings.{block}.{name} instead of linker.{name}."
                )
            super().__setattr__(name, value)

    def register_attributes(self) -> None:
        """Register the attributes that the linker sets, under the names in its `outputs`.

        RAISES (AngelError): another component computes an attribute with the same name.
        """
        set_extensions(self.settings)

    @property
    def name(self) -> str:
        """RETURNS (str): name of the component. spaCy sets it when the component is added to a
        pipeline or renamed; from then on, the pipeline's config shows the current settings."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name
        if self._nlp is None or all(c is not self for _, c in self._nlp.components):
            return
        # Keep the component's config rather than the pipeline. spaCy moves it when the component is
        # renamed, and copies of the pipeline have their own.
        self._config = self._nlp.get_pipe_config(name)
        if self.settings.candidates.span_key is not None:
            require_spans(self._nlp, name)
        self._nlp = None
        for block in LinkerSettings.blocks():
            getattr(self.settings, block).show_in(self._config.setdefault(block, {}))

    @property
    def generator(self) -> "Generator":
        """RETURNS (Generator): the model, opened when first used."""
        with OPENING:
            if self._generator is None:
                self.generator = self.load_model(self._model_source, local_files_only=True)
            assert self._generator is not None
            return self._generator

    @generator.setter
    def generator(self, generator: "Generator") -> None:
        use_one_thread_in_forks()
        self._generator = generator

    @property
    def kb(self) -> "ConceptKB":
        """RETURNS (ConceptKB): the vocabulary, opened when first used. Concepts and names can be
        added and removed at run time, and another vocabulary can be assigned."""
        with OPENING:
            if self._kb is None:
                self._kb = load_vocabulary(self._vocabulary_source)
            return self._kb

    @kb.setter
    def kb(self, kb: "ConceptKB") -> None:
        from ..vocabulary.kb import ConceptKB

        if not isinstance(kb, ConceptKB):
            raise AngelError(f"angel_linker's kb: expected a ConceptKB, got {kb!r}.")
        self._kb = kb
        limit_types(self.settings, kb)

    def effective_kb(self) -> "ConceptKB":
        """Apply the curation rules: those of the vocabulary, and those in the file given by the
        setting `curation`. The file is checked once per batch of documents, and reloaded if it has
        changed.

        RETURNS (ConceptKB): a copy of `kb` with the rules applied, or `kb` if there are no rules.
        RAISES (AngelError): the file cannot be read, and no earlier version of it has been read.
        """
        return self._curation_file().over(self.kb)

    @contextmanager
    def using(
        self,
        *,
        candidates: Mapping[str, Any] | None = None,
        reranker: Mapping[str, Any] | None = None,
        decision: Mapping[str, Any] | None = None,
        runtime: Mapping[str, Any] | None = None,
    ) -> Iterator[None]:
        """Use other settings within a `with` block. Changes to other settings in the block are
        kept.

        candidates (Mapping[str, Any] | None), reranker (Mapping[str, Any] | None), decision
            (Mapping[str, Any] | None), runtime (Mapping[str, Any] | None): settings of each block,
            e.g. `using(decision={"threshold": 0.7})`.
        RAISES (AngelError): an unknown setting or an invalid value.
        """
        blocks = {"candidates": candidates, "reranker": reranker, "runtime": runtime}
        blocks["decision"] = decision
        changed = {name: block for name, block in blocks.items() if block}
        own = self.settings.to_dict()
        self.settings.assign(changed)
        try:
            yield
        finally:
            self.settings.assign({b: {n: own[b][n] for n in changed[b]} for b in changed})

    @property
    def labels(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): the labels in `types_by_label`."""
        return tuple(self.settings.candidates.types_by_label or ())

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,
        *,
        nlp: Language | None = None,
    ) -> None:
        """Open the model and the vocabulary, and compile the name trie. If the model is given as a
        hub name, it is downloaded.

        get_examples (Callable | None): ignored; spaCy passes it to all components.
        nlp (Language | None): ignored, too.
        RAISES (AngelError): they cannot be opened.
        """
        if self._generator is None:
            self.generator = self.load_model(self._model_source)
        check_types(self.settings, self.kb)
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
            return self._pass().links(docs, spans)

    def _pass(self) -> BatchLinker:
        """RETURNS (BatchLinker): a linker with the current settings and curation rules."""
        settings = self.settings
        ranker = self.ranker if settings.reranker.enabled else None
        if ranker is not None and settings.reranker.nil_prior is not None:
            ranker = ranker.expecting(settings.reranker.nil_prior)
        kb = self.effective_kb()
        return BatchLinker(settings, kb, self.generator, ranker, self._linked_elsewhere)

    def set_annotations(self, docs: Iterable[Doc], links: Sequence[Sequence[Link | None]]) -> None:
        """Write the links to the documents.

        docs (Iterable[Doc]): the documents passed to `predict`, with the same mentions.
        links (Sequence[Sequence[Link | None]]): the result of `predict`.
        """
        self.register_attributes()
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
        RETURNS (LinkExplanation): the explanation; `to_dict()` returns plain values, `str()` text.
        RAISES (AngelError): the linker does not read this mention.
        """
        spans = find_spans(span.doc, self.settings.candidates.span_key)
        own = [(s.start, s.end, s.label) for s in spans]
        if (given := (span.start, span.end, span.label)) in own:
            return self.explain_document(span.doc)[own.index(given)]
        raise AngelError(
            f"angel_linker does not read the mention {span.text!r} ({span.label_}). Take a span "
            "from doc.ents, or from the span group in its setting candidates.span_key."
        )

    def explain_document(self, doc: Doc) -> "list[LinkExplanation]":
        """doc (Doc): a document. RETURNS (list[LinkExplanation]): one explanation per mention, in
        the order of `find_spans`; see `explain`."""
        from .showing.explanation import explain_mentions

        with self.kb.reading():
            return explain_mentions(doc, self._pass())

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
        shown = tqdm(docs, desc="Calibrating", unit=" documents", disable=None)
        for batch in util.minibatch(shown, size=64):
            items += self.calibration_items(list(batch))
        fitted = calibrate(items, self._pass().ranker, self.settings.decision.threshold)
        if fitted.ranker is not None:
            # The fitted weights already account for the expected share of NIL.
            self.ranker, self.settings.reranker.nil_prior = fitted.ranker, None
        self.settings.decision.threshold = fitted.threshold
        return fitted

    def calibration_items(self, docs: Sequence[Doc]) -> "list[CalibrationItem]":
        """Collect the data for fitting thresholds and weights.

        docs (Sequence[Doc]): see `calibrate`. They are not changed.
        RETURNS (list[CalibrationItem]): one item per mention, except mentions whose label is not
            linked, and mentions with curation rules.
        """
        from .decision.calibration import CalibrationItem

        spans = [find_spans(doc, self.settings.candidates.span_key) for doc in docs]
        # Without shortcuts, the model is run for every mention.
        with self.using(candidates={"shortcuts": False}), self.kb.reading():
            found = self._pass().candidates(docs, spans, overwrite=True)
        return [
            CalibrationItem(query, gold_ids(span.kb_id_, self.kb))
            for doc_spans, doc_found in zip(spans, found, strict=True)
            for span, query in zip(doc_spans, doc_found, strict=True)
            # Decisions of rules are not evidence about the model.
            if query is not None and query.constraint is None
            if links_label(span.label_, self.settings)
        ]

    def check_outputs(self, nlp: Language) -> None:
        """Warn if another linker in the pipeline sets the same attributes for the same labels.
        Linkers for different labels learn each other's labels, so that neither warns about mentions
        that the other one links.

        nlp (Language): the pipeline.
        """
        for other_name, other in nlp.components:
            if other is self or not isinstance(other, AngelLinker):
                continue
            own, others = (set(c.settings.outputs.to_dict().values()) for c in (self, other))
            if not may_share_labels(self.settings, other.settings):
                self._linked_elsewhere |= set(other.labels)
                other._linked_elsewhere |= set(self.labels)
            elif shared := ", ".join(f"span._.{name}" for name in sorted(own & others)):
                warnings.warn(
                    f"The linkers {other_name!r} and {self.name!r} both write {shared}, so the "
                    "later one overwrites the links. Give them different `types_by_label` or "
                    "`outputs`.",
                    AngelWarning,
                    stacklevel=2,
                )

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the model, vocabulary, fitted weights, and a copy of the curation rules. Settings
        are in the pipeline's config.

        path (str | Path): a folder.
        exclude (Iterable[str]): parts to leave out: `model`, `kb`, `curation`, `ranker`.
        """
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        if "model" not in exclude:
            self.generator.to_disk(folder / "model")
        if "kb" not in exclude:
            self.kb.to_disk(folder / "kb")
        for name, content in self._files(exclude).items():
            with replacing(folder / name) as file:
                file.write(content)
        share_parts(folder)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Load a linker saved by `to_disk`, without using the network. If the config with which
        this component was created differs from the config of the saved pipeline, the values in
        this component's config take precedence.

        path (str | Path): a folder; the model may be missing if the config names one.
        exclude (Iterable[str]): see `to_disk`.
        RETURNS (AngelLinker): this component.
        """
        from ..vocabulary.kb import ConceptKB

        folder, decision = Path(path), self.settings.decision
        saved = read_block(folder, ("model", "vocabulary"))
        # Sources that differ from those of the saved pipeline.
        own = {key for key in saved if self._config.get(key) not in (None, saved[key])}
        if "model" in own:
            self.check_sources()
        elif "model" not in exclude:
            model = find_part(folder, "model")
            if self._model_source is None or model.exists():
                self.generator = self.load_model(model, local_files_only=True)
        if "vocabulary" in own:
            self.settings.candidates.types_by_label = types_of(self._vocabulary_source)
        elif "kb" not in exclude:
            self._kb = ConceptKB.from_disk(find_part(folder, "kb"))
        if self._kb is not None or "vocabulary" in own:
            check_types(self.settings, self.kb)
        if "ranker" not in exclude and (folder / RANKER_FILE).exists():
            self.ranker = Ranker.from_disk(folder / RANKER_FILE)
        is_same = decision.curation == saved.get("decision", {}).get("curation")
        if "curation" not in exclude and (folder / RULES_FILE).exists() and (is_same or not saved):
            decision.curation = str(folder / RULES_FILE)
        if decision.curation is not None:
            read_rules(Path(decision.curation))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialize the linker to bytes.

        exclude (Iterable[str]): see `to_disk`.
        RETURNS (bytes): the serialized linker.
        """
        parts = self._files(exclude)
        if "model" not in exclude:
            parts["model"] = self.generator.to_bytes()
        if "kb" not in exclude:
            parts["kb"] = self.kb.to_bytes()
        return srsly.msgpack_dumps(parts)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Load a linker from bytes.

        data (bytes): the output of `to_bytes`.
        exclude (Iterable[str]): see `to_disk`.
        RETURNS (AngelLinker): this component.
        """
        from ..search.generator import Generator
        from ..vocabulary.kb import ConceptKB

        parts = srsly.msgpack_loads(data)
        runtime, decision = self.settings.runtime, self.settings.decision
        if "model" in parts and "model" not in exclude:
            self.generator = Generator.from_bytes(
                parts["model"], device=runtime.device, dtype=runtime.dtype
            )
        if "kb" in parts and "kb" not in exclude:
            self._kb = ConceptKB.from_bytes(parts["kb"])
            check_types(self.settings, self.kb)
        if RANKER_FILE in parts and "ranker" not in exclude:
            self.ranker = Ranker.from_json(parts[RANKER_FILE])
        if RULES_FILE in parts and "curation" not in exclude:
            decision.curation = decision.curation or RULES_FILE
            self._curation = CurationFile(decision.curation, parts[RULES_FILE])
        return self

    def _files(self, exclude: Iterable[str]) -> dict[str, bytes]:
        """RETURNS (dict[str, bytes]): name of each small file to save → its content."""
        files = {}
        if self.settings.decision.curation is not None and "curation" not in exclude:
            files[RULES_FILE] = self._curation_file().content()
        if self.ranker is not shipped_ranker() and "ranker" not in exclude:
            files[RANKER_FILE] = self.ranker.to_json().encode()
        return files

    def _curation_file(self) -> CurationFile:
        """RETURNS (CurationFile): the file given by the setting `curation`."""
        path = self.settings.decision.curation
        if self._curation is None or self._curation.path != path:
            self._curation = CurationFile(path)
        return self._curation

    def check_sources(self) -> None:
        """Check that the model and the vocabulary exist, without loading them. A string that could
        be a hub name is accepted as a model.

        RAISES (AngelError): one of them does not exist.
        """
        # The shipped ones are needed when they are opened.
        model, vocabulary = self._model_source, self._vocabulary_source
        if model is not None and str(model) not in SHIPPED_NAMES:
            from ..model.checkpoint import local_folder

            local_folder(model)
        if vocabulary is not None and str(vocabulary) not in SHIPPED_NAMES:
            vocabulary_path(vocabulary)

    def load_model(
        self,
        source: str | Path | None,
        *,
        tokenizer: str | Path | None = None,
        preset: str | None = None,
        local_files_only: bool = False,
    ) -> "Generator":
        """Load a model with the device and number type in `settings.runtime`.

        source (str | Path | None): a folder or hub name; None: the shipped model.
        tokenizer (str | Path | None): folder or hub name, if the model has no tokenizer.
        preset (str | None): key in `model.presets.PRESETS` that describes how the model was
            trained, if this cannot be inferred from its files or name.
        local_files_only (bool): do not download anything.
        RETURNS (Generator): the model, which can be assigned to `generator`.
        RAISES (AngelError): it cannot be loaded.
        """
        from ..search.generator import Generator
        from ..vocabulary.storage.arrays import is_folder_of
        from ..vocabulary.storage.table import VOCABULARY

        if source is not None and is_folder_of(Path(source), VOCABULARY):
            raise AngelError(f"{source} is a vocabulary, not a model. Use load(kb=...) or --kb.")
        runtime = self.settings.runtime
        return Generator.from_pretrained(
            source or SHIPPED_NAME,
            device=runtime.device,
            dtype=runtime.dtype,
            tokenizer=tokenizer,
            preset=preset,
            local_files_only=local_files_only,
        )
