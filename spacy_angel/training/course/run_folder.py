"""The folder of a run: its settings, its checkpoints, and its result once it is finished."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch
from accelerate import PartialState
from spacy.util import dict_to_dot
from transformers.trainer import TRAINER_STATE_NAME

from ...errors import AngelError
from ...files.atomic import write_json, write_text
from ...files.json_values import parse_as
from ..settings.config_tables import as_plain

MODEL_FOLDER = "model"
METRICS_FILE = "metrics.jsonl"
CHECKPOINTS_FOLDER = "checkpoints"
RUN_FILE = "run.json"
RESULT_FILE = "result.json"
_T = TypeVar("_T")


@dataclass(frozen=True)
class Trained:
    """The result of a stage.

    folder (Path): weights, tokenizer, and prompt settings of the checkpoint with the best
        development accuracy, or of the last one without a development set.
    accuracy (float | None): development accuracy at 1 of this checkpoint.
    """

    folder: Path
    accuracy: float | None

    def __str__(self) -> str:
        accuracy = "" if self.accuracy is None else f" (development accuracy {self.accuracy:.1%})"
        return f"Model: {self.folder}{accuracy}"


def processes() -> PartialState:
    """RETURNS (PartialState): the processes of this run: on GPUs with CUDA, otherwise on CPUs."""
    return PartialState(cpu=not torch.cuda.is_available())


def lock_run_folder(output: Path, run: dict[str, Any]) -> None:
    """Record the run of a folder, and reject a folder of another run.

    output (Path): folder of the run; created if it is missing.
    run (dict[str, Any]): settings of the run, as plain values.
    RAISES (AngelError): the folder belongs to another run; names the settings that differ.
    """
    output.mkdir(parents=True, exist_ok=True)
    file = output / RUN_FILE
    if not file.exists():
        write_text(file, json.dumps(run, indent=2) + "\n")
        return
    found, expected = dict_to_dot(_read(file, dict[str, Any])), dict_to_dot(run)
    names = sorted(n for n in {*found, *expected} if found.get(n) != expected.get(n))
    if names:
        raise AngelError(
            f"{output} has a run with other settings: {', '.join(names)}. Use a new folder."
        )


def write_result(output: Path, result: Any) -> None:
    """Mark a run as finished, and remove its checkpoints, which are no longer needed.

    output (Path): folder of the run.
    result (Any): plain values.
    """
    write_json(output / RESULT_FILE, result)
    shutil.rmtree(output / CHECKPOINTS_FOLDER, ignore_errors=True)


def read_result(output: Path, kind: type[_T]) -> _T | None:
    """Read the result written by `write_result`.

    output (Path): folder of the run.
    kind (type[_T]): type of the result, see `parse_as`.
    RETURNS (_T | None): the result; None if the run has not finished.
    RAISES (AngelError): the file is damaged.
    """
    file = output / RESULT_FILE
    return _read(file, kind) if file.is_file() else None


def is_finished(output: Path, settings: Any, n_rows: int) -> bool:
    """Begin a run, or check whether it has already finished.

    output (Path): folder of the run; created if it is missing.
    settings (Any): a dataclass; an earlier run in this folder must have had the same settings and
        number of rows.
    n_rows (int): size of the training set.
    RETURNS (bool): whether the folder contains the result of this run.
    RAISES (AngelError): there are no rows, or the folder belongs to another run.
    """
    if not n_rows:
        raise AngelError(
            f"There is nothing to train on for {output}. Check the files and the vocabulary."
        )
    lock_run_folder(output, {"settings": as_plain(settings), "rows": n_rows})
    return read_result(output, dict[str, Any]) is not None


def trained(output: Path) -> Trained:
    """output (Path): folder of a finished run. RETURNS (Trained): its result."""
    result = read_result(output, dict[str, Any])
    assert result is not None
    return Trained(output / MODEL_FOLDER, result["accuracy"])


def last_checkpoint(output: Path) -> Path | None:
    """Find the newest complete checkpoint, and remove incomplete newer ones.

    output (Path): folder of the run.
    RETURNS (Path | None): e.g. `checkpoints/checkpoint-500`.
    """
    folders = (output / CHECKPOINTS_FOLDER).glob("checkpoint-*")
    for path in sorted(folders, key=lambda path: -int(path.name.split("-")[-1])):
        # The trainer writes its state last.
        try:
            parse_as((path / TRAINER_STATE_NAME).read_bytes(), dict[str, Any])
            return path
        except (OSError, ValueError):
            shutil.rmtree(path, ignore_errors=True)
    return None


def _read(path: Path, kind: type[_T]) -> _T:
    try:
        return parse_as(path.read_bytes(), kind)
    except ValueError as error:
        raise AngelError(
            f"{path} is damaged: {error}. Remove it, and run the same command again."
        ) from error
