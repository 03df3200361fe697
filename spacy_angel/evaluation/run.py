"""The evaluation of a pipeline or a baseline on a corpus: figures, predictions, report.

Documents are streamed through the system and counted as they come back, so that the size of the
corpus does not matter.
"""

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from ..about import SHIPPED_NAMES
from ..corpora.abbreviations import quiet_scispacy
from ..corpora.docs import GOLD_SPANS
from ..corpora.documents import CorpusDocument, CorpusReport
from ..corpora.entity_types import complete_ids, entity_type, types_left_out
from ..corpora.formats.askapatient import askapatient_concepts
from ..corpora.mention_names import mention_names
from ..corpora.preprocessing import Preprocessing, preprocess
from ..corpora.registry import read_corpus
from ..errors import AngelError, AngelWarning
from ..files.atomic import replacing, write_json
from ..linking.settings.loaders import load_vocabulary
from ..pipelines.components import types_for_vocabulary
from ..pipelines.open import open_pipeline
from ..vocabulary.kb import ConceptKB
from ..vocabulary.lookup.tfidf import TrigramTfidf
from ..vocabulary.names.concepts import normalize_name
from ..vocabulary.names.identifiers import split_ids
from .analyses import analyze, margin_bins, name_similarities, score_margins
from .baselines import BASELINES
from .counts import Outcome, count_result, mean_and_spread, summarize
from .files import METRICS, PREDICTIONS, prediction_line
from .losses import count_losses, loss_figures
from .plots import plot_metrics
from .protocols import ProtocolTally, check_protocols
from .report import write_report
from .systems import System, answer_documents, baseline_system, pipeline_system

if TYPE_CHECKING:
    from spacy.language import Language

    from ..linking.linker import AngelLinker

