"""One system and one corpus: documents go through, and what comes back is counted and written as it
comes, so that a corpus of any size fits."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from ..about import SHIPPED_NAMES
from ..corpora.docs import GOLD_SPANS
from ..corpora.documents import CorpusDocument, CorpusReport
from ..corpora.entity_types import complete_ids
from ..corpora.mention_names import mention_names
from ..corpora.noise import Noise
from ..corpora.preprocessing import Preprocessing, preprocess
from ..corpora.registry import read_corpus
from ..errors import AngelError, AngelWarning
from ..files.atomic import replacing, write_json
from ..linking.settings.loaders import load_vocabulary
from ..pipelines.components import types_for_vocabulary
from ..pipelines.load import open_pipeline
from ..vocabulary.kb import ConceptKB
from ..vocabulary.lookup.tfidf import TrigramTfidf
from ..vocabulary.names.concepts import normalize_name
from ..vocabulary.names.identifiers import split_ids
from .analyses import Seen, describe_mentions, score_margins
from .baselines import BASELINES
from .counts import count_result
from .files import METRICS, PREDICTIONS, prediction_line
from .losses import LossTally
from .noise_curve import add_noise_to, curve_point
from .protocols import check_protocols
from .report import write_report
from .systems import System, answer_documents, baseline_system, pipeline_system
from .tally import Tally

if TYPE_CHECKING:
    from spacy.language import Language

    from ..linking.linker import AngelLinker
    from ..search.generator import Generator


FOLD = "{fold}"
"""Stands for the number of a fold in the name of a pipeline's folder."""


@dataclass(frozen=True)
class Run:
    """What stays the same over the folds of a corpus; fields as the arguments of `evaluate`."""

    pipeline: "str | Path | Language"
    format: str | None
    predicted: bool
    k: int
    labels: frozenset[str]
    train_names: bool
    negatives: int
    noise: tuple[Noise, ...]
    noise_seed: int
    protocols: tuple[str, ...]
    preprocessing: Preprocessing
    corpus_options: dict[str, Any]

    def __post_init__(self) -> None:
        if self.k < 1:
            raise AngelError(f"k must be at least 1, not {self.k!r}.")
        check_protocols(self.protocols, predicted=self.predicted)

    def read(
        self,
        corpus: Path,
        report: CorpusReport,
        noise: Noise | None = None,
        resolve: Callable[[str], str | None] | None = None,
    ) -> Iterator[CorpusDocument]:
        """Documents of a corpus as they are evaluated; what does not fit is told at once. With
        `resolve` of a vocabulary their identifiers are completed for it."""
        documents = read_corpus(corpus, self.format, report=report, **self.corpus_options)
        if noise is not None:
            documents = add_noise_to(documents, noise, self.noise_seed, self.labels, report)
        prepared = preprocess(documents, self.preprocessing, report=report)
        labelled = (self._labelled(document, report) for document in prepared)
        return labelled if resolve is None else complete_ids(labelled, resolve, report)

    def _labelled(self, document: CorpusDocument, report: CorpusReport) -> CorpusDocument:
        if not self.labels:
            return document
        kept = tuple(m for m in document.mentions if m.label in self.labels)
        report.count("other_labels_left_out", len(document.mentions) - len(kept))
        return replace(document, mentions=kept)

    def of_fold(self, number: int) -> "Run":
        """RETURNS (Run): with the pipeline of a fold, where each has its own."""
        if not isinstance(self.pipeline, (str, Path)):
            return self
        return replace(self, pipeline=str(self.pipeline).replace(FOLD, str(number)))

    @property
    def name(self) -> str:
        if isinstance(self.pipeline, (str, Path)):
            return str(self.pipeline)
        return f"{self.pipeline.meta['lang']}_{self.pipeline.meta['name']}"

    @property
    def is_baseline(self) -> bool:
        return self.name in BASELINES

    def to_dict(self) -> dict[str, Any]:
        return {
            "pipeline": self.name,
            "format": self.format,
            "predicted": self.predicted,
            "k": self.k,
            "labels": sorted(self.labels),
            "train_names": self.train_names,
            "protocols": list(self.protocols),
            "preprocessing": list(self.preprocessing.steps),
            "corpus_options": {key: str(value) for key, value in self.corpus_options.items()},
            "spacy_angel": version("spacy-angel"),
        }


