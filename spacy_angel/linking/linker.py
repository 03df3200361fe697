"""The component `angel_linker`: mentions in, identifiers out.

It knows documents, not tensors: `mentions` reads them, `finder` finds names for what is mentioned,
`links` decides for a concept, `writing` puts it on the document.
"""

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
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

from ..component.forks import OneThreadInForks, quiet_tokenizers_in_forks
from ..component.pipe import DocumentPipe
from ..errors import AngelError, Errors
from ..files.atomic import write_json
from ..vocabulary.kinds import is_cell_line, is_species, may_need_species
from ..vocabulary.taxa import is_taxon
from .extensions import set_extensions
from .finder import NameFinder
from .links import FoundNames, Link, make_link, rank_candidates
from .loaders import ModelLoader, VocabularyLoader, load_checkpoint, load_vocabulary
from .mentions import find_spans, read_mentions
from .readings import as_meant
from .scoring import gold_ids
from .settings import SETTINGS, LinkerSettings, read_changes
from .writing import read_kb_id, write_links

if TYPE_CHECKING:
    from ..model.mention import Mention
    from ..search.cached import SearchCache
    from ..search.generator import Generator
    from ..vocabulary.kb import ConceptKB
    from .calibration import Calibration, CalibrationItem


class AngelLinker(DocumentPipe):
    """Links mentions to the concepts of a vocabulary by generating one of its names; those of a
    batch of documents go through the model together.

    Writes `span._.kb_id` (an identifier or `NIL`), `span._.kb_ents` [(concept_id, probability)],
    which is empty with `NIL`, `span._.candidates` and, where its `kb_id_attr` is `kb_id`,
    `span.kb_id_`. Attributes on `span._` belong to the characters: of several spans over the same
    ones the first that is linked shows there, while each has its own `kb_id_`.

    vocab (Vocab): the pipeline's.
    name (str): the component's name.
    model (str | Path | ModelLoader | None): a folder or hub name, or what loads a model; None is
        the shipped one. Opened at first use, a hub name in `initialize`.
    vocabulary (str | Path | VocabularyLoader | None): likewise.
    settings (LinkerSettings): everything else; each is also an attribute, `linker.threshold = 0.7`,
        and may be set at any time, but device, dtype, max_source_tokens and attribute names are
        read once. `linker.config_settings` are those that stand in the pipeline's config; what
        differs from them is saved beside it.
    scorer (Callable | None): answers `score`.

    `linker.search_cache` may be set to a `SearchCache`, which searches no mention twice.
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "angel_linker",
        *,
        model: str | Path | ModelLoader | None = None,
        vocabulary: str | Path | VocabularyLoader | None = None,
        settings: LinkerSettings = LinkerSettings(),  # noqa: B008 (frozen)
        scorer: Callable | None = None,
    ) -> None:
        self.vocab = vocab
        self.name = name
        self.settings = settings
        self.scorer = scorer
        self.config_settings = settings
        self._model_source = model
        self._vocabulary_source = vocabulary
        self._generator: Generator | None = None
        self._kb: ConceptKB | None = None
        self.search_cache: SearchCache | None = None
        self._forks = OneThreadInForks()
        set_extensions(settings)
        # scispaCy's abbreviation detector warns of every text that has no abbreviation.
        warnings.filterwarnings("ignore", message=r"\[W036\]", module=r"scispacy\.abbreviation")

    if not TYPE_CHECKING:  # where a mistyped attribute is to be seen as one

        def __getattr__(self, name: str) -> Any:
            """Settings are attributes as well: `linker.threshold`."""
            if name in SETTINGS and "settings" in self.__dict__:
                return getattr(self.settings, name)
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

        def __setattr__(self, name: str, value: Any) -> None:
            if name in SETTINGS:
                self.settings = replace(self.settings, **{name: value})
            else:
                super().__setattr__(name, value)

    @property
    def generator(self) -> "Generator":
        """RETURNS (Generator): the model, opened if it is not yet."""
        if self._generator is None:
            self.generator = self._load_model(local_files_only=True)
            assert self._generator is not None
        return self._generator

    @generator.setter
    def generator(self, generator: "Generator") -> None:
        quiet_tokenizers_in_forks()
        limit = self.settings.max_source_tokens
        if limit is not None:
            generator.prompts.limit_source(limit)
        self._generator = generator

    @property
    def kb(self) -> "ConceptKB":
        """RETURNS (ConceptKB): the vocabulary, opened if it is not yet. Concepts and names can be
        added and removed while running; another one can be set."""
        if self._kb is None:
            source = self._vocabulary_source
            self._kb = source() if callable(source) else load_vocabulary(source)
        return self._kb

    @kb.setter
    def kb(self, kb: "ConceptKB") -> None:
        self._kb = kb

    @property
    def num_beams_used(self) -> int:
        """RETURNS (int): beams of the search: the setting `num_beams`, or else the model's own."""
        return self.settings.num_beams or self.generator.num_beams

    @contextmanager
    def using(self, **settings: Any) -> Iterator[None]:
        """Other settings for the time of a block; what changes within of the rest stays.

        settings (Any): fields of `LinkerSettings`.
        RAISES (AngelError): an unknown setting, or a value that does not fit.
        """
        own = self.settings.to_dict()
        self.settings = LinkerSettings.from_dict({**own, **settings})
        try:
            yield
        finally:
            self.settings = replace(self.settings, **{name: own[name] for name in settings})

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
        if self._generator is None:
            self.generator = self._load_model(local_files_only=False)
        self._check_types()
        self.kb.search_space(self.generator.prompts, [None])

    def predict(self, docs: Iterable[Doc]) -> list[list[Link | None]]:
        """Find the links; changes nothing.

        docs (Iterable[Doc]): documents.
        RETURNS (list[list[Link | None]]): one a mention, in the order of `find_spans`; None where
            the mention stays as it is.
        """
        docs = list(docs)
        candidates = self._find_candidates(docs, overwrite=self.settings.overwrite)
        return [
            [
                None
                if names is None
                else make_link(span.text, span.label_, names, self.kb, self.settings)
                for span, names in zip(
                    find_spans(doc, self.settings.span_key), doc_found, strict=True
                )
            ]
            for doc, doc_found in zip(docs, candidates, strict=True)
        ]

    def set_annotations(self, docs: Iterable[Doc], links: Sequence[Sequence[Link | None]]) -> None:
        """Write the links on the documents.

        docs (Iterable[Doc]): as given to `predict`, with the same mentions.
        links (Sequence[Sequence[Link | None]]): as `predict` returned them.
        """
        for doc, doc_links in zip(docs, links, strict=True):
            write_links(doc, doc_links, self.settings)

    def rank(self, candidates: Iterable[dict[str, Any]]) -> list[tuple[str, float]]:
        """What `kb_ents` would hold without the limits, which are for links.

        candidates (Iterable[dict[str, Any]]): of one mention, as `span._.candidates` has them.
        RETURNS (list[tuple[str, float]]): concepts with their probability, best first.
        """
        return rank_candidates(candidates, self.settings.temperature)

    def calibrate(self, docs: Iterable[Doc]) -> "Calibration":
        """Fit temperature, threshold and min_log_prob, with the setting `evidence` its weights and
        the threshold, and use them from now on.

        docs (Iterable[Doc]): development documents that went through the components before this
            one; `kb_id_` of each mention is its right identifier, several joined by `|` or `+`,
            `NIL` or empty where it should link to nothing, as should a mention whose identifiers
            the vocabulary does not have. They are not changed.
        RETURNS (Calibration): the settings found, and figures.
        RAISES (AngelError): no mention's right concept is among its candidates.
        """
        from .calibration import calibrate, calibrate_evidence

        items = []
        with tqdm(desc="Calibrating", unit=" documents", disable=None) as progress:
            for batch in util.minibatch(docs, size=64):
                items += self.calibration_items(list(batch))
                progress.update(len(batch))
        if self.settings.evidence:
            fitted = calibrate_evidence(items, self.settings)
        else:
            fitted = calibrate(items)
        self.settings = replace(self.settings, **fitted.settings)
        return fitted

    def calibration_items(self, docs: Sequence[Doc]) -> "list[CalibrationItem]":
        """What limits and weights are fitted on.

        docs (Sequence[Doc]): as `calibrate` takes them. They are not changed.
        RETURNS (list[CalibrationItem]): of every mention whose label is not discarded candidates,
            right identifiers and, with the setting `evidence`, the evidence.
        """
        from .calibration import CalibrationItem

        # Fitted to what the model says of every mention.
        with self.using(exact_names_unsearched=False, once_a_document=False):
            candidates = self._find_candidates(docs, overwrite=True)
        return [
            CalibrationItem(
                names.candidates if names else (),
                frozenset(c for c in gold_ids(span, self.kb.resolve) if c in self.kb),
                names.evidence if names else None,
                span.label_,
            )
            for doc, doc_found in zip(docs, candidates, strict=True)
            for span, names in zip(find_spans(doc, self.settings.span_key), doc_found, strict=True)
            if span.label_ not in self.settings.labels_discard
        ]

    def read_mentions(self, doc: Doc, spans: Sequence[Span]) -> list["Mention"]:
        """Mentions in their context, as the settings and the model have them read.

        doc (Doc): the document.
        spans (Sequence[Span]): its mentions.
        RETURNS (list[Mention]): one a span.
        RAISES (AngelError): see `mentions.read_mentions`.
        """
        if not spans:
            return []
        format = self.generator.prompts.format
        return read_mentions(
            doc,
            spans,
            n_sents=self.settings.n_sents,
            resolve_abbreviations=self.settings.resolve_abbreviations,
            collapse_blanks=format.collapse_blanks,
            expand_context=format.expand_context,
            hints=self._hints(doc, spans),
        )

    def _hints(self, doc: Doc, spans: Sequence[Span]) -> list[str]:
        """What the document says about the endings of names, a text a mention."""
        hinter = self.kb.hinter if self.settings.hints else None
        if hinter is None:
            return [""] * len(spans)
        species = [
            (span.start_char, span.end_char, taxon)
            for span in (*doc.ents, *spans)
            if is_species(span.label_) or is_cell_line(span.label_)
            for taxon in self._taxa(span)
        ]
        signs = hinter.find(doc.text, species)
        return [
            hinter.hint(signs, span.start_char, span.end_char)
            if may_need_species(span.label_)
            else ""
            for span in spans
        ]

    def _taxa(self, span: Span) -> list[str]:
        """The species that a mention of one names, or from which all cell lines of its name are."""
        concepts = self.kb.find(span.text)
        if is_species(span.label_):
            return [c.concept_id for c in concepts if is_taxon(c.concept_id)]
        donors = {name for c in concepts for name in c.types if is_taxon(name)}
        return list(donors) if len(donors) == 1 else []

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score the links of predicted documents against gold ones.

        examples (Iterable[Example]): as spaCy's.
        RETURNS (dict[str, Any]): see `scoring.score_links`; empty without a scorer.
        """
        if self.scorer is None:
            return {}
        return self.scorer(
            examples,
            kb_id_attr=self.settings.kb_id_attr,
            span_key=self.settings.span_key,
            resolve=self.kb.resolve,
            **kwargs,
        )

    def check_outputs(self, nlp: Language) -> None:
        """nlp (Language): the pipeline.
        RAISES (AngelError): another linker in it writes the same outputs."""
        for other_name, other in nlp.components:
            if other is self or not isinstance(other, AngelLinker):
                continue
            if shared := ", ".join(sorted(self.settings.outputs & other.settings.outputs)):
                raise AngelError(
                    Errors.E309.format(first=other_name, second=self.name, shared=shared)
                )

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save model, vocabulary and the settings that were changed while running (the others
        stand in the pipeline's config.cfg), each with the value that it has in the config.

        path (str | Path): a folder.
        exclude (Iterable[str]): any of `settings`, `model`, `kb`.
        """
        writers = {
            "settings.json": lambda p: write_json(p, self._changes()),
            "model": lambda p: self.generator.to_disk(p),
            "kb": lambda p: self.kb.to_disk(p),
        }
        util.to_disk(path, writers, exclude)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "AngelLinker":
        """Load what `to_disk` saved; nothing is fetched. A changed setting is taken where the
        config still has the value that it had: another one was set by the user, and wins.

        path (str | Path): a folder; the model may be missing if the config names one.
        exclude (Iterable[str]): as in `to_disk`.
        RETURNS (AngelLinker): this component.
        """
        from ..vocabulary.kb import ConceptKB

        if self._model_source is not None and not Path(path, "model").exists():
            exclude = [*exclude, "model"]

        def read_model(path: Path) -> None:
            self.generator = load_checkpoint(
                path,
                device=self.settings.device,
                dtype=self.settings.dtype,
                local_files_only=True,
            )

        readers = {
            "settings.json": lambda p: self._apply_changes(p.read_bytes(), str(p)),
            "model": read_model,
            "kb": lambda p: setattr(self, "kb", ConceptKB.from_disk(p)),
        }
        util.from_disk(path, readers, exclude)
        if self._kb is not None:
            self._check_types()
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """exclude (Iterable[str]): as in `to_disk`. RETURNS (bytes): what `to_disk` saves."""
        writers = {
            "settings": lambda: json.dumps(self._changes()).encode(),
            "model": lambda: self.generator.to_bytes(),
            "kb": lambda: self.kb.to_bytes(),
        }
        return util.to_bytes(writers, exclude)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "AngelLinker":
        """data (bytes): from `to_bytes`. exclude (Iterable[str]): as in `to_disk`.
        RETURNS (AngelLinker): this component."""
        from ..search.generator import Generator
        from ..vocabulary.kb import ConceptKB

        def read_model(data: bytes) -> None:
            self.generator = Generator.from_bytes(
                data, device=self.settings.device, dtype=self.settings.dtype
            )

        readers = {
            "settings": self._apply_changes,
            "model": read_model,
            "kb": lambda b: setattr(self, "kb", ConceptKB.from_bytes(b)),
        }
        util.from_bytes(data, readers, exclude)
        if self._kb is not None:
            self._check_types()
        return self

    def _changes(self) -> dict[str, dict[str, Any]]:
        return self.settings.changes_from(self.config_settings)

    def _apply_changes(self, data: bytes, path: str = "settings.json") -> None:
        self.settings = self.settings.with_changes(read_changes(data, path))

    def _check_types(self) -> None:
        known = self.kb.types
        for label, types in self.settings.types_by_label.items():
            if unknown := sorted(set(types) - set(known)):
                raise AngelError(
                    Errors.E314.format(label=label, unknown=unknown, known=sorted(known))
                )

    def _find_candidates(
        self, docs: Sequence[Doc], overwrite: bool
    ) -> list[list[FoundNames | None]]:
        """Candidates of every mention: none where it is discarded or blank, None where it keeps
        the identifier that it has."""
        settings = self.settings
        slots: list[list[FoundNames | None]] = []
        places: list[tuple[int, int]] = []
        mentions: list[Mention] = []
        chosen: list[Span] = []
        for doc_index, doc in enumerate(docs):
            spans = find_spans(doc, settings.span_key)
            stay = [
                bool(read_kb_id(span, settings))
                and (not overwrite or span.label_ in settings.labels_discard)
                for span in spans
            ]
            slots.append([None if stays else FoundNames() for stays in stay])
            wanted = [
                i
                for i, (span, candidates) in enumerate(zip(spans, slots[-1], strict=True))
                if candidates is not None
                and span.label_ not in settings.labels_discard
                and span.text.strip()
            ]
            mentions += self.read_mentions(doc, [spans[i] for i in wanted])
            places += [(doc_index, i) for i in wanted]
            chosen += [spans[i] for i in wanted]
        documents = [doc_index for doc_index, _ in places]
        if not mentions:
            return slots
        mentions = [
            as_meant(mention, span, self.kb, settings)
            for mention, span in zip(mentions, chosen, strict=True)
        ]
        self._forks.ensure()
        finder = NameFinder(
            self.generator, self.kb, settings, self.num_beams_used, self.search_cache
        )
        searched = finder.find(mentions, [span.label_ for span in chosen], documents)
        for (doc_index, i), names in zip(places, searched, strict=True):
            slots[doc_index][i] = names
        return slots

    def _load_model(self, *, local_files_only: bool) -> "Generator":
        source = self._model_source
        load = source if callable(source) else partial(load_checkpoint, source)
        return load(
            device=self.settings.device,
            dtype=self.settings.dtype,
            local_files_only=local_files_only,
        )
