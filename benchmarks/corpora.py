"""One table over all corpora: how many links are right, corpus by corpus and type by type.

    python benchmarks/corpora.py CORPUS... --kb KB [--model MODEL] [--predicted] [-o table.json]

CORPUS are files with gold mentions, e.g. `held_*.json` of `tools/build_six_types.py`, whose
vocabulary KB has a kind for each label. Of gold mentions the table has recall at 1 as BELB counts
it (`spacy_angel.evaluation.protocols`): strict, exactly one identifier is given, and it is a gold
one. With `--predicted` the pipeline finds the mentions itself, and the table has the F-scores of
HunFlair2 and of the identifiers of documents.
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
from spacy_angel.evaluation.counts import count_result
from spacy_angel.evaluation.systems import answer_documents, pipeline_system
from spacy_angel.evaluation.tally import Tally
from spacy_angel.files.atomic import write_text
from spacy_angel.pipelines.open import open_pipeline

GOLD_COLUMNS = ("found", "lenient", "strict")
FOUND_COLUMNS = ("hunflair2", "document")


def measure(
    corpora: Annotated[list[Path], typer.Argument(help="Files with gold mentions.")],
    kb: Annotated[Path | None, typer.Option(help="Vocabulary; else the pipeline's own.")] = None,
    model: Annotated[Path | None, typer.Option(help="In place of the one that ships.")] = None,
    pipeline: Annotated[
        Path | None, typer.Option(help="A whole pipeline in place of model and vocabulary.")
    ] = None,
    predicted: Annotated[bool, typer.Option("--predicted")] = False,
    evidence: Annotated[bool, typer.Option(help="Weigh letters beside the model.")] = True,
    most: Annotated[int, typer.Option(help="Documents of each corpus; 0 for all.")] = 0,
    dtype: Annotated[str, typer.Option(help="Type of the weights.")] = "int8",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Also as JSON.")] = None,
) -> None:
    """Print a table in Markdown, a line for each label of each corpus."""
    nlp: Any
    if pipeline is not None:
        nlp, linker = open_pipeline(pipeline)
    else:
        nlp = spacy_angel.load(model=model, kb=kb, dtype=dtype, evidence=evidence)
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
    """Documents with the mentions of one label that have an identifier."""
    for document in documents:
        mentions = tuple(m for m in document.mentions if m.label == label and m.concept_ids)
        if mentions:
            yield replace(document, mentions=mentions)


def _figures(
    documents: list[CorpusDocument], nlp: Any, linker: Any, label: str, *, predicted: bool
) -> dict[str, float]:
    """All figures in per cent, but `mentions`."""
    tally = Tally(("hunflair2", "document") if predicted else ("belb",))
    types = types_of_label(label, linker.kb.types)
    changes: dict[str, Any] = {"types_by_label": {label: types}} if types else {}
    if not predicted:
        changes["span_key"] = GOLD_SPANS
    with linker.using(overwrite=True, prefer=(), **changes):
        system = pipeline_system(nlp, linker, predicted=predicted, labels=frozenset({label}))
        answers = answer_documents(
            documents, system, linker.kb.resolve, split_composites=not predicted
        )
        for chunk in tally.chunks(answers):
            tally.outcomes += [count_result(result) for result, _ in chunk]
    protocols = tally.protocol_figures()
    if predicted:
        found = {"hunflair2": protocols["hunflair2"]["f"]}
        found["document"] = protocols["document"]["micro"]["f"]
        return {"mentions": float(len(tally.outcomes)), **found}
    covered = sum(outcome.covered for outcome in tally.outcomes)
    known = 100 * covered / max(len(tally.outcomes), 1)
    return {**protocols["belb"], "found": known}


def types_of_label(label: str, types: frozenset[str]) -> tuple[str, ...]:
    """label (str): of a corpus. types (frozenset[str]): of the vocabulary.
    RETURNS (tuple[str, ...]): the type of that name, e.g. `CellLine` → `Cell line`; none where
    there is no such type, and the mention may be anything."""
    plain = label.replace(" ", "").lower()
    return tuple(sorted(name for name in types if name.replace(" ", "").lower() == plain))


if __name__ == "__main__":
    typer.run(measure)