@dataclass(frozen=True)
class _Bench:
    """An opened system, on which a corpus is evaluated once for each level of noise.

    run (Run): settings. corpus (Path), train (Path | None): as the arguments of `evaluate`.
    vocabulary (ConceptKB): what is linked to. tfidf (TrigramTfidf): fitted on its names.
    seen (Seen | None): what training has shown.
    system (System): what links. generator (Generator | None): its model, where there is one.
    """

    run: Run
    corpus: Path
    train: Path | None
    vocabulary: ConceptKB
    tfidf: TrigramTfidf
    seen: Seen | None
    system: System
    generator: "Generator | None"

    def evaluate(self, output: Path, noise: Noise | None = None) -> dict[str, Any]:
        """output (Path): folder to write to. noise (Noise | None): in the mentions.
        RETURNS (dict[str, Any]): what its `metrics.json` holds."""
        report = CorpusReport()
        documents = self.run.read(self.corpus, report, noise, self.vocabulary.resolve)
        tally = Tally(self.run.protocols, losses=LossTally() if self.run.predicted else None)
        name = "Evaluating" if noise is None else f"Evaluating {noise.name}"
        with (
            tqdm(desc=name, unit=" mentions", disable=None) as bar,
            replacing(output / PREDICTIONS) as file,
        ):
            for lines in self._count(documents, tally):
                file.writelines(lines)
                bar.update(len(lines))
            figures = tally.figures(self.run.k, probabilities=not self.run.is_baseline)
        if noise is None:
            for label, counts in tally.unknown_labels().items():
                warnings.warn(
                    f"No identifier of the label {label!r} is in the vocabulary: "
                    f"{counts.mentions:,} misses, e.g. {counts.example!r}.",
                    AngelWarning,
                    stacklevel=2,
                )
        metrics = {**figures, "run": self._described(report, noise)}
        write_json(output / METRICS, metrics)
        write_report(output)
        return metrics

    def _count(self, documents: Iterable[CorpusDocument], tally: Tally) -> Iterator[list[bytes]]:
        """Lines of `predictions.jsonl`, their mentions counted."""
        answers = answer_documents(
            documents,
            tally.timed(self.system),
            self.vocabulary.resolve,
            split_composites=not self.run.predicted,
        )
        for chunk in tally.chunks(answers):
            mentions = [(prompt.text, result.gold) for result, prompt in chunk]
            traits = describe_mentions(mentions, self.vocabulary, self.tfidf, self.seen)
            outcomes = [count_result(result) for result, _ in chunk]
            if self.run.negatives and self.generator is not None:
                asked = [
                    (prompt, outcome.gold)
                    for (_, prompt), outcome in zip(chunk, outcomes, strict=True)
                    if outcome.covered
                ]
                tally.margins += score_margins(
                    asked, self.generator, self.vocabulary, self.tfidf, self.run.negatives
                )
            tally.outcomes += outcomes
            tally.traits += traits
            yield [
                prediction_line(result, outcome, trait, self.vocabulary)
                for (result, _), outcome, trait in zip(chunk, outcomes, traits, strict=True)
            ]

    def _described(self, report: CorpusReport, noise: Noise | None) -> dict[str, Any]:
        kb = self.vocabulary
        return {
            **self.run.to_dict(),
            "corpus": str(self.corpus),
            "train": None if self.train is None else str(self.train),
            "noise": None if noise is None else f"{noise.name}, seed {self.run.noise_seed}",
            "corpus_report": report.to_dict(),
            "vocabulary": {
                "concepts": len(kb),
                "names": kb.n_names,
                **{key: kb.meta[key] for key in ("shared_names", "sources", "steps")},
            },
        }


