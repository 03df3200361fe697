"""Evaluation of a pipeline or a baseline on a corpus: metrics, predictions, and a report.

Documents are streamed through the system and evaluated one by one, so the corpus does not have to
fit into memory.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
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
from ..pipelines.load import open_pipeline
from ..vocabulary.kb import ConceptKB
from ..vocabulary.sources.installed import load_vocabulary
from .baselines import BASELINES
from .counts import N_RANKS
from .files import METRICS, PREDICTIONS
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
    labels: Collection[str] = (),
    train_names: str | Path | None = None,
    protocols: Collection[str] = (),
    preprocessing: Preprocessing | None = None,
    corpus_options: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Evaluate a system on a corpus and write `metrics.json`, `predictions.jsonl`, and `report.md`.

    pipeline (str | Path | Language): a folder, an installed package, a loaded pipeline, or the
        name of a baseline, `exact` or `tfidf`.
    corpus (str | Path): file or folder.
    format (str | None): format of the corpus, see `corpora.read_corpus`; None to infer it.
    kb (str | Path | ConceptKB | None): vocabulary to link to: a folder, a vocabulary file, or a
        loaded vocabulary. None for the vocabulary of the pipeline.
    output (str | Path): folder to write to.
    predicted (bool): let the pipeline find the mentions instead of using the gold mentions.
    labels (Collection[str]): labels of the mentions to evaluate; all labels if empty.
    train_names (str | Path | None): training corpus in the same format. Its mentions, except
        composites, are added to the vocabulary as names.
    protocols (Collection[str]): additional evaluation protocols from `protocols.PROTOCOLS`;
        `hunflair2` implies `predicted`.
    preprocessing (Preprocessing | None): preprocessing steps for both corpora. None expands
        abbreviations in mentions for a baseline and does nothing for a pipeline, which detects
        abbreviations itself. Mentions outside the vocabulary are never dropped (see `counts`).
    corpus_options (Mapping[str, Any] | None): options of `corpora.read_corpus` for both corpora;
        `pmids` cannot be combined with `train_names`.
    RETURNS (dict[str, Any]): content of `metrics.json`: the keys of `counts.summarize`, `by_type`
        (see `counts.type_figures`), `protocols`, `run`, and `types`, which has the types annotated
        in the corpus (`marked`) and the number of predicted mentions of each other type
        (`left_out`); these are excluded from the metrics.
    RAISES (AngelError): if a system, corpus, vocabulary, or setting is invalid.
    """
    corpus, output = Path(corpus), Path(output)
    predicted = predicted or "hunflair2" in protocols
    corpus_options = dict(corpus_options or {})
    if train_names is not None and "pmids" in corpus_options:
        raise AngelError("`pmids` and `train_names` cannot be combined.")
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
        # Fail before loading a model if the corpus cannot be read.
        read_corpus(corpus, format, **corpus_options)
        nlp, linker = (None, None) if is_baseline else open_pipeline(pipeline)
        vocabulary = _vocabulary(pipeline, linker, kb)
        if train_names is not None:
            if vocabulary is kb:
                # Copy the caller's vocabulary instead of changing it.
                vocabulary = ConceptKB.from_bytes(vocabulary.to_bytes())
            documents = read(Path(train_names), CorpusReport(), vocabulary.resolve)
            vocabulary.add_mentions(mention_names(documents), str(train_names))
        tally = Tally(vocabulary, protocols)
        report = CorpusReport()
        with (
            _system(pipeline, nlp, linker, vocabulary, predicted=predicted) as system,
            tqdm(desc="Evaluating", unit=" mentions", disable=None) as bar,
            replacing(output / PREDICTIONS) as file,
        ):
            for document in answer_documents(
                read(corpus, report, vocabulary.resolve),
                system,
                vocabulary.resolve,
                split_composites=not predicted,
            ):
                file.writelines(tally.add(document))
                bar.update(len(document.mentions))
            metrics = tally.figures(probabilities=not is_baseline)
    metrics["run"] = {
        "pipeline": _name(pipeline),
        "corpus": str(corpus),
        "format": format,
        "train_names": None if train_names is None else str(train_names),
        "predicted": predicted,
        "labels": sorted(labels),
        "protocols": list(protocols),
        "preprocessing": asdict(preprocessing),
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
    # `en_angel_mini` is also the name of a vocabulary.
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
    *,
    predicted: bool,
) -> Iterator[System]:
    """Provide the system to evaluate; restore settings and vocabulary of a pipeline on exit."""
    if nlp is None or linker is None:
        if predicted:
            raise AngelError(
                f"The baseline `{pipeline}` cannot find mentions: do not use `predicted`."
            )
        yield baseline_system(BASELINES[str(pipeline)](kb))
        return
    own = linker.kb
    num_beams = linker.settings.candidates.num_beams or linker.generator.num_beams
    types = linker.settings.candidates.types_by_label or {}
    candidates = {
        "num_beams": max(num_beams, N_RANKS),
        # A vocabulary that lacks one of the types has types of its own.
        "types_by_label": types if set().union(*types.values()) <= set(kb.types) else {},
    }
    if not predicted:
        candidates["span_key"] = GOLD_SPANS
    # No preferred sources: gold identifiers are compared with those of the vocabulary.
    with linker.using(candidates=candidates, decision={"overwrite": True, "prefer": ()}):
        try:
            linker.kb = kb
            # Load the model and compile the names now, so that they do not count toward the time.
            kb.search_space(linker.generator.prompts)
            yield pipeline_system(nlp, linker, predicted=predicted)
        finally:
            linker.kb = own
