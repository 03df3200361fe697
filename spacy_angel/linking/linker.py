"""The component `angel_linker`: mentions in, identifiers out.

It knows documents, not tensors: `mentions` reads them, `generator` searches, `gathering` looks for
names by letters, `ranking` or `evidence` decides.
"""

import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from spacy import util
from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example
from spacy.vocab import Vocab
from tqdm import tqdm

from ..errors import AngelError, Errors, Warnings
from ..files.atomic import write_json
from ..vocabulary.concepts import normalize_name
from .evidence import Evidence, rank_by_evidence
from .extensions import set_extensions
from .forks import OneThreadInForks, quiet_tokenizers_in_forks
from .gathering import Searched, gather_evidence
from .identifier_spaces import preferred_ids
from .kinds import is_foreign
from .loaders import ModelLoader, VocabularyLoader, load_checkpoint, load_vocabulary
from .mentions import find_spans, read_mentions
from .ranking import (
    NIL,
    Candidate,
    NameScore,
    RankedConcept,
    choose_link,
    list_candidates,
    rank_concepts,
)
from .scoring import gold_ids
from .settings import SETTINGS, LinkerSettings
from .short_forms import expand_long_form, expand_short_form
from .sparing import TakenName, first_of_equals, take_name
from .weights import DEFAULT_WEIGHTS

if TYPE_CHECKING:
    from ..model.mention import Mention
    from ..search.cached import SearchCache
    from ..search.generator import Generator
    from ..search.search import SearchResult
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.search_spaces import Subset
    from ..vocabulary.trie import SearchSpace
    from .calibration import Calibration, CalibrationItem


@dataclass(frozen=True, slots=True)
class Link:
    """What is written on one mention, in plain values.

    kb_id (str): the identifier, or `NIL`.
    kb_ents (list[tuple[str, float]]): concepts with their probability, best first; none where the
        identifier is `NIL`, as scispaCy's hold nothing below its limits.
    candidates (list[dict[str, Any]]): `concept_id`, `name` (original spelling), `score`,
        `log_prob`, in the order of the search, all that were found; with the setting `evidence`
        also `probability`, their share of the concept's, and names with the most probable concept
        first; with the setting `prefer` also `other_ids`, the concept's further identifiers.
    """

    kb_id: str
    kb_ents: list[tuple[str, float]]
    candidates: list[dict[str, Any]]


class _Names(NamedTuple):
    """What was found for a mention: candidates in the order of the search, and, with the setting
    `evidence`, all that speaks for each; or the one that was taken without a search."""

    candidates: tuple[Candidate, ...] = ()
    evidence: Evidence | None = None
    is_taken: bool = False


_NO_NAMES = _Names()