def evaluate_one(
    run: Run, corpus: Path, kb: str | Path | ConceptKB | None, output: Path, train: Path | None
) -> dict[str, Any]:
    """Evaluate a system on one corpus, with noise as often as asked for.

    run (Run): settings.
    corpus (Path), kb (str | Path | ConceptKB | None), output (Path), train (Path | None): as the
        arguments of `run.evaluate`.
    RETURNS (dict[str, Any]): what `metrics.json` holds.
    """
    # What is wrong with the corpus is told before a model is opened.
    run.read(corpus, CorpusReport())
    nlp, linker = (None, None) if run.is_baseline else open_pipeline(run.pipeline)
    vocabulary = _vocabulary(run, linker, kb, train)
    seen = None if train is None else _seen(run, train, vocabulary)
    tfidf = TrigramTfidf().fit(vocabulary.name(i) for i in range(vocabulary.n_names))
    with _system(run, nlp, linker, vocabulary) as (system, generator):
        bench = _Bench(run, corpus, train, vocabulary, tfidf, seen, system, generator)
        metrics = bench.evaluate(output)
        if run.noise:
            clean = curve_point(metrics)
            curves = {noise.kind: {"0": clean} for noise in run.noise}
            for noise in run.noise:
                noisy = bench.evaluate(output / f"noise-{noise.kind}-{noise.edits}", noise)
                curves[noise.kind][str(noise.edits)] = curve_point(noisy)
            metrics["noise"] = curves
            write_json(output / METRICS, metrics)
            write_report(output)
    return metrics


def _vocabulary(
    run: Run,
    linker: "AngelLinker | None",
    kb: str | Path | ConceptKB | None,
    train: Path | None,
) -> ConceptKB:
    """The vocabulary to link to; the caller's own is copied before names are added to it."""
    # `en_angel_mini` is the name of a vocabulary as well.
    if kb is None or (run.name in SHIPPED_NAMES and str(kb) == run.name):
        if linker is None:
            raise AngelError(f"The baseline `{run.name}` needs a vocabulary: give `kb`.")
        kb = linker.kb
    if not isinstance(kb, ConceptKB):
        kb = load_vocabulary(kb)
    elif run.train_names:
        kb = ConceptKB.from_bytes(kb.to_bytes())
    if run.train_names and train is not None:
        documents = run.read(train, CorpusReport(), resolve=kb.resolve)
        kb.add_mentions(mention_names(documents), str(train))
    return kb


@contextmanager
def _system(
    run: Run, nlp: "Language | None", linker: "AngelLinker | None", kb: ConceptKB
) -> Iterator[tuple[System, "Generator | None"]]:
    """The system, and the model where there is one; a pipeline is left as it was."""
    if nlp is None or linker is None:
        if run.predicted:
            raise AngelError(
                f"The baseline `{run.name}` cannot find mentions: do not use `predicted`."
            )
        yield baseline_system(BASELINES[run.name](kb), run.k), None
        return
    settings, own = linker.settings, linker.kb
    with linker.using(
        k=max(settings.k, run.k),
        num_beams=max(linker.num_beams_used, run.k),
        overwrite=True,
        # Gold identifiers are compared as the vocabulary's own.
        prefer=(),
        types_by_label=types_for_vocabulary(linker, kb),
        span_key=settings.span_key if run.predicted else GOLD_SPANS,
    ):
        try:
            linker.kb = kb
            # Opening the model and compiling the names is not linking: it is done before the clock.
            kb.search_space(linker.generator.prompts)
            system = pipeline_system(nlp, linker, predicted=run.predicted)
            yield system, linker.generator
        finally:
            linker.kb = own


def _seen(run: Run, train: Path, kb: ConceptKB) -> Seen:
    mentions: set[str] = set()
    concepts: set[str] = set()
    for document in run.read(train, CorpusReport(), resolve=kb.resolve):
        for mention in document.mentions:
            mentions.add(normalize_name(mention.text))
            concepts.update(kb.resolve(raw) or raw for raw in split_ids(mention.concept_ids))
    return Seen(frozenset(mentions), frozenset(concepts))
