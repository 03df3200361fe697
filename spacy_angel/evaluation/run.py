"""The harness: a pipeline or a baseline, a corpus, a vocabulary → figures, predictions, report.

Rules are in `counts`, `confidence`, `protocols`, `statistics`, `analyses`; here documents go
through a system and what comes back is counted and written as it comes, so that a corpus of any
size fits.
"""

import re
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..corpora.abbreviations import quiet_scispacy
from ..corpora.formats.askapatient import askapatient_concepts
from ..corpora.preprocessing import Preprocessing
from ..errors import AngelError
from ..files.atomic import replacing, write_json
from ..vocabulary.kb import ConceptKB
from .baselines import BASELINES
from .bench import Run, evaluate_one
from .counts import mean_and_spread
from .files import METRICS, PREDICTIONS
from .noise_curve import noise_levels
from .report import write_report

if TYPE_CHECKING:
    from spacy.language import Language


_FOLD = re.compile(r"(.*fold-(\d+)\.)test(\..*)?")
_REST = ("train", "validation")


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
        raise AngelError("Adding the names of a training corpus needs `train`.")
    if train is not None and "pmids" in (corpus_options or {}):
        raise AngelError("`pmids` and `train` cannot be combined.")
    is_baseline = isinstance(pipeline, str) and pipeline in BASELINES
    if preprocessing is None:
        preprocessing = Preprocessing(abbreviations="scispacy" if is_baseline else "keep")
    run = Run(
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
        return evaluate_one(run, Path(corpus), kb, Path(output), Path(train) if train else None)


def _has_folds(corpus: str | Path, format: str | None) -> bool:
    return format == "askapatient" and Path(corpus).is_dir()


def _evaluate_folds(
    run: Run, corpus: Path, kb: str | Path | ConceptKB | None, output: Path
) -> dict[str, Any]:
    """Each fold into its own folder, and over all of them the mean, the spread and one report."""
    folds = {
        int(match[2]): (path, [path.with_name(match[1] + s + (match[3] or "")) for s in _REST])
        for path in corpus.iterdir()
        if (match := _FOLD.fullmatch(path.name))
    }
    missing = [str(p) for _, rest in folds.values() for p in rest if not p.exists()]
    if not folds or missing:
        raise AngelError(
            f"{corpus} needs files like `AskAPatient.fold-0.test.txt`; missing: "
            f"{missing or 'none'}."
        )
    runs = []
    for number, (test, (train, validation)) in sorted(folds.items()):
        vocabulary = (
            kb if kb is not None else _fold_vocabulary(run, (test, train, validation), train)
        )
        fold = replace(run.of_fold(number), train_names=run.train_names and kb is not None)
        runs.append(evaluate_one(fold, test, vocabulary, output / f"fold-{number}", train))
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


def _fold_vocabulary(run: Run, files: Sequence[Path], train: Path) -> ConceptKB:
    """AskAPatient's vocabulary comes with its folds; the phrases to test on stay out of it."""
    phrases = [train] if run.train_names else []
    steps = [{"step": "add_mentions", "source": str(path)} for path in phrases]
    return ConceptKB.build(
        askapatient_concepts(files, phrases),
        sources=[{"path": str(path)} for path in files],
        steps=steps,
    )
