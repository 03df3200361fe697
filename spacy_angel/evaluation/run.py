"""The evaluation of a pipeline or a baseline on a corpus: figures, predictions, report.

Documents are streamed through the system and counted as they come back, so that the size of the
corpus does not matter.
"""

import time
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
from ..corpora.entity_types import complete_ids
from ..corpora.mention_names import mention_names
from ..corpora.preprocessing import Preprocessing, preprocess
from ..corpora.registry import read_corpus
from ..errors import AngelError
from ..files.atomic import replacing, write_json
from ..linking.settings.loaders import load_vocabulary
from ..pipelines.components import types_for_vocabulary
from ..pipelines.load import open_pipeline
from ..vocabulary.kb import ConceptKB
from ..vocabulary.names.concepts import normalize_name
from ..vocabulary.names.identifiers import split_ids
from .baselines import BASELINES
from .files import METRICS, PREDICTIONS
from .plots import import_figure, plot_metrics
from .protocols import check_protocols
from .report import write_report
from .systems import System, answer_documents, baseline_system, pipeline_system
from .tally import Tally

if TYPE_CHECKING:
    from spacy.language import Language

    from ..linking.linker import AngelLinker


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
        baseline: `exact`, `tfidf`, `scispacy`, `scispacy-hnsw`.
    corpus (str | Path): file or folder.
    format (str | None): see `corpora.read_corpus`; None to infer it.
    kb (str | Path | ConceptKB | None): vocabulary to link to: a folder, a vocabulary file, a
        loaded one; None for the pipeline's own.
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
    predicted = predicted or "hunflair2" in protocols
    corpus_options = dict(corpus_options or {})
    if k < 1:
        raise AngelError(f"k must be at least 1, not {k!r}.")
    if train_names and train is None:
        raise AngelError("Adding the names of a training corpus needs `train`.")
    if train is not None and "pmids" in corpus_options:
        raise AngelError("`pmids` and `train` cannot be combined.")
    check_protocols(protocols, predicted=predicted)
    if plots:
        # Before the evaluation rather than after it.
        import_figure()
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
        seen = None
        if train is not None:
            if train_names:
                if vocabulary is kb:
                    # The caller's own gets no names.
                    vocabulary = ConceptKB.from_bytes(vocabulary.to_bytes())
                documents = read(Path(train), CorpusReport(), vocabulary.resolve)
                vocabulary.add_mentions(mention_names(documents), str(train))
            seen = _seen(read(Path(train), CorpusReport(), vocabulary.resolve), vocabulary)
        tally = Tally(
            vocabulary,
            predicted=predicted,
            protocols=protocols,
            seen=seen,
            scorer=linker.generator if negatives and linker is not None else None,
            negatives=negatives,
        )
        report = CorpusReport()
        with (
            _system(pipeline, nlp, linker, vocabulary, k, predicted=predicted) as system,
            tqdm(desc="Evaluating", unit=" mentions", disable=None) as bar,
            replacing(output / PREDICTIONS) as file,
        ):
            seconds, start = 0.0, time.perf_counter()
            for document in answer_documents(
                read(corpus, report, vocabulary.resolve),
                system,
                vocabulary.resolve,
                split_composites=not predicted,
            ):
                # What counting takes is not part of the system's time.
                seconds += time.perf_counter() - start
                file.writelines(tally.add(document))
                bar.update(len(document.mentions))
                start = time.perf_counter()
            metrics = tally.figures(k, probabilities=not is_baseline)
            n_mentions = metrics["mentions"] + metrics["nil"]
            metrics["mentions_per_second"] = n_mentions / max(seconds, 1e-9)
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


def _seen(documents: Iterator[CorpusDocument], kb: ConceptKB) -> tuple[set[str], set[str]]:
    """Mentions, in normal form, and concepts of a training corpus."""
    texts: set[str] = set()
    concepts: set[str] = set()
    for document in documents:
        for mention in document.mentions:
            texts.add(normalize_name(mention.text))
            concepts.update(kb.resolve(raw) or raw for raw in split_ids(mention.concept_ids))
    return texts, concepts


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