FOLD = "{fold}"
"""Placeholder for the number of a fold in the name of a pipeline's folder."""
_FOLD_FILE = re.compile(r"(.*fold-(\d+)\.)test(\..*)?")


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
    protocols: Collection[str] = (),
    preprocessing: Preprocessing | None = None,
    corpus_options: Mapping[str, Any] | None = None,
    plots: bool = False,
) -> dict[str, Any]:
    """Evaluate a system on a corpus; write `metrics.json`, `predictions.jsonl`, `report.md`.

    pipeline (str | Path | Language): a folder, an installed package, a loaded pipeline, or a
        baseline: `exact`, `tfidf`, `scispacy`, `scispacy-hnsw`. In a folder's name `{fold}` is
        replaced by the number of the fold.
    corpus (str | Path): file or folder; a folder of AskAPatient is evaluated fold by fold.
    format (str | None): see `corpora.read_corpus`; None to infer it.
    kb (str | Path | ConceptKB | None): vocabulary to link to: a folder, a vocabulary file, a
        loaded one; None for the pipeline's own, for AskAPatient that of each fold.
    output (str | Path): folder to write to.
    predicted (bool): the pipeline finds the mentions itself.
    k (int): accuracies at 1 to k; a beam search gets at least k beams.
    labels (Collection[str]): labels of the mentions to evaluate; all if empty.
    train (str | Path | None): training corpus of the same format, for accuracy on mentions and
        concepts that it has or lacks.
    train_names (bool): add its mention strings to the vocabulary as names, except composites.
    negatives (int): names of other concepts to score for each mention (figure 3); 0 for none.
    protocols (Collection[str]): of `protocols.PROTOCOLS`, counted as well; with `hunflair2` the
        pipeline finds the mentions itself.
    preprocessing (Preprocessing | None): steps on both corpora; None expands abbreviations in
        mentions for a baseline and does nothing for a pipeline, which has its own detector.
        Mentions outside the vocabulary are never dropped (see `counts`).
    corpus_options (Mapping[str, Any] | None): of `corpora.read_corpus`, for both corpora; `pmids`
        cannot be combined with `train`.
    plots (bool): draw figures as well, see `plots.plot_metrics`.
    RETURNS (dict[str, Any]): content of `metrics.json`: see `counts.summarize`, and
        `mentions_per_second` (reading and preprocessing included), `analyses`, `protocols`,
        `losses`; `labels` with the mentions of each; `types`: those that the corpus has (`marked`)
        and counts of mentions of other types that were found (`left_out`), which count neither as
        right nor as wrong; `run`.
    RAISES (AngelError): a system, corpus, vocabulary or setting is invalid.
    """
    corpus, output = Path(corpus), Path(output)
    if format == "askapatient" and corpus.is_dir():
        settings = {"predicted": predicted, "k": k, "labels": labels, "negatives": negatives}
        settings |= {"protocols": protocols, "preprocessing": preprocessing, "plots": plots}
        settings["corpus_options"] = corpus_options
        return _evaluate_folds(pipeline, corpus, kb, output, train_names, settings)
    predicted = predicted or "hunflair2" in protocols
    corpus_options = dict(corpus_options or {})
    if k < 1:
        raise AngelError(f"k must be at least 1, not {k!r}.")
    if train_names and train is None:
        raise AngelError("Adding the names of a training corpus needs `train`.")
    if train is not None and "pmids" in corpus_options:
        raise AngelError("`pmids` and `train` cannot be combined.")
    check_protocols(protocols, predicted=predicted)
    is_baseline = isinstance(pipeline, str) and pipeline in BASELINES
    if preprocessing is None:
        preprocessing = Preprocessing(abbreviations="scispacy" if is_baseline else "keep")
    preprocessing = replace(preprocessing, unknown="keep")

    def read(
        path: Path, report: CorpusReport, resolve: Callable[[str], str | None]
    ) -> Iterator[CorpusDocument]:
        documents = read_corpus(path, format, report=report, **corpus_options)
        prepared = preprocess(documents, preprocessing, report=report)
        return complete_ids(_with_labels(prepared, labels, report), resolve, report)

    with quiet_scispacy():
        # A corpus that cannot be read fails before a model is opened.
        read_corpus(corpus, format, **corpus_options)
        nlp, linker = (None, None) if is_baseline else open_pipeline(pipeline)
        vocabulary = _vocabulary(pipeline, linker, kb)
        if train_names and vocabulary is kb:
            # The caller's own gets no names.
            vocabulary = ConceptKB.from_bytes(vocabulary.to_bytes())
        seen_texts: set[str] = set()
        seen_concepts: set[str] = set()
        if train is not None:
            if train_names:
                documents = read(Path(train), CorpusReport(), vocabulary.resolve)
                vocabulary.add_mentions(mention_names(documents), str(train))
            for document in read(Path(train), CorpusReport(), vocabulary.resolve):
                for mention in document.mentions:
                    seen_texts.add(normalize_name(mention.text))
                    ids = split_ids(mention.concept_ids)
                    seen_concepts.update(vocabulary.resolve(raw) or raw for raw in ids)
        tfidf = TrigramTfidf().fit(vocabulary.name(i) for i in range(vocabulary.n_names))
        report = CorpusReport()
        outcomes: list[Outcome] = []
        margins: list[tuple[float, float]] = []
        # Types of mentions on other characters than those of a gold mention.
        linked: Counter[str] = Counter()
        nil: Counter[str] = Counter()
        losses: Counter[tuple[str, str, str]] = Counter()
        protocol_tally = ProtocolTally(protocols)
        with (
            _system(pipeline, nlp, linker, vocabulary, k, predicted=predicted) as system,
            tqdm(desc="Evaluating", unit=" mentions", disable=None) as bar,
            replacing(output / PREDICTIONS) as file,
        ):
            seconds, start = 0.0, time.perf_counter()
            for answered in answer_documents(
                read(corpus, report, vocabulary.resolve),
                system,
                vocabulary.resolve,
                split_composites=not predicted,
            ):
                seconds += time.perf_counter() - start
                protocol_tally.add(answered.gold, answered.links)
                on_gold = {(span.start, span.end) for span in answered.gold}
                for span in answered.found:
                    if (span.start, span.end) not in on_gold:
                        (linked if span.ids else nil)[entity_type(span.label)] += 1
                if predicted:
                    losses.update(count_losses(answered.mentions, answered.found, answered.text))
                similarities = name_similarities(answered.mentions, vocabulary, tfidf)
                for result, similarity in zip(answered.mentions, similarities, strict=True):
                    seen = None
                    if train is not None:
                        text = normalize_name(result.answer.prompt.text)
                        seen = text in seen_texts, seen_concepts.issuperset(result.gold)
                    outcome = count_result(result, similarity, seen)
                    outcomes.append(outcome)
                    file.write(prediction_line(result, outcome, vocabulary))
                if negatives and linker is not None:
                    covered = [r for r in answered.mentions if r.known and all(r.known)]
                    margins += score_margins(
                        covered, linker.generator, vocabulary, tfidf, negatives
                    )
                bar.update(len(answered.mentions))
                start = time.perf_counter()
            found = linked + nil
            labels_found = {outcome.label for outcome in outcomes}
            left_out = types_left_out(found, labels_found)
            marked = sorted(set(map(entity_type, labels_found)))
            metrics = summarize(
                outcomes,
                k,
                probabilities=not is_baseline,
                spurious_linked=sum(n for name, n in linked.items() if name not in left_out),
                spurious_nil=sum(n for name, n in nil.items() if name not in left_out),
            )
            metrics["mentions_per_second"] = len(outcomes) / max(seconds, 1e-9)
            metrics["labels"] = _count_labels(outcomes)
            metrics["types"] = {
                "marked": marked,
                "left_out": {name: found[name] for name in sorted(left_out)},
            }
            metrics["analyses"] = analyze(outcomes)
            if margins:
                metrics["analyses"]["margins"] = margin_bins(margins)
            if predicted:
                metrics["losses"] = loss_figures(losses, marked)
            if protocols:
                metrics["protocols"] = protocol_tally.figures(outcomes)
    metrics["run"] = {
        "pipeline": _name(pipeline),
        "corpus": str(corpus),
        "format": format,
        "train": None if train is None else str(train),
        "train_names": train_names,
        "predicted": predicted,
        "k": k,
        "labels": sorted(labels),
        "protocols": list(protocols),
        "preprocessing": list(preprocessing.steps),
        "corpus_options": {key: str(value) for key, value in corpus_options.items()},
        "corpus_report": report.to_dict(),
        "vocabulary": {
            "concepts": len(vocabulary),
            "names": vocabulary.n_names,
            **{key: vocabulary.meta[key] for key in ("shared_names", "sources", "steps")},
        },
        "spacy_angel": version("spacy-angel"),
    }
    write_json(output / METRICS, metrics)
    if plots:
        plot_metrics({Path(_name(pipeline)).name: metrics}, output)
    write_report(output)
    return metrics


