"""Weights of a checkpoint folder: safetensors, or a PyTorch file, read without unpickling code.

int8 weights have a separate file, whose header states how to read it (`quantization`:
`spacy_angel.int8_rows.v1`). A matrix is stored as two tensors and is their product:

    NAME         int8[rows, columns], from -127 to 127
    NAME.scale   float32[rows], above 0
    weight       NAME * NAME.scale[:, None]

Everything else (biases, norms, positions) is stored in floating point.
"""

import pickle
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load, save, save_file
from torch import Tensor

from ..errors import AngelError
from ..files.atomic import replacing_path
from .linear import quantize_weight

SHARED = "model.shared.weight"
OUTPUT_BIAS = "final_logits_bias"
SCALE_SUFFIX = ".scale"
INT8_FILE = "model.int8.safetensors"
QUANTIZATION = "spacy_angel.int8_rows.v1"
_CPU = torch.device("cpu")
_FLOAT_FILE = "model.safetensors"
_FILES = (INT8_FILE, _FLOAT_FILE, "pytorch_model.bin")


def read_weights(folder: Path) -> dict[str, Tensor]:
    """Read all tensors of a folder in Hugging Face's format.

    folder (Path): has `model.int8.safetensors`, `model.safetensors`, or `pytorch_model.bin`.
    RETURNS (dict[str, Tensor]): by name; int8 tensors with their scales.
    RAISES (AngelError): there is no such file, or it is damaged or contains anything but tensors.
    """
    for name in _FILES:
        if (folder / name).is_file():
            return _read_file(folder / name)
    raise AngelError(f"No weights in {folder}. Expected one of {', '.join(_FILES)}.")


def write_weights(folder: Path, weights: dict[str, Tensor]) -> None:
    """Write the tensors to `model.safetensors`, or to `model.int8.safetensors` if some are int8.
    The other file is removed, so that old weights are never read.

    folder (Path): exists.
    weights (dict[str, Tensor]): by name; views are written as separate tensors, and scales only for
        int8 values.
    """
    is_int8 = any(tensor.dtype == torch.int8 for tensor in weights.values())
    name, other = (INT8_FILE, _FLOAT_FILE) if is_int8 else (_FLOAT_FILE, INT8_FILE)
    kept = {key: t for key, t in weights.items() if is_int8 or not key.endswith(SCALE_SUFFIX)}
    # One key only: safetensors writes several in a random order, and equal weights should be equal
    # files.
    metadata = {"quantization": QUANTIZATION} if is_int8 else {"format": "pt"}
    with replacing_path(folder / name) as temporary:
        save_file(_copied(kept), temporary, metadata=metadata)
        # safetensors makes files that only their owner can read.
        temporary.chmod(0o644)
    (folder / other).unlink(missing_ok=True)


def pack_weights(weights: Mapping[str, Tensor]) -> bytes:
    """RETURNS (bytes): the tensors by name, to be read by `unpack_weights`."""
    return save(_copied(weights))


def _copied(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copy every tensor: safetensors refuses memory that two names share."""
    return {name: tensor.cpu().clone().contiguous() for name, tensor in weights.items()}


def unpack_weights(data: bytes) -> dict[str, Tensor]:
    """RETURNS (dict[str, Tensor]): the tensors passed to `pack_weights`."""
    return load(data)


def float_weights(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """RETURNS (dict[str, Tensor]): the same weights in floating point; the scales are kept, so
    converting them back gives the same int8 values."""
    return {
        name: tensor.float() * weights[name + SCALE_SUFFIX][:, None]
        if tensor.dtype == torch.int8
        else tensor
        for name, tensor in weights.items()
    }


def convert_weights(
    weights: Mapping[str, Tensor], dtype: torch.dtype, device: torch.device = _CPU
) -> dict[str, Tensor]:
    """Convert the weights of a BART to the type in which they are used or saved.

    weights (Mapping[str, Tensor]): with the names of BartForConditionalGeneration; int8 matrices
        with their scales.
    dtype (torch.dtype): float32, bfloat16, float16, or int8. With int8, matrices are int8 with
        float32 scales, and all other tensors float32.
    device (torch.device): target device.
    RETURNS (dict[str, Tensor]): without the copies of the tied embeddings.
    RAISES (AngelError): int8 on a device other than a CPU.
    """
    if dtype == torch.int8 and device.type != "cpu":
        raise AngelError(
            f"[E013] int8 runs on the CPU only, not on {device}. Use bfloat16 or float16."
        )
    converted: dict[str, Tensor] = {}
    for name, tensor in float_weights(weights).items():
        if name.endswith(("embed_tokens.weight", "lm_head.weight")):
            continue
        is_matrix = tensor.dim() == 2 and "embed_positions" not in name and "bias" not in name
        if name.endswith(SCALE_SUFFIX):
            converted.setdefault(name, tensor)
        elif dtype == torch.int8 and is_matrix:
            scale = weights.get(name + SCALE_SUFFIX)
            converted[name], converted[name + SCALE_SUFFIX] = quantize_weight(tensor.cpu(), scale)
        else:
            converted[name] = tensor.to(device, torch.float32 if dtype == torch.int8 else dtype)
    return converted


def storage_dtype(weights: Mapping[str, Tensor]) -> torch.dtype | None:
    """RETURNS (torch.dtype | None): int8 if some weights were read in this type."""
    return torch.int8 if any(name.endswith(SCALE_SUFFIX) for name in weights) else None


def _check_int8(tensors: Mapping[str, Tensor], path: Path) -> None:
    """RAISES (AngelError): the tensors do not follow the convention."""
    for name, tensor in tensors.items():
        scale = tensors.get(name + SCALE_SUFFIX, torch.empty(0))
        shape = (tensor.dim(), scale.dtype, scale.shape)
        is_whole = shape == (2, torch.float32, tensor.shape[:1])
        is_valid = is_whole and bool((torch.isfinite(scale) & (scale > 0)).all())
        if tensor.dtype == torch.int8 and not is_valid:
            raise AngelError(
                f"The int8 weights {path} are damaged: {name} of the shape {list(tensor.shape)} "
                "needs one finite float32 scale above 0 for each row. Save the model again."
            )


def _read_file(path: Path) -> dict[str, Tensor]:
    try:
        if path.suffix == ".safetensors":
            with safe_open(path, "pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                metadata = file.metadata() or {}
        else:
            tensors = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, SafetensorError, pickle.UnpicklingError) as error:
        raise AngelError(f"Cannot read the weights {path}: {error}.") from error
    if not isinstance(tensors, dict) or not all(isinstance(t, Tensor) for t in tensors.values()):
        raise AngelError(f"Cannot read the weights {path}: it holds more than named tensors.")
    if path.name == INT8_FILE:
        if (quantization := metadata.get("quantization")) != QUANTIZATION:
            raise AngelError(
                f"The int8 weights {path} use the format {quantization!r}, not {QUANTIZATION!r}. "
                "Save the model again."
            )
        _check_int8(tensors, path)
    return tensors
