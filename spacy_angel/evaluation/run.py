"""The harness: a pipeline or a baseline, a corpus, a vocabulary → figures, predictions, report.

Rules are in `counts`, `confidence`, `protocols`, `statistics`, `analyses`; here documents go
through a system and what comes back is counted and written as it comes, so that a corpus of any
size fits.
"""

import re
import shutil
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from ..about import SHIPPED_NAMES
from ..corpora.abbreviations import quiet_scispacy
from ..corpora.docs import GOLD_SPANS
from ..corpora.documents import CorpusDocument, CorpusReport
from ..corpora.entity_types import complete_ids
from ..corpora.formats.askapatient import askapatient_concepts
from ..corpora.mention_names import mention_names
from ..corpora.noise import Noise
from ..corpora.preprocessing import Preprocessing, preprocess
from ..corpora.registry import read_corpus
from ..errors import AngelError, Errors, Warnings
from ..files.atomic import replacing, write_json
from ..linking.settings.loaders import load_vocabulary
from ..pipelines.components import types_for_vocabulary
from ..pipelines.open import open_pipeline
from ..vocabulary.kb import ConceptKB
from ..vocabulary.lookup.tfidf import TrigramTfidf
from ..vocabulary.names.concepts import normalize_name
from ..vocabulary.names.identifiers import split_ids
from .analyses import Seen, describe_mentions, score_margins
from .baselines import BASELINES
from .counts import count_result, mean_and_spread
from .files import METRICS, PREDICTIONS, prediction_line
from .losses import LossTally
from .noise_curve import add_noise_to, curve_point, noise_levels
from .protocols import check_protocols
from .report import write_report
from .systems import System, answer_documents, baseline_system, pipeline_system
from .tally import Tally

if TYPE_CHECKING:
    from spacy.language import Language

    from ..linking.linker import AngelLinker
    from ..search.generator import Generator

_FOLD = re.compile(r"(.*fold-(\d+)\.)test(\..*)?")
_REST = ("train", "validation")
FOLD = "{fold}"
"""Stands for the number of a fold in the name of a pipeline's folder."""


