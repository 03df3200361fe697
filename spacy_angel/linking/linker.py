"""The component `angel_linker`: mentions in, identifiers out.

It knows documents, not tensors: `mentions` reads them, `candidates` finds names for what is
mentioned, `decision` takes a concept and puts it on the document.
"""

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy import util
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab
from tqdm import tqdm

from ..component.block import read_block
from ..component.forks import OneThreadInForks, quiet_tokenizers_in_forks
from ..component.pipe import DocumentPipe
from ..component.running import OPENING
from ..errors import AngelError, AngelWarning
from ..files.atomic import replacing, write_json
from ..files.json_values import parse_as
from ..model.mention import Mention
from ..vocabulary.changes.curation_file import CurationFile
from .candidates.batch import BatchLinker
from .decision.extensions import set_extensions, warn_replaced
from .decision.links import rank_candidates
from .decision.scoring import gold_ids
from .decision.writing import write_links
from .mentions.permitted import check_types, known_types, labels_of, links_label, may_share_labels
from .mentions.reading import ReadDocument, find_spans
from .ranking.ranker import Ranker, shipped_ranker
from .settings.linker_settings import LinkerSettings
from .settings.loaders import (
    ModelLoader,
    VocabularyLoader,
    check_files,
    check_sources,
    load_checkpoint,
    load_vocabulary,
)
from .settings.presets import types_of
from .shared_parts import find_part, share_parts
from .types import Link, Query

if TYPE_CHECKING:
    from ..search.generator import Generator
    from ..vocabulary.kb import ConceptKB
    from .decision.calibration import Calibration, CalibrationItem
    from .showing.explanation import LinkExplanation

SETTINGS_FILE = "settings.json"
RULES_FILE, RANKER_FILE = "curation.tsv", "ranker.json"
"""Copies of the rules of curation and of fitted weights, saved with a pipeline."""

_BLOCK_OF = {entry: block for block, own in LinkerSettings().to_dict().items() for entry in own}