def _evaluate_folds(
    pipeline: "str | Path | Language",
    corpus: Path,
    kb: str | Path | ConceptKB | None,
    output: Path,
    train_names: bool,
    settings: dict[str, Any],
) -> dict[str, Any]:
    """Each fold into a folder of its own, and mean and spread of the figures over all."""
    matches = [match for path in corpus.iterdir() if (match := _FOLD_FILE.fullmatch(path.name))]
    splits = ("test", "train", "validation")
    folds = {
        int(match[2]): [corpus / f"{match[1]}{split}{match[3] or ''}" for split in splits]
        for match in matches
    }
    missing = [str(path) for files in folds.values() for path in files if not path.exists()]
    if not folds or missing:
        raise AngelError(
            f"{corpus} needs files like `AskAPatient.fold-0.test.txt`; missing: "
            f"{missing or 'none'}."
        )
    runs = []
    with replacing(output / PREDICTIONS) as file:
        for number, files in sorted(folds.items()):
            test, train, _ = files
            vocabulary = kb
            if vocabulary is None:
                # The vocabulary comes with the folds; phrases of the test file are left out.
                phrases = [train] if train_names else []
                vocabulary = ConceptKB.build(
                    askapatient_concepts(files, phrases),
                    sources=[{"path": str(path)} for path in files],
                    steps=[{"step": "add_mentions", "source": str(path)} for path in phrases],
                )
            own = output / f"fold-{number}"
            if isinstance(pipeline, (str, Path)):
                opened: str | Path | Language = str(pipeline).replace(FOLD, str(number))
            else:
                opened = pipeline
            more = {"train": train, "train_names": train_names and kb is not None, **settings}
            runs.append(evaluate(opened, test, "askapatient", vocabulary, own, **more))
            file.write((own / PREDICTIONS).read_bytes())
    spread = mean_and_spread(
        [{key: run[key] for key in run if key not in ("analyses", "run", "labels")} for run in runs]
    )
    described = {
        **runs[0]["run"],
        "pipeline": _name(pipeline),
        "corpus": str(corpus),
        "train": "of each fold",
        "train_names": train_names,
    }
    metrics = {**spread["mean"], "spread": spread["spread"], "folds": len(runs), "run": described}
    write_json(output / METRICS, metrics)
    write_report(output)
    return metrics


