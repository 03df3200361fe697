"""Measure the linking accuracy on several corpora, by corpus and entity type.

    python benchmarks/corpora.py CORPUS... --kb KB [--model MODEL] [--predicted] [-o table.json]

CORPUS are files with gold mentions, e.g. `held_*.json` from `scripts/shipped/build_six_types.py`;
the vocabulary KB has a type for each label. For gold mentions, the table has the recall at 1 over
all mentions with an identifier: `lenient`, if a concept of the best name is correct; `strict`, if
the most probable concept is; `kb_id`, if the final link is, which is empty below the thresholds
(BELB's strict mode, see `spacy_angel.evaluation.protocols`). `known` is the proportion of mentions
whose concept is in the vocabulary. With `--predicted`, the pipeline finds the mentions itself, and
the table has the F-scores of HunFlair2 and of the document-level identifiers.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import spacy_angel
from spacy_angel.corpora.docs import GOLD_SPANS
from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.evaluation.counts import Outcome, count_result
from spacy_angel.evaluation.protocols import SpanPair, protocol_figures
from spacy_angel.evaluation.systems import answer_documents, pipeline_system
from spacy_angel.files.atomic import write_text
from spacy_angel.pipelines.load import open_pipeline
from spacy_angel.vocabulary.names.labels import find_entries

GOLD_COLUMNS = ("known", "lenient", "strict", "kb_id")
FOUND_COLUMNS = ("hunflair2", "document")


def measure(
    corpora: Annotated[list[Path], typer.Argument(help="Files with gold mentions.")],
    kb: Annotated[Path | None, typer.Option(help="Vocabulary; else the pipeline's own.")] = None,
    model: Annotated[Path | None, typer.Option(help="In place of the one that ships.")] = None,
    pipeline: Annotated[
        Path | None, typer.Option(help="A whole pipeline in place of model and vocabulary.")
    ] = None,
    predicted: Annotated[bool, typer.Option("--predicted")] = False,
    rerank: Annotated[bool, typer.Option(help="By the ranker, or by the model alone.")] = True,
    most: Annotated[int, typer.Option(help="Documents of each corpus; 0 for all.")] = 0,
    dtype: Annotated[str, typer.Option(help="Type of the weights.")] = "auto",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Also as JSON.")] = None,
) -> None:
    """Print a Markdown table with a row for each label in each corpus."""
    nlp: Any
    if pipeline is not None:
        nlp, linker = open_pipeline(pipeline)
    else:
        nlp = spacy_angel.load(model=model, kb=kb, dtype=dtype, reranker={"enabled": rerank})
        linker = nlp.get_pipe("angel_linker")
    columns = FOUND_COLUMNS if predicted else GOLD_COLUMNS
    typer.echo(f"| corpus | label | mentions | {' | '.join(columns)} |")
    typer.echo(f"|---|---|--:|{'--:|' * len(columns)}")
    rows = []
    for corpus in corpora:
        documents = list(read_corpus(corpus, strict=False))[: most or None]
        for label in sorted({m.label for document in documents for m in document.mentions}):
            own = list(_labelled(documents, label))
            figures = _figures(own, nlp, linker, label, predicted=predicted)
            shown = " | ".join(f"{figures[column]:.1f}" for column in columns)
            typer.echo(f"| {corpus.stem} | {label} | {figures['mentions']:,.0f} | {shown} |")
            rows.append({"corpus": corpus.stem, "label": label, **figures})
    if output is not None:
        write_text(output, json.dumps(rows, indent=1) + "\n")


def _labelled(documents: list[CorpusDocument], label: str) -> Iterator[CorpusDocument]:
    """Yield documents with the mentions of one label that have an identifier."""
    for document in documents:
        mentions = tuple(m for m in document.mentions if m.label == label and m.concept_ids)
        if mentions:
            yield replace(document, mentions=mentions)


def _figures(
    documents: list[CorpusDocument], nlp: Any, linker: Any, label: str, *, predicted: bool
) -> dict[str, float]:
    """Return all figures in percent, except the number of `mentions`."""
    pairs: list[SpanPair] = []
    outcomes: list[Outcome] = []
    types = types_of_label(label, linker.kb.types)
    candidates: dict[str, Any] = {"types_by_label": {label: types}} if types else {}
    if not predicted:
        candidates["span_key"] = GOLD_SPANS
    with linker.using(candidates=candidates, decision={"overwrite": True, "prefer": ()}):
        system = pipeline_system(nlp, linker, predicted=predicted)
        answers = answer_documents(
            documents, system, linker.kb.resolve, split_composites=not predicted
        )
        for document in answers:
            pairs.append((document.gold, document.links))
            outcomes += map(count_result, document.mentions)
    if predicted:
        protocols = protocol_figures(FOUND_COLUMNS, pairs, outcomes)
        found = {"hunflair2": protocols["hunflair2"]["f"]}
        found["document"] = protocols["document"]["micro"]["f"]
        return {"mentions": float(len(outcomes)), **found}
    counted = [outcome for outcome in outcomes if outcome.gold]
    rights = {
        "known": (outcome.covered for outcome in counted),
        "lenient": (outcome.lenient_rank == 1 for outcome in counted),
        "strict": (outcome.strict_rank == 1 for outcome in counted),
        "kb_id": (outcome.kb_id_is_right for outcome in counted),
    }
    n = max(len(counted), 1)
    shares = {name: 100 * sum(right) / n for name, right in rights.items()}
    return {"mentions": float(len(counted)), **shares}


def types_of_label(label: str, types: frozenset[str]) -> tuple[str, ...]:
    """label (str): label in a corpus.
    types (frozenset[str]): types of the vocabulary.
    RETURNS (tuple[str, ...]): the types spelled like labels of the same kind, e.g. `CellLine` →
    `Cell line`; empty if there are none, which allows all concepts."""
    return tuple(sorted(find_entries(label, sorted(types))))


if __name__ == "__main__":
    typer.run(measure)
