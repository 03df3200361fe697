"""A checkpoint of BART in the type in which it is used and saved."""

from collections.abc import Mapping

import torch
from torch import Tensor

from .bart_encoder import SHARED
from .linear import quantize_weight
from .weights import SCALE_SUFFIX

OUTPUT_BIAS = "final_logits_bias"


def convert_weights(
    weights: dict[str, Tensor],
    dtype: torch.dtype,
    device: torch.device,
    row_scales: Mapping[str, Tensor] | None = None,
) -> dict[str, Tensor]:
    """Bring a checkpoint into the type in which it is used and saved.

    weights (dict[str, Tensor]): under the names of BartForConditionalGeneration.
    dtype (torch.dtype): float32, bfloat16, float16, or int8: then matrices are int8 with float32
        scales beside them, and the rest is float32.
    device (torch.device): where it goes.
    row_scales (Mapping[str, Tensor] | None): for int8: scales to use, see `quantize_weight`.
    RETURNS (dict[str, Tensor]): without the copies of the tied embeddings.
    """
    shared = weights[SHARED]
    row_scales = row_scales or {}
    small = torch.float32 if dtype == torch.int8 else dtype
    converted: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        if name.endswith("embed_tokens.weight"):
            continue
        if name == "lm_head.weight" and torch.equal(tensor, shared):
            continue
        is_matrix = tensor.dim() == 2 and "embed_positions" not in name and "bias" not in name
        if dtype == torch.int8 and is_matrix and tensor.dtype != torch.int8:
            converted[name], converted[name + SCALE_SUFFIX] = (
                part.to(device) for part in quantize_weight(tensor.cpu(), row_scales.get(name))
            )
        elif tensor.dtype == torch.int8:
            scale = weights[name + SCALE_SUFFIX].float()
            kept = tensor if dtype == torch.int8 else tensor * scale[:, None]
            converted[name] = kept.to(device, torch.int8 if dtype == torch.int8 else dtype)
        elif not name.endswith(SCALE_SUFFIX) or dtype == torch.int8:
            converted[name] = tensor.to(device, small)
    zeros = torch.zeros(1, len(shared), dtype=small, device=device)
    converted.setdefault(OUTPUT_BIAS, zeros)
    return converted