def _name(pipeline: "str | Path | Language") -> str:
    if isinstance(pipeline, (str, Path)):
        return str(pipeline)
    return f"{pipeline.meta['lang']}_{pipeline.meta['name']}"


def _with_labels(
    documents: Iterator[CorpusDocument], labels: Collection[str], report: CorpusReport
) -> Iterator[CorpusDocument]:
    for document in documents:
        mentions = tuple(m for m in document.mentions if not labels or m.label in labels)
        if len(mentions) < len(document.mentions):
            report.count("other_labels_left_out", len(document.mentions) - len(mentions))
        yield replace(document, mentions=mentions)


def _vocabulary(
    pipeline: "str | Path | Language",
    linker: "AngelLinker | None",
    kb: str | Path | ConceptKB | None,
) -> ConceptKB:
    # `en_angel_mini` is the name of a vocabulary as well.
    if kb is None or (pipeline in SHIPPED_NAMES and str(kb) == pipeline):
        if linker is None:
            raise AngelError(f"The baseline `{pipeline}` needs a vocabulary: give `kb`.")
        return linker.kb
    return kb if isinstance(kb, ConceptKB) else load_vocabulary(kb)


@contextmanager
def _system(
    pipeline: "str | Path | Language",
    nlp: "Language | None",
    linker: "AngelLinker | None",
    kb: ConceptKB,
    k: int,
    *,
    predicted: bool,
) -> Iterator[System]:
    """The system; a pipeline is restored at the end."""
    if nlp is None or linker is None:
        if predicted:
            raise AngelError(
                f"The baseline `{pipeline}` cannot find mentions: do not use `predicted`."
            )
        yield baseline_system(BASELINES[str(pipeline)](kb), k)
        return
    settings, own = linker.settings, linker.kb
    with linker.using(
        k=max(settings.k, k),
        num_beams=max(linker.num_beams_used, k),
        overwrite=True,
        # Gold identifiers are compared with the vocabulary's own.
        prefer=(),
        types_by_label=types_for_vocabulary(linker, kb),
        span_key=settings.span_key if predicted else GOLD_SPANS,
    ):
        try:
            linker.kb = kb
            # Opening the model and compiling the names are not part of the time.
            kb.search_space(linker.generator.prompts)
            yield pipeline_system(nlp, linker, predicted=predicted)
        finally:
            linker.kb = own


def _count_labels(outcomes: list[Outcome]) -> dict[str, dict[str, int]]:
    """Mentions of each label with identifiers, and how many are in the vocabulary."""
    labels = {outcome.label: {"mentions": 0, "in_vocabulary": 0} for outcome in outcomes}
    for outcome in outcomes:
        labels[outcome.label]["mentions"] += bool(outcome.gold)
        labels[outcome.label]["in_vocabulary"] += outcome.partly_covered
    for label, counts in labels.items():
        if counts["mentions"] and not counts["in_vocabulary"]:
            example = next(o.gold[0] for o in outcomes if o.gold and o.label == label)
            warnings.warn(
                f"No identifier of the label {label!r} is in the vocabulary: "
                f"{counts['mentions']:,} misses, e.g. {example!r}.",
                AngelWarning,
                stacklevel=3,
            )
    return labels