def evaluate(
    pipeline: "str | Path | Language",
    corpus: str | Path,
    format: str | None = None,
    kb: str | Path | ConceptKB | None = None,
    output: str | Path = "evaluation",
    *,
    predicted: bool = False,
    k: int = 5,
    labels: Collection[str] = (),
    train: str | Path | None = None,
    train_names: bool = False,
    negatives: int = 0,
    noise: Sequence[str] = (),
    noise_seed: int = 0,
    protocols: Collection[str] = (),
    preprocessing: Preprocessing | None = None,
    corpus_options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Evaluate a system on a corpus; write `metrics.json`, `predictions.jsonl`, `report.html`.

    pipeline (str | Path | Language): a folder, an installed package, a loaded pipeline, or a
        baseline: `exact`, `tfidf`, `scispacy`, `scispacy-hnsw`. In a folder's name `{fold}` stands
        for the number of the fold: each has a pipeline of its own.
    corpus (str | Path): file or folder; a folder of AskAPatient is evaluated fold by fold.
    format (str | None): see `corpora.read_corpus`; None to tell it from the file.
    kb (str | Path | ConceptKB | None): vocabulary to link to: a folder, a vocabulary file, a
        loaded one; None is the pipeline's own, for AskAPatient that of each fold.
    output (str | Path): folder to write to.
    predicted (bool): the pipeline finds the mentions itself.
    k (int): accuracies at 1 to k; a beam search gets at least k beams.
    labels (Collection[str]): labels of the mentions to evaluate; without, all.
    train (str | Path | None): training corpus of the same format, for what was seen.
    train_names (bool): add its mention strings to the vocabulary as names, composites left out.
    negatives (int): names of other concepts to score for each mention (figure 3); 0 for none.
    noise (Sequence[str]): kinds of noise in the mentions, see `noise_curve.noise_levels`; each
        level is an evaluation of its own in `noise-KIND-EDITS`.
    noise_seed (int): of what is chosen.
    protocols (Collection[str]): of `protocols.PROTOCOLS`, counted besides; with `hunflair2` the
        pipeline finds the mentions itself.
    preprocessing (Preprocessing | None): steps on both corpora; None expands abbreviations in
        mentions for a baseline and does nothing for a pipeline, which has its own detector.
        Mentions outside the vocabulary stay in any case, to be counted (see `counts`).
    corpus_options (Mapping[str, Any] | None): of `corpora.read_corpus`, for both corpora; `pmids`
        not together with `train`.
    RETURNS (dict[str, Any]): what `metrics.json` holds: see `counts.summarize`, and
        `mentions_per_second` (reading and preprocessing included), `analyses`, `protocols`,
        `noise` (by kind and number of edits, see `noise_curve.curve_point`), `run`.
    RAISES (AngelError): a system, corpus, vocabulary or setting that does not fit.
    """
    if train_names and train is None and not _has_folds(corpus, format):
        raise AngelError(Errors.E507)
    if train is not None and "pmids" in (corpus_options or {}):
        raise AngelError(Errors.E513)
    is_baseline = isinstance(pipeline, str) and pipeline in BASELINES
    if preprocessing is None:
        preprocessing = Preprocessing(abbreviations="scispacy" if is_baseline else "keep")
    run = _Run(
        pipeline=pipeline,
        format=format,
        predicted=predicted or "hunflair2" in protocols,
        k=k,
        labels=frozenset(labels),
        train_names=train_names,
        negatives=negatives,
        noise=tuple(noise_levels(noise)),
        noise_seed=noise_seed,
        protocols=tuple(protocols),
        preprocessing=replace(preprocessing, unknown="keep"),
        corpus_options=dict(corpus_options or {}),
    )
    with quiet_scispacy():
        if _has_folds(corpus, format):
            return _evaluate_folds(run, Path(corpus), kb, Path(output))
        return _evaluate_one(run, Path(corpus), kb, Path(output), Path(train) if train else None)


@dataclass(frozen=True)
class _Run:
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
            raise AngelError(Errors.E512.format(k=self.k))
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

    def of_fold(self, number: int) -> "_Run":
        """RETURNS (_Run): with the pipeline of a fold, where each has its own."""
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

    run (_Run): settings. corpus (Path), train (Path | None): as the arguments of `evaluate`.
    vocabulary (ConceptKB): what is linked to. tfidf (TrigramTfidf): fitted on its names.
    seen (Seen | None): what training has shown.
    system (System): what links. generator (Generator | None): its model, where there is one.
    """

    run: _Run
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
                message = Warnings.W860.format(
                    label=label, n=counts.mentions, example=counts.example
                )
                warnings.warn(message, stacklevel=2)
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


def _evaluate_one(
    run: _Run, corpus: Path, kb: str | Path | ConceptKB | None, output: Path, train: Path | None
) -> dict[str, Any]:
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


def _has_folds(corpus: str | Path, format: str | None) -> bool:
    return format == "askapatient" and Path(corpus).is_dir()


def _evaluate_folds(
    run: _Run, corpus: Path, kb: str | Path | ConceptKB | None, output: Path
) -> dict[str, Any]:
    """Each fold into its own folder, and over all of them the mean, the spread and one report."""
    folds = {
        int(match[2]): (path, [path.with_name(match[1] + s + (match[3] or "")) for s in _REST])
        for path in corpus.iterdir()
        if (match := _FOLD.fullmatch(path.name))
    }
    missing = [str(p) for _, rest in folds.values() for p in rest if not p.exists()]
    if not folds or missing:
        raise AngelError(Errors.E511.format(path=corpus, missing=missing or "none"))
    runs = []
    for number, (test, (train, validation)) in sorted(folds.items()):
        vocabulary = (
            kb if kb is not None else _fold_vocabulary(run, (test, train, validation), train)
        )
        fold = replace(run.of_fold(number), train_names=run.train_names and kb is not None)
        runs.append(_evaluate_one(fold, test, vocabulary, output / f"fold-{number}", train))
    figures = [
        {key: value for key, value in one.items() if key not in ("analyses", "run")} for one in runs
    ]
    spread = mean_and_spread(figures)
    with replacing(output / PREDICTIONS) as file:
        for number in sorted(folds):
            with open(output / f"fold-{number}" / PREDICTIONS, "rb") as lines:
                shutil.copyfileobj(lines, file)
    metrics = {
        **spread["mean"],
        "spread": spread["spread"],
        "folds": len(runs),
        "run": {**run.to_dict(), "corpus": str(corpus), "train": "of each fold"},
    }
    write_json(output / METRICS, metrics)
    write_report(output)
    return metrics


def _fold_vocabulary(run: _Run, files: Sequence[Path], train: Path) -> ConceptKB:
    """AskAPatient's vocabulary comes with its folds; the phrases to test on stay out of it."""
    phrases = [train] if run.train_names else []
    steps = [{"step": "add_mentions", "source": str(path)} for path in phrases]
    return ConceptKB.build(
        askapatient_concepts(files, phrases),
        sources=[{"path": str(path)} for path in files],
        steps=steps,
    )


def _vocabulary(
    run: _Run,
    linker: "AngelLinker | None",
    kb: str | Path | ConceptKB | None,
    train: Path | None,
) -> ConceptKB:
    """The vocabulary to link to; the caller's own is copied before names are added to it."""
    # `en_angel_mini` is the name of a vocabulary as well.
    if kb is None or (run.name in SHIPPED_NAMES and str(kb) == run.name):
        if linker is None:
            raise AngelError(Errors.E508.format(baseline=run.name))
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
    run: _Run, nlp: "Language | None", linker: "AngelLinker | None", kb: ConceptKB
) -> Iterator[tuple[System, "Generator | None"]]:
    """The system, and the model where there is one; a pipeline is left as it was."""
    if nlp is None or linker is None:
        if run.predicted:
            raise AngelError(Errors.E506.format(baseline=run.name))
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


def _seen(run: _Run, train: Path, kb: ConceptKB) -> Seen:
    mentions: set[str] = set()
    concepts: set[str] = set()
    for document in run.read(train, CorpusReport(), resolve=kb.resolve):
        for mention in document.mentions:
            mentions.add(normalize_name(mention.text))
            concepts.update(kb.resolve(raw) or raw for raw in split_ids(mention.concept_ids))
    return Seen(frozenset(mentions), frozenset(concepts))
