"""The files of an evaluation's folder: figures, and a line for every gold mention."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from ..errors import AngelError
from ..files.json_values import parse_json

if TYPE_CHECKING:
    from ..vocabulary.kb import ConceptKB
    from .analyses import Traits
    from .counts import MentionResult, Outcome

METRICS = "metrics.json"
PREDICTIONS = "predictions.jsonl"
REPORT = "report.html"


class _Run(BaseModel):
    pipeline: str


class _Metrics(BaseModel):
    """What every `metrics.json` has."""

    run: _Run
    mentions: float
    strict: dict[str, Any]
    lenient: dict[str, Any]
    kb_id: dict[str, Any]


class _Gold(BaseModel):
    id: str
    known: bool


class _Prediction(BaseModel):
    """What every line of `predictions.jsonl` has; else it comes from elsewhere, or from another
    version."""

    doc_id: str
    start: int
    mention: str
    label: str
    annotated: str
    gold: list[_Gold]
    strict_rank: int | None
    lenient_rank: int | None
    kb_ids: list[str]


def read_metrics(directory: Path) -> dict[str, Any]:
    """directory (Path): folder that `evaluate` wrote. RETURNS (dict[str, Any]): what its
    `metrics.json` holds. RAISES (AngelError): there is none, or it is damaged."""
    path = directory / METRICS
    if not path.is_file():
        raise AngelError(f"{directory} has no {METRICS}. Evaluate into it first.")
    try:
        metrics = parse_json(path.read_bytes())
        _Metrics.model_validate(metrics)
    except ValueError as error:
        raise AngelError(
            f"{path} does not hold an evaluation ({error}). Evaluate again."
        ) from error
    return metrics


def read_predictions(directory: Path) -> Iterator[dict[str, Any]]:
    """directory (Path): folder that `evaluate` wrote. RETURNS (Iterator[dict[str, Any]]): the lines
    of `predictions.jsonl`. RAISES (AngelError): there is none, or a line is not of that kind."""
    path = directory / PREDICTIONS
    if not path.is_file():
        raise AngelError(f"{directory} has no {PREDICTIONS}. Evaluate into it first.")
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                record = parse_json(line)
                _Prediction.model_validate(record)
            except ValueError as error:
                raise AngelError(
                    f"{path}, line {number}: not a prediction of this version. Evaluate again."
                ) from error
            yield record


def prediction_line(
    result: "MentionResult", outcome: "Outcome", traits: "Traits", kb: "ConceptKB"
) -> bytes:
    """A line of `predictions.jsonl`, with all that is needed to count again.

    result (MentionResult), outcome (Outcome), traits (Traits): of one gold mention.
    kb (ConceptKB): for the canonical names of concepts.
    RETURNS (bytes): JSON in UTF-8, with the end of the line.
    """

    def named(concepts: Iterable[tuple[str, float]]) -> list[dict[str, Any]]:
        return [{"id": c, "name": _canonical(kb, c), "score": score} for c, score in concepts]

    ranking = result.ranking
    names = zip(ranking.names, ranking.name_ids, ranking.scores, strict=True)
    record = {
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
        "kb_ids": list(result.kb_ids),
        "lenient_rank": outcome.lenient_rank,
        "biosyn_rank": outcome.biosyn_rank,
        "strict_rank": outcome.strict_rank,
        "names": [{"name": n, "ids": list(ids), "score": score} for n, ids, score in names],
        "concepts": named(ranking.concepts),
        "parts": [
            {"query": query, "concepts": named(part.concepts)}
            for query, part in zip(result.queries, result.parts, strict=True)
        ],
        "traits": asdict(traits),
    }
    return json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf8") + b"\n"


def _canonical(kb: "ConceptKB", concept_id: str) -> str:
    return kb[concept_id].canonical_name if concept_id in kb else ""
