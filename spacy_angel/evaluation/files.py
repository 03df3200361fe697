"""The files of an evaluation: metrics, and predictions with one line per gold mention."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import AngelError
from ..files.json_values import parse_json

if TYPE_CHECKING:
    from ..vocabulary.kb import ConceptKB
    from .counts import MentionResult, Outcome

METRICS = "metrics.json"
PREDICTIONS = "predictions.jsonl"
REPORT = "report.md"

_METRICS_KEYS = {"run", "mentions", "strict", "lenient", "kb_id"}
_PREDICTION_KEYS = {
    *("doc_id", "start", "mention", "label", "annotated", "gold"),
    *("strict_rank", "lenient_rank", "kb_ids"),
}


def read_metrics(directory: Path) -> dict[str, Any]:
    """Read the metrics of an evaluation.

    directory (Path): folder written by `evaluate`.
    RETURNS (dict[str, Any]): content of `metrics.json`.
    RAISES (AngelError): if the file is missing or invalid.
    """
    path = _existing(directory, METRICS)
    try:
        return _read_object(path.read_bytes(), _METRICS_KEYS)
    except ValueError as error:
        raise AngelError(
            f"{path} does not contain an evaluation ({error}). Evaluate again."
        ) from error


def read_predictions(directory: Path) -> Iterator[dict[str, Any]]:
    """Read the predictions of an evaluation.

    directory (Path): folder written by `evaluate`.
    RETURNS (Iterator[dict[str, Any]]): the lines of `predictions.jsonl`.
    RAISES (AngelError): if the file is missing, or a line is not a prediction.
    """
    path = _existing(directory, PREDICTIONS)
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield _read_object(line, _PREDICTION_KEYS)
            except ValueError as error:
                raise AngelError(
                    f"{path}, line {number}: not a prediction of this version. Evaluate again."
                ) from error


def _existing(directory: Path, name: str) -> Path:
    path = directory / name
    if not path.is_file():
        raise AngelError(f"{directory} has no {name}. Evaluate into it first.")
    return path


def _read_object(content: bytes, keys: set[str]) -> dict[str, Any]:
    values = parse_json(content)
    if not isinstance(values, dict) or not keys <= values.keys():
        raise ValueError(f"expected a JSON object with {', '.join(sorted(keys))}")
    return values


def prediction_line(result: "MentionResult", outcome: "Outcome", kb: "ConceptKB") -> bytes:
    """Format a line of `predictions.jsonl`, which contains everything needed to recompute metrics.

    result (MentionResult), outcome (Outcome): a gold mention and its evaluation.
    kb (ConceptKB): vocabulary with the canonical names of concepts.
    RETURNS (bytes): the line as JSON in UTF-8, including the line break.
    """

    def canonical(concept_id: str) -> str:
        return kb[concept_id].canonical_name if concept_id in kb else ""

    def named(concepts: Iterable[tuple[str, float]]) -> list[dict[str, Any]]:
        return [{"id": c, "name": canonical(c), "score": score} for c, score in concepts]

    mention, ranking = result.mention, result.answer.ranking
    names = zip(ranking.names, ranking.name_ids, ranking.scores, strict=True)
    record = {
        "doc_id": result.doc_id,
        "start": mention.start,
        "end": mention.end,
        "mention": mention.text,
        "label": mention.label,
        "annotated": mention.concept_ids,
        "gold": [
            {"id": concept, "name": canonical(concept), "known": known}
            for concept, known in zip(result.gold, result.known, strict=True)
        ],
        "found": outcome.found,
        "linked": outcome.linked,
        "kb_ids": list(result.answer.kb_ids),
        "lenient_rank": outcome.lenient_rank,
        "biosyn_rank": outcome.biosyn_rank,
        "strict_rank": outcome.strict_rank,
        "names": [{"name": n, "ids": list(ids), "score": score} for n, ids, score in names],
        "concepts": named(ranking.concepts),
        "parts": [{"text": text, "concepts": named(part.concepts)} for text, part in result.parts],
    }
    return json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf8") + b"\n"