class AngelLinker(DocumentPipe):
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

    def __init__(
        self,
        vocab: Vocab,
        name: str = "angel_linker",
        *,
        model: str | Path | ModelLoader | None = None,
        vocabulary: str | Path | VocabularyLoader | None = None,
        settings: LinkerSettings | None = None,
        scorer: Callable | None = None,
        nlp: Language | None = None,
        is_saved: bool = False,
    ) -> None:
        self.vocab = vocab
        self.settings = (settings or LinkerSettings()).copy_now()
        self._nlp, self._is_saved = nlp, is_saved
        self._config: dict[str, Any] = {}
        self.name = name
        self.scorer = scorer
        self.ranker = shipped_ranker()
        self._model_source = model
        self._vocabulary_source = vocabulary
        self._generator: Generator | None = None
        self._kb: ConceptKB | None = None
        self._curation: CurationFile | None = None
        self._frozen: ConceptKB | None = None
        self._linked_elsewhere: set[str] = set()
        self._forks = OneThreadInForks()
        if self.settings.candidates.types_by_label is None:
            self._take_types_of(vocabulary)
        self.register_attributes()
        # scispaCy's abbreviation detector warns of every text that has no abbreviation.
        warnings.filterwarnings("ignore", message=r"\[W036\]", module=r"scispacy\.abbreviation")

    if not TYPE_CHECKING:  # mypy reports unknown attributes by itself

        def __setattr__(self, name: str, value: Any) -> None:
            """RAISES (AttributeError): the name is that of a setting, which would have no effect
            here."""
            if block := _BLOCK_OF.get(name):
                raise AttributeError(
                    f"{name} is a setting of angel_linker: assign "
                    f"linker.settings.{block}.{name} instead of linker.{name}."
                )
            super().__setattr__(name, value)

    def register_attributes(self) -> None:
        """Register the attributes that it writes, under the names of its `outputs`.

        RAISES (AngelError): another component computes an attribute of that name.
        """
        set_extensions(self.settings)

    @property
    def name(self) -> str:
        """RETURNS (str): the component's, which spaCy sets as soon as it is in a pipeline, and
        whenever it is renamed. From then on the pipeline's config shows the settings in use."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name
        if self._nlp is None or all(c is not self for _, c in self._nlp.components):
            return
        in_pipeline = next(n for n, c in self._nlp.components if c is self)
        # The block itself, which spaCy moves along when the component is renamed, and of which a
        # copy of the pipeline has its own; the pipeline is not held.
        self._config = self._nlp.get_pipe_config(in_pipeline)
        if self.settings.candidates.span_key is not None:
            # A factory's requirements are those of all components that it makes.
            meta = replace(self._nlp.get_pipe_meta(in_pipeline), requires=["doc.spans"])
            self._nlp._pipe_meta[in_pipeline] = meta
        self._nlp = None
        for block in LinkerSettings.blocks():
            getattr(self.settings, block).show_in(self._config, block)

    @property
    def labels(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): those of `types_by_label`; spaCy's components have their
        labels there."""
        return labels_of(self.settings)

    @property
    def hide_labels(self) -> bool:
        """RETURNS (bool): true, for the labels are other components'."""
        return True

    def __repr__(self) -> str:
        model: Any = self._generator or self._model_source or "the shipped one"
        kb: Any = self._vocabulary_source or "the shipped one" if self._kb is None else self._kb
        return f"<AngelLinker {self.name!r}: model {model}, vocabulary {kb}>"

    @property
    def generator(self) -> "Generator":
        """RETURNS (Generator): the model, opened if it is not yet."""
        if self._generator is None:
            with OPENING:
                if self._generator is None:
                    self.generator = self._load_model(self._model_source, local_files_only=True)
            assert self._generator is not None
        return self._generator

    @generator.setter
    def generator(self, generator: "Generator") -> None:
        quiet_tokenizers_in_forks()
        self._generator = generator

    @property
    def kb(self) -> "ConceptKB":
        """RETURNS (ConceptKB): the vocabulary, opened if it is not yet. Concepts and names can be
        added and removed while running; another one can be set."""
        if self._kb is None:
            with OPENING:
                if self._kb is None:
                    source = self._vocabulary_source
                    self._kb = source() if callable(source) else load_vocabulary(source)
        return self._kb

    @kb.setter
    def kb(self, kb: "ConceptKB") -> None:
        from ..vocabulary.kb import ConceptKB

        if not isinstance(kb, ConceptKB):
            remedy = (
                "Open one with `ConceptKB.from_disk(FOLDER)`, or make one with `ConceptKB.build`."
            )
            raise AngelError(f"angel_linker's kb: expected a ConceptKB, got {kb!r}. {remedy}")
        self._kb = kb
        self.settings.candidates.types_by_label = known_types(self.settings.types_by_label, kb)

    def effective_kb(self) -> "ConceptKB":
        """RETURNS (ConceptKB): `kb`, or a copy of it under its own rules and those of the setting
        `curation`, whose file is read again if it has changed; checked once for each batch of
        documents. RAISES (AngelError): the file cannot be read, and never was."""
        if self._frozen is not None:
            return self._frozen
        return self._curation_file().over(self.kb)

    @property
    def num_beams_used(self) -> int:
        """RETURNS (int): beams of the search: the setting, or else the model's own."""
        return self.settings.candidates.num_beams or self.generator.num_beams

    @contextmanager
    def using(
        self,
        *,
        candidates: Mapping[str, Any] | None = None,
        reranker: Mapping[str, Any] | None = None,
        decision: Mapping[str, Any] | None = None,
        runtime: Mapping[str, Any] | None = None,
    ) -> Iterator[None]:
        """Other settings for the time of a block; what is changed within of the rest stays.

        candidates (Mapping[str, Any] | None), reranker (Mapping[str, Any] | None), decision
            (Mapping[str, Any] | None), runtime (Mapping[str, Any] | None): entries of each block,
            e.g. `using(decision={"threshold": 0.7})`.
        RAISES (AngelError): an unknown setting, or a value that does not fit.
        """
        blocks = {"candidates": candidates, "reranker": reranker}
        blocks |= {"decision": decision, "runtime": runtime}
        with self.settings.using({name: b for name, b in blocks.items() if b is not None}):
            yield

    @contextmanager
    def frozen_rules(self, kb: "ConceptKB") -> Iterator[None]:
        """Keep the rules for the time of a block: all that is linked in it, and explanations,
        follow the same ones.

        kb (ConceptKB): the vocabulary under these rules, e.g. `effective_kb()`.
        """
        self._frozen = kb
        try:
            yield
        finally:
            self._frozen = None

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
            self._take_types_of(vocabulary)
        if self._generator is None:
            self.generator = self._load_model(self._model_source, local_files_only=False)
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
                self._linked_elsewhere |= set(labels_of(other.settings))
                other._linked_elsewhere |= set(labels_of(self.settings))
                continue
            if shared := ", ".join(sorted(self.settings.written & other.settings.written)):
                message = f"The linkers {other_name!r} and {self.name!r} both write {shared}. "
                if not is_saved:
                    raise AngelError(f"{message}Change `outputs` of {self.name!r}.")
                message += "Give them different `labels` or `outputs`."
                warnings.warn(message, AngelWarning, stacklevel=2)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save model, vocabulary, settings, fitted weights, and a copy of the rules of curation.

        path (str | Path): a folder.
        exclude (Iterable[str]): any of `settings`, `model`, `kb`, `curation`, `ranker`.
        """
        writers: dict[str, Callable[[Path], Any]] = {
            SETTINGS_FILE: lambda p: write_json(p, self.settings.to_dict()),
            "model": lambda p: self.generator.to_disk(p),
            "kb": lambda p: self.kb.to_disk(p),
        }
        if self.settings.decision.curation is not None:
            writers[RULES_FILE] = partial(_write, data=self._curation_file().content())
        if self.ranker is not shipped_ranker():
            writers[RANKER_FILE] = self.ranker.to_disk
        util.to_disk(path, writers, exclude)
        share_parts(Path(path))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "AngelLinker":
        """Load what `to_disk` saved, without the network. Where the config that this component was
        made with differs from the saved pipeline's config, its values take precedence.

        path (str | Path): a folder; the model may be missing if the config names one.
        exclude (Iterable[str]): as in `to_disk`.
        RETURNS (AngelLinker): this component.
        """
        from ..vocabulary.kb import ConceptKB

        path = Path(path)
        exclude = list(exclude)
        if self._model_source is not None and not find_part(path, "model").exists():
            exclude.append("model")
        saved = read_block(path, ("model", "vocabulary"))
        # Parts that the loading config takes from elsewhere.
        others = [
            part
            for key, part in (("model", "model"), ("vocabulary", "kb"))
            if saved and self._config.get(key) not in (None, saved.get(key))
        ]

        def read_model(_: Path) -> None:
            self.generator = self._load_model(find_part(path, "model"), local_files_only=True)

        def read_ranker(path: Path) -> None:
            self.ranker = Ranker.from_disk(path)

        def read_settings(path: Path) -> None:
            self._take_settings(path.read_bytes(), saved)

        readers: dict[str, Callable[[Path], Any]] = {
            SETTINGS_FILE: read_settings,
            "model": read_model,
            "kb": lambda p: setattr(self, "_kb", ConceptKB.from_disk(find_part(path, "kb"))),
        }
        if (path / RANKER_FILE).exists():
            readers[RANKER_FILE] = read_ranker
        if not (path / SETTINGS_FILE).exists():
            del readers[SETTINGS_FILE]
        util.from_disk(path, readers, [*exclude, *others])
        rules = path / RULES_FILE
        if rules.exists() and not {"curation", RULES_FILE}.intersection(exclude):
            given, own = self.settings.decision.curation, saved.get("decision", {}).get("curation")
            if not saved or given == own:
                self.settings.decision.curation = str(rules)
        if "model" in others:
            check_sources(self._model_source, None)
            self._generator = None
        if "kb" in others:
            check_sources(None, self._vocabulary_source)
            self._kb = None
            self._take_types_of(self._config.get("vocabulary"))
        if self._kb is not None or "kb" in others:
            self.check_types()
        check_files(self.settings)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """exclude (Iterable[str]): as in `to_disk`. RETURNS (bytes): what `to_disk` saves."""
        writers: dict[str, Callable[[], bytes]] = {
            "settings": lambda: json.dumps(self.settings.to_dict()).encode(),
            "model": lambda: self.generator.to_bytes(),
            "kb": lambda: self.kb.to_bytes(),
        }
        if self.settings.decision.curation is not None:
            writers["curation"] = self._curation_file().content
        if self.ranker is not shipped_ranker():
            writers["ranker"] = lambda: json.dumps(self.ranker.to_dict()).encode()
        return util.to_bytes(writers, exclude)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "AngelLinker":
        """data (bytes): from `to_bytes`. exclude (Iterable[str]): as in `to_disk`.
        RETURNS (AngelLinker): this component."""
        from ..search.generator import Generator
        from ..vocabulary.kb import ConceptKB

        def read_model(data: bytes) -> None:
            runtime = self.settings.runtime
            self.generator = Generator.from_bytes(data, device=runtime.device, dtype=runtime.dtype)

        def read_rules(data: bytes) -> None:
            self.settings.decision.curation = self.settings.decision.curation or RULES_FILE
            self._curation = CurationFile(self.settings.decision.curation, data)

        readers: dict[str, Callable[[bytes], Any]] = {
            "settings": lambda b: self._take_settings(b, {}),
            "model": read_model,
            "kb": lambda b: setattr(self, "_kb", ConceptKB.from_bytes(b)),
            "curation": read_rules,
            "ranker": lambda b: setattr(self, "ranker", Ranker.from_dict(json.loads(b))),
        }
        util.from_bytes(data, readers, exclude)
        if self._kb is not None:
            self.check_types()
        return self

    def _take_settings(self, data: bytes, config: Mapping[str, Any]) -> None:
        """Use saved settings, except for those that this component was explicitly given: in a saved
        pipeline those that differ from its config, otherwise those that are not the default.

        data (bytes): JSON of the settings. config (Mapping[str, Any]): of the saved pipeline.
        """
        try:
            settings = LinkerSettings.from_dict(parse_as(data, dict[str, dict[str, Any]]))
        except ValueError as error:
            raise AngelError(f"{SETTINGS_FILE} was not written by `to_disk`: {error}.") from error
        base = LinkerSettings()
        if self._is_saved and config:
            base = LinkerSettings.from_dict({n: config[n] for n in base.blocks() if n in config})
        if base.candidates.types_by_label is None:
            types: Any = types_of(self._vocabulary_source)
            base.candidates.types_by_label = types
        own, usual, saved = (s.flat(s.to_dict()) for s in (self.settings, base, settings))
        self.settings.assign({n: value for n, value in saved.items() if own[n] == usual[n]})

    def _curation_file(self) -> CurationFile:
        """RETURNS (CurationFile): of the setting, kept as long as that stays."""
        path = self.settings.decision.curation
        if self._curation is None or self._curation.path != path:
            self._curation = CurationFile(path)
        return self._curation

    def _take_types_of(self, vocabulary: Any) -> None:
        types: Any = types_of(vocabulary)
        self.settings.candidates.types_by_label = types

    def check_types(self) -> None:
        """RAISES (AngelError): a type of `types_by_label` is no concept's of the vocabulary, which
        is opened if it is not yet."""
        check_types(self.settings.types_by_label, self.kb)

    def _load_model(
        self, source: str | Path | ModelLoader | None, *, local_files_only: bool
    ) -> "Generator":
        load = source if callable(source) else partial(load_checkpoint, source)
        runtime = self.settings.runtime
        return load(device=runtime.device, dtype=runtime.dtype, local_files_only=local_files_only)


def _write(path: Path, data: bytes) -> None:
    with replacing(path) as file:
        file.write(data)
