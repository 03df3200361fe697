"""Weights of a checkpoint folder: safetensors, or a PyTorch file read without unpickling code."""

import json
import pickle
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from .errors import AngelError, Errors

INT8_FILE = "model.int8.safetensors"
_FILES = (INT8_FILE, "model.safetensors", "pytorch_model.bin")


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Read all tensors of a Hugging Face folder, of one file or of several shards.

    folder (Path): has `model.int8.safetensors`, `model.safetensors` or `pytorch_model.bin`, or
        an index of shards of one of the last two.
    RETURNS (dict[str, Tensor]): by name.
    RAISES (AngelError): where there is no such file, or it is damaged or holds more than tensors.
    """
    for name in _FILES:
        if (folder / name).is_file():
            return _read_file(folder / name)
        index = folder / f"{name}.index.json"
        if index.is_file():
            weights: dict[str, Tensor] = {}
            for shard in _shards(index):
                weights.update(_read_file(folder / shard))
            return weights
    raise AngelError(Errors.E004.format(path=folder, files=", ".join(_FILES)))


def write_weights(folder: Path, weights: dict[str, Tensor]) -> None:
    """Write the tensors to `model.safetensors`, or to `model.int8.safetensors` if some are int8.

    folder (Path): exists.
    weights (dict[str, Tensor]): by name; views are written as tensors of their own.
    """
    name = INT8_FILE if any(t.dtype == torch.int8 for t in weights.values()) else _FILES[1]
    # A copy of every tensor: safetensors refuses memory that two names share.
    tensors = {key: tensor.cpu().clone().contiguous() for key, tensor in weights.items()}
    temporary = folder / f"{name}.part"
    save_file(tensors, temporary, metadata={"format": "pt"})
    temporary.replace(folder / name)


def _shards(index: Path) -> list[str]:
    """RETURNS (list[str]): the names of the files beside the index that hold the tensors."""
    try:
        shards = sorted(set(json.loads(index.read_text(encoding="utf8"))["weight_map"].values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"no index of shards ({error!r})"
        raise AngelError(Errors.E005.format(path=index, error=problem)) from error
    if outside := [shard for shard in shards if Path(shard).name != shard]:
        problem = f"it names files outside its folder: {outside[0]}"
        raise AngelError(Errors.E005.format(path=index, error=problem))
    return shards


def _read_file(path: Path) -> dict[str, Tensor]:
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, SafetensorError, pickle.UnpicklingError) as error:
        raise AngelError(Errors.E005.format(path=path, error=error)) from error
    if not isinstance(loaded, dict) or not all(isinstance(t, Tensor) for t in loaded.values()):
        raise AngelError(Errors.E005.format(path=path, error="it holds more than named tensors"))
    return loaded