class AngelLinker(Pipe):
    """Links mentions to the concepts of a vocabulary by generating one of its names.

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
        read once. `linker.config_settings`
        are those that stand in the pipeline's config; what differs from them is saved beside it.
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

    def __call__(self, doc: Doc) -> Doc:
        """Link one document.

        doc (Doc): changed in place. RETURNS (Doc): the same.
        """
        try:
            self.set_annotations([doc], self.predict([doc]))
            return doc
        except Exception as error:
            self.get_error_handler()(self.name, self, [doc], error)

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Link a stream of documents; the mentions of a batch go through the model together.

        stream (Iterable[Doc]): documents, changed in place.
        batch_size (int): documents held at a time.
        YIELDS (Doc): the documents in their order, without those given to the error handler.
        """
        for docs in util.minibatch(stream, size=batch_size):
            yield from self._annotate(list(docs))

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
                None if names is None else self._link(span.text, names)
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
            spans = find_spans(doc, self.settings.span_key)
            self._set_attributes(spans, doc_links)
            kb_ids = [
                self._kb_id(span) if link is None else link.kb_id
                for span, link in zip(spans, doc_links, strict=True)
            ]
            if self._is_first:
                _set_kb_ids(doc, self.settings.span_key, spans, kb_ids)
            if self.settings.output_span_key is not None:
                group = [_with_kb_id(*pair) for pair in zip(spans, kb_ids, strict=True)]
                doc.spans[self.settings.output_span_key] = group

    def rank(self, candidates: Iterable[dict[str, Any]]) -> list[tuple[str, float]]:
        """What `kb_ents` would hold without the limits, which are for links.

        candidates (Iterable[dict[str, Any]]): of one mention, as `span._.candidates` has them.
        RETURNS (list[tuple[str, float]]): concepts with their probability, best first.
        """
        candidates = list(candidates)
        if all("probability" in candidate for candidate in candidates):
            sums: defaultdict[str, list[float]] = defaultdict(list)
            for candidate in candidates:
                sums[candidate["concept_id"]].append(candidate["probability"])
            ranked = [(concept_id, fsum(parts)) for concept_id, parts in sums.items()]
            return sorted(ranked, key=lambda pair: (-pair[1], pair[0]))
        numbers: dict[str, int] = {}
        items = [
            Candidate(
                candidate["concept_id"],
                numbers.setdefault(candidate["name"], len(numbers)),
                candidate["score"],
                candidate["log_prob"],
            )
            for candidate in candidates
        ]
        return _with_probabilities(rank_concepts(items, self.settings.temperature))

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
            fitted = calibrate_evidence(items, self._weights)
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
        )

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
            "settings.json": lambda p: write_json(p, self._changed_settings()),
            "model": lambda p: self.generator.to_disk(p),
            "kb": lambda p: self.kb.to_disk(p),
        }
        util.to_disk(path, writers, exclude)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "AngelLinker":
        """Load what `to_disk` saved; nothing is fetched. A changed setting is taken where the
        config still has the value that it had: another one was set by the user, and wins.

        path (str | Path): a folder.
        exclude (Iterable[str]): as in `to_disk`.
        RETURNS (AngelLinker): this component.
        """
        from ..vocabulary.kb import ConceptKB

        def read_model(path: Path) -> None:
            self.generator = load_checkpoint(
                path,
                device=self.settings.device,
                dtype=self.settings.dtype,
                local_files_only=True,
            )

        readers = {
            "settings.json": lambda p: self._apply_changes(
                json.loads(p.read_text(encoding="utf8"))
            ),
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
            "settings": lambda: json.dumps(self._changed_settings()).encode(),
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
            "settings": lambda b: self._apply_changes(json.loads(b)),
            "model": read_model,
            "kb": lambda b: setattr(self, "kb", ConceptKB.from_bytes(b)),
        }
        util.from_bytes(data, readers, exclude)
        if self._kb is not None:
            self._check_types()
        return self

    def _check_types(self) -> None:
        known = self.kb.types
        for label, types in self.settings.types_by_label.items():
            if unknown := sorted(set(types) - set(known)):
                raise AngelError(
                    Errors.E314.format(label=label, unknown=unknown, known=sorted(known))
                )

    @property
    def _is_first(self) -> bool:
        """Whether `span.kb_id_` is this linker's to write."""
        return self.settings.kb_id_attr == "kb_id"

    def _kb_id(self, span: Span) -> str:
        """The identifier that a mention has already."""
        return span.kb_id_ if self._is_first else span._.get(self.settings.kb_id_attr)

    @property
    def _weights(self) -> dict[str, float]:
        return DEFAULT_WEIGHTS | self.settings.evidence_weights

    def _find_candidates(self, docs: Sequence[Doc], overwrite: bool) -> list[list[_Names | None]]:
        """Candidates of every mention: none where it is discarded or blank, None where it keeps
        the identifier that it has."""
        slots: list[list[_Names | None]] = []
        places: list[tuple[int, int]] = []
        mentions: list[Mention] = []
        labels: list[str] = []
        for doc_index, doc in enumerate(docs):
            spans = find_spans(doc, self.settings.span_key)
            slots.append([None if self._kb_id(s) and not overwrite else _NO_NAMES for s in spans])
            wanted = [
                i
                for i, (span, candidates) in enumerate(zip(spans, slots[-1], strict=True))
                if candidates is not None
                and span.label_ not in self.settings.labels_discard
                and span.text.strip()
            ]
            mentions += self.read_mentions(doc, [spans[i] for i in wanted])
            places += [(doc_index, i) for i in wanted]
            labels += [spans[i].label_ for i in wanted]
        documents = [doc_index for doc_index, _ in places]
        if (long_forms := self.settings.long_forms) is not None:
            mentions = [expand_long_form(mention, Path(long_forms)) for mention in mentions]
        if self.settings.expand_short_forms:
            mentions = [expand_short_form(mention, self.kb) for mention in mentions]
        searched = self._search(mentions, labels, documents)
        for (doc_index, i), names in zip(places, searched, strict=True):
            slots[doc_index][i] = names
        return slots

    def _search(
        self, mentions: Sequence["Mention"], labels: Sequence[str], documents: Sequence[int]
    ) -> list[_Names]:
        """Names of every mention within the semantic types of its label."""
        if not self.settings.once_a_document:
            return self._search_each(mentions, labels, documents)
        texts = [normalize_name(mention.text) for mention in mentions]
        firsts, numbers = first_of_equals(list(zip(documents, labels, texts, strict=True)))
        names = self._search_each(
            [mentions[i] for i in firsts],
            [labels[i] for i in firsts],
            [documents[i] for i in firsts],
        )
        return [names[number] for number in numbers]

    def _search_each(
        self, mentions: Sequence["Mention"], labels: Sequence[str], documents: Sequence[int]
    ) -> list[_Names]:
        if not mentions:
            return []
        self._forks.ensure()
        settings = self.settings
        subsets: list[Subset | None] = [None]
        subset_of_label: dict[str, int] = {}
        for label in set(labels) & settings.types_by_label.keys():
            subset_of_label[label] = len(subsets)
            subsets.append(self.kb.subset(types=settings.types_by_label[label]))
        numbers = [subset_of_label.get(label, 0) for label in labels]
        space = self.kb.search_space(self.generator.prompts, subsets)
        concepts = [
            partial(self._concepts, subsets[n], label)
            for n, label in zip(numbers, labels, strict=True)
        ]
        taken = self._take_names(mentions, concepts)
        found: list[Sequence[NameScore]] = [() if name is None else (name,) for name in taken]
        wanted = [i for i, name in enumerate(taken) if name is None]
        results = self._run_search(
            [mentions[i] for i in wanted], space, [numbers[i] for i in wanted]
        )
        for i, result in zip(wanted, results, strict=True):
            found[i] = result.hypotheses
        if not settings.evidence:
            return [
                _Names(tuple(list_candidates(names, concepts_of)))
                for names, concepts_of in zip(found, concepts, strict=True)
            ]
        searched = [
            Searched(mention, document, names, concepts_of, space.allowed[n])
            for mention, document, names, concepts_of, n in zip(
                mentions, documents, found, concepts, numbers, strict=True
            )
        ]
        gathered = gather_evidence(
            searched,
            self.kb,
            self.generator,
            n_near=settings.near_names,
            batch_size=settings.batch_size,
        )
        return [
            _Names(evidence.candidates, evidence, is_taken=name is not None)
            for evidence, name in zip(gathered, taken, strict=True)
        ]

    def _take_names(
        self, mentions: Sequence["Mention"], concepts: Sequence[Callable[[int], list[str]]]
    ) -> list[TakenName | None]:
        """The names that need no search."""
        settings = self.settings
        obeys = settings.evidence and settings.link_exact_names
        if not (settings.exact_names_unsearched and obeys):
            return [None] * len(mentions)
        return [
            take_name(mention, concepts_of, self.kb, settings.exact_name_probability)
            for mention, concepts_of in zip(mentions, concepts, strict=True)
        ]

    def _run_search(
        self, mentions: Sequence["Mention"], space: "SearchSpace", numbers: Sequence[int]
    ) -> "list[SearchResult]":
        from ..search.generator import SearchSettings

        settings = self.settings
        results = self.generator.search(
            mentions,
            space,
            SearchSettings(
                mode=settings.mode,
                num_beams=self.num_beams_used,
                k=settings.k if settings.mode == "exact" else min(settings.k, self.num_beams_used),
                length_penalty=settings.length_penalty,
                max_work=settings.max_work,
            ),
            subsets=numbers,
            batch_size=settings.batch_size,
            cache=self.search_cache,
        )
        n_unproven = sum(not result.proven for result in results)
        if settings.mode == "exact" and n_unproven:
            warnings.warn(
                Warnings.W302.format(max_work=settings.max_work, n=n_unproven, n_all=len(results)),
                stacklevel=2,
            )
        return results

    def _concepts(self, subset: "Subset | None", label: str, name: int) -> list[str]:
        """The concepts of a name that a mention with this label may have."""
        concept_ids = self.kb.concept_ids_of(name)
        if subset is not None:
            return [c for c in concept_ids if subset.allows(c)]
        if self.settings.restrict_kinds:
            return [c for c in concept_ids if not is_foreign(label, self.kb.types_of(c))]
        return concept_ids

    def _link(self, text: str, names: _Names) -> Link:
        if names.is_taken:
            link = self._link_taken(*names.candidates)
        elif names.evidence is None:
            link = self._link_by_model(text, names.candidates)
        else:
            link = self._link_by_evidence(names.evidence)
        return self._in_preferred_ids(link) if self.settings.prefer else link

    def _in_preferred_ids(self, link: Link) -> Link:
        """The same link in the identifiers that the user prefers."""
        own_ids = {candidate["concept_id"] for candidate in link.candidates}
        ids = {own: preferred_ids(own, self.kb, self.settings.prefer) for own in own_ids}
        return Link(
            kb_id=link.kb_id if link.kb_id == NIL else ids[link.kb_id][0],
            kb_ents=[(ids[own][0], probability) for own, probability in link.kb_ents],
            candidates=[
                candidate | {"concept_id": ids[own][0], "other_ids": ids[own][1:]}
                for candidate in link.candidates
                for own in (candidate["concept_id"],)
            ],
        )

    def _link_taken(self, candidate: Candidate) -> Link:
        probability = self.settings.exact_name_probability
        return Link(
            kb_id=candidate.concept_id,
            kb_ents=[(candidate.concept_id, probability)],
            candidates=[self._plain(candidate) | {"probability": probability}],
        )

    def _link_by_evidence(self, evidence: Evidence) -> Link:
        obey = self.settings.link_exact_names
        ranked, pairs = rank_by_evidence(evidence, self._weights, obey=obey)
        if obey and ranked and ranked[0].concept_id == evidence.own:
            kb_id = ranked[0].concept_id
        else:
            kb_id = choose_link(ranked, self.settings.threshold)
        return Link(
            kb_id=kb_id,
            kb_ents=[] if kb_id == NIL else _with_probabilities(ranked),
            candidates=[
                self._plain(candidate) | {"probability": probability}
                for candidate, probability in pairs
            ],
        )

    def _link_by_model(self, text: str, candidates: Sequence[Candidate]) -> Link:
        ranked = rank_concepts(candidates, self.settings.temperature)
        min_log_prob = self.settings.min_log_prob
        if self.settings.link_exact_names and ranked:
            own = self.kb.name_index(text)
            if any(c.name == own and c.concept_id == ranked[0].concept_id for c in candidates):
                min_log_prob = None
        kb_id = choose_link(ranked, self.settings.threshold, min_log_prob)
        return Link(
            kb_id=kb_id,
            kb_ents=[] if kb_id == NIL else _with_probabilities(ranked),
            candidates=[self._plain(candidate) for candidate in candidates],
        )

    def _plain(self, candidate: Candidate) -> dict[str, Any]:
        return {
            "concept_id": candidate.concept_id,
            "name": self.kb.spelling(candidate.name),
            "score": candidate.score,
            "log_prob": candidate.log_prob,
        }

    def _set_attributes(self, spans: Sequence[Span], links: Sequence[Link | None]) -> None:
        shown: dict[tuple[int, int], str] = {}
        for span, link in zip(spans, links, strict=True):
            characters = (span.start_char, span.end_char)
            if link is None or shown.get(characters, NIL) != NIL:
                continue
            if characters in shown and link.kb_id == NIL:
                continue
            shown[characters] = link.kb_id
            span._.set(self.settings.kb_id_attr, link.kb_id)
            span._.set(self.settings.kb_ents_attr, link.kb_ents)
            span._.set(self.settings.candidates_attr, link.candidates)

    def _annotate(self, docs: list[Doc]) -> Iterator[Doc]:
        """Link a batch; where it fails, each document alone, so that only the bad one is lost."""
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

    def _load_model(self, *, local_files_only: bool) -> "Generator":
        source = self._model_source
        load = source if callable(source) else partial(load_checkpoint, source)
        return load(
            device=self.settings.device,
            dtype=self.settings.dtype,
            local_files_only=local_files_only,
        )

    def _changed_settings(self) -> dict[str, dict[str, Any]]:
        """`{"temperature": {"config": 1.0, "changed": 0.5}}`."""
        config = self.config_settings.to_dict()
        return {
            name: {"config": config[name], "changed": value}
            for name, value in self.settings.to_dict().items()
            if value != config[name]
        }

    def _apply_changes(self, changes: dict[str, dict[str, Any]]) -> None:
        settings = self.settings.to_dict()
        for name, values in changes.items():
            # Unknown names are taken as well, and refused below.
            if settings.get(name, values["config"]) == values["config"]:
                settings[name] = values["changed"]
        self.settings = LinkerSettings.from_dict(settings)


def _set_kb_ids(
    doc: Doc, span_key: str | None, spans: Sequence[Span], kb_ids: Sequence[str]
) -> None:
    """Write `kb_id_` of the mentions; on a span taken from a group it would be lost."""
    if span_key is None:
        for span, kb_id in zip(spans, kb_ids, strict=True):
            for token in span:
                token.ent_kb_id_ = kb_id
    elif span_key in doc.spans:
        group = [_with_kb_id(*pair) for pair in zip(spans, kb_ids, strict=True)]
        attrs = doc.spans[span_key].attrs
        doc.spans[span_key] = SpanGroup(doc, name=span_key, attrs=attrs, spans=group)


def _with_probabilities(ranked: Iterable[RankedConcept]) -> list[tuple[str, float]]:
    return [(concept.concept_id, concept.probability) for concept in ranked]


def _with_kb_id(span: Span, kb_id: str) -> Span:
    return Span(span.doc, span.start, span.end, label=span.label, kb_id=kb_id, span_id=span.id)
