"""The harness: a pipeline or a baseline, a corpus, a vocabulary → figures, predictions, report.

Rules are in `evaluation`, `statistics` and `analyses`; here documents go through a system and what
comes back is counted and written as it comes, so that a corpus of any size fits.
"""

import json
import re
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from ..corpora.abbreviations import quiet_scispacy
from ..corpora.docs import GOLD_SPANS
from ..corpora.documents import CorpusDocument, CorpusReport
from ..corpora.formats.askapatient import askapatient_concepts
from ..corpora.mention_names import mention_names
from ..corpora.preprocessing import Preprocessing, preprocess
from ..corpora.registry import read_corpus
from ..errors import AngelError, Errors
from ..files.atomic import replacing, write_json
from ..linking.loaders import load_vocabulary
from ..model.mention import Mention
from ..pipelines.open import open_pipeline
from ..vocabulary.concepts import normalize_name
from ..vocabulary.identifiers import split_ids
from ..vocabulary.kb import ConceptKB
from ..vocabulary.tfidf import TrigramTfidf
from .analyses import Seen, Traits, describe_mentions, group_accuracies, margin_bins, score_margins
from .baselines import BASELINES
from .counts import MentionResult, Outcome, count_result, mean_and_spread, summarize
from .report import METRICS, PREDICTIONS, write_report
from .systems import DocumentAnswers, System, answer_documents, baseline_system, pipeline_system

if TYPE_CHECKING:
    from spacy.language import Language

    from ..linking.linker import AngelLinker
    from ..search.generator import Generator

_CHUNK = 512  # mentions held while they are analysed and written
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
    preprocessing (Preprocessing | None): steps on both corpora; None expands abbreviations in
        mentions for a baseline and does nothing for a pipeline, which has its own detector.
        Mentions outside the vocabulary stay in any case, to be counted (see `evaluation`).
    corpus_options (Mapping[str, Any] | None): of `corpora.read_corpus`, for both corpora; `pmids`
        not together with `train`.
    RETURNS (dict[str, Any]): what `metrics.json` holds: see `evaluation.summarize`, and
        `mentions_per_second` (reading and preprocessing included), `analyses`, `run`.
    RAISES (AngelError): a system, corpus, vocabulary or setting that does not fit.
    """
    if k < 1:
        raise AngelError(Errors.E512.format(k=k))
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
        predicted=predicted,
        k=k,
        labels=frozenset(labels),
        train_names=train_names,
        negatives=negatives,
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
    preprocessing: Preprocessing
    corpus_options: dict[str, Any]

    def read(self, corpus: Path, report: CorpusReport) -> Iterator[CorpusDocument]:
        """Documents of a corpus as they are evaluated; what does not fit is told at once."""
        documents = read_corpus(corpus, self.format, report=report, **self.corpus_options)
        prepared = preprocess(documents, self.preprocessing, report=report)
        return (self._labelled(document, report) for document in prepared)

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
            "preprocessing": list(self.preprocessing.steps),
            "corpus_options": {key: str(value) for key, value in self.corpus_options.items()},
            "spacy_angel": version("spacy-angel"),
        }


@dataclass
class _Tally:
    """What is kept of each mention until the end."""

    outcomes: list[Outcome] = field(default_factory=list)
    traits: list[Traits] = field(default_factory=list)
    margins: list[tuple[float, float]] = field(default_factory=list)
    spurious_linked: int = 0
    spurious_nil: int = 0
    seconds: float = 0.0

    def timed(self, system: System) -> System:
        """RETURNS (System): the same, its time added to `seconds`."""

        def answer(documents: Iterable[CorpusDocument]) -> Iterator[DocumentAnswers]:
            answers = system(documents)
            while True:
                start = time.perf_counter()
                found = next(answers, None)
                self.seconds += time.perf_counter() - start
                if found is None:
                    return
                yield found

        return answer

    def figures(self, run: _Run) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): all figures and analyses of a run."""
        figures = summarize(
            self.outcomes,
            run.k,
            probabilities=not run.is_baseline,
            spurious_linked=self.spurious_linked,
            spurious_nil=self.spurious_nil,
        )
        covered = [at for at, outcome in enumerate(self.outcomes) if outcome.covered]
        analyses: dict[str, Any] = group_accuracies(
            [self.outcomes[at] for at in covered], [self.traits[at] for at in covered]
        )
        if self.margins:
            analyses["margins"] = margin_bins(self.margins)
        return {
            **figures,
            "mentions_per_second": len(self.outcomes) / max(self.seconds, 1e-9),
            "analyses": {
                name: [asdict(group) for group in groups] for name, groups in analyses.items()
            },
        }


def _evaluate_one(
    run: _Run, corpus: Path, kb: str | Path | ConceptKB | None, output: Path, train: Path | None
) -> dict[str, Any]:
    tally, report = _Tally(), CorpusReport()
    documents = run.read(corpus, report)
    nlp, linker = (None, None) if run.is_baseline else open_pipeline(run.pipeline)
    vocabulary = _vocabulary(run, linker, kb, train)
    seen = None if train is None else _seen(run.read(train, CorpusReport()), vocabulary)
    tfidf = TrigramTfidf().fit(vocabulary.name(i) for i in range(vocabulary.n_names))
    with (
        _system(run, nlp, linker, vocabulary) as (system, generator),
        tqdm(desc="Evaluating", unit=" mentions", disable=None) as bar,
        replacing(output / PREDICTIONS) as file,
    ):
        answers = answer_documents(
            documents,
            tally.timed(system),
            vocabulary.resolve,
            split_composites=not run.predicted,
        )
        for chunk in _chunks(answers, tally):
            traits = describe_mentions(
                [(prompt.text, result.gold) for result, prompt in chunk],
                vocabulary,
                tfidf,
                seen,
            )
            outcomes = [count_result(result) for result, _ in chunk]
            for (result, _), outcome, trait in zip(chunk, outcomes, traits, strict=True):
                file.write(_line(_record(result, outcome, trait, vocabulary)))
            if run.negatives and generator is not None:
                asked = [
                    (prompt, outcome.gold)
                    for (_, prompt), outcome in zip(chunk, outcomes, strict=True)
                    if outcome.covered
                ]
                tally.margins += score_margins(asked, generator, vocabulary, tfidf, run.negatives)
            tally.outcomes += outcomes
            tally.traits += traits
            bar.update(len(chunk))
        figures = tally.figures(run)
    metrics = {
        **figures,
        "run": {
            **run.to_dict(),
            "corpus": str(corpus),
            "train": None if train is None else str(train),
            "corpus_report": report.to_dict(),
            "vocabulary": {
                "concepts": len(vocabulary),
                "names": vocabulary.n_names,
                **{key: vocabulary.meta[key] for key in ("shared_names", "sources", "steps")},
            },
        },
    }
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
    if kb is None:
        if linker is None:
            raise AngelError(Errors.E508.format(baseline=run.name))
        kb = linker.kb
    if not isinstance(kb, ConceptKB):
        kb = load_vocabulary(kb)
    elif run.train_names:
        kb = ConceptKB.from_bytes(kb.to_bytes())
    if run.train_names and train is not None:
        kb.add_mentions(mention_names(run.read(train, CorpusReport())), str(train))
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
        num_beams=max(settings.num_beams, run.k),
        overwrite=True,
        span_key=settings.span_key if run.predicted else GOLD_SPANS,
    ):
        try:
            linker.kb = kb
            # Opening the model and compiling the names is not linking: it is done before the clock.
            kb.search_space(linker.generator.prompts)
            yield pipeline_system(nlp, linker, predicted=run.predicted), linker.generator
        finally:
            linker.kb = own


def _seen(documents: Iterable[CorpusDocument], kb: ConceptKB) -> Seen:
    mentions: set[str] = set()
    concepts: set[str] = set()
    for document in documents:
        for mention in document.mentions:
            mentions.add(normalize_name(mention.text))
            concepts.update(kb.resolve(raw) or raw for raw in split_ids(mention.concept_ids))
    return Seen(frozenset(mentions), frozenset(concepts))


def _chunks(
    answers: Iterable[tuple[list[tuple[MentionResult, Mention]], int, int]], tally: _Tally
) -> Iterator[list[tuple[MentionResult, Mention]]]:
    chunk: list[tuple[MentionResult, Mention]] = []
    for results, linked, nil in answers:
        tally.spurious_linked += linked
        tally.spurious_nil += nil
        chunk += results
        if len(chunk) >= _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _record(
    result: MentionResult, outcome: Outcome, traits: Traits, kb: ConceptKB
) -> dict[str, Any]:
    """A line of `predictions.jsonl`."""

    def named(concepts: Iterable[tuple[str, float]]) -> list[dict[str, Any]]:
        return [{"id": c, "name": _canonical(kb, c), "score": score} for c, score in concepts]

    ranking = result.ranking
    names = zip(ranking.names, ranking.name_ids, ranking.scores, strict=True)
    return {
        "doc_id": result.doc_id,
        "start": result.start,
        "end": result.end,
        "mention": result.mention,
        "label": result.label,
        "annotated": result.annotated,
        "left": result.left,
        "right": result.right,
        "gold": [
            {"id": concept, "name": _canonical(kb, concept), "known": known}
            for concept, known in zip(result.gold, result.known, strict=True)
        ],
        "found": outcome.found,
        "linked": outcome.linked,
        "lenient_rank": outcome.lenient_rank,
        "biosyn_rank": outcome.biosyn_rank,
        "strict_rank": outcome.strict_rank,
        "names": [{"name": n, "ids": list(ids), "score": score} for n, ids, score in names],
        "concepts": named(ranking.concepts),
        "parts": [
            {"query": query, "concepts": named(part.concepts)}
            for query, part in zip(result.queries, result.parts, strict=True)
        ],
        "traits": traits.to_dict(),
    }


def _canonical(kb: ConceptKB, concept_id: str) -> str:
    return kb[concept_id].canonical_name if concept_id in kb else ""


def _line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf8") + b"\n"
