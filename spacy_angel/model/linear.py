"""Linear layers for inference, and the rounding of weights to int8.

On a CPU the weights are laid out once in the order in which oneDNN's kernels read them, and the
activation function runs inside the product: float32 takes half the time on some processors. The
operators for it are not part of torch's public interface; where one is missing,
`functional.linear` computes the same.
"""

import torch
from torch import Tensor
from torch.nn import functional

# Rows for which the layout of packed weights is chosen; any other number works with it too.
_PACKED_FOR_ROWS = 256
# By the function's name in a BartConfig: name and algorithm in oneDNN.
ACTIVATIONS = {
    "gelu": ("gelu", "none"),
    "gelu_new": ("gelu", "tanh"),
    "gelu_pytorch_tanh": ("gelu", "tanh"),
    "relu": ("relu", ""),
    "silu": ("swish", ""),
    "swish": ("swish", ""),
}


class Linear:
    """`activation(x @ weight.T + bias)`.

    weight (Tensor): [out, in].
    bias (Tensor | None): [out].
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self._bias = bias
        self._packed = has_fast_kernel(weight)
        if self._packed:
            weight = torch.ops.mkldnn._reorder_linear_weight(weight, _PACKED_FOR_ROWS)
        self._weight = weight

    def __call__(self, x: Tensor, activation: str | None = None) -> Tensor:
        """x (Tensor): [n, in]. activation (str | None): of `ACTIVATIONS`.
        RETURNS (Tensor): [n, out]."""
        name, algorithm = ACTIVATIONS[activation] if activation else ("none", "")
        if self._packed:
            multiply = torch.ops.mkldnn._linear_pointwise
            return multiply(x, self._weight, self._bias, name, [], algorithm)
        y = functional.linear(x, self._weight, self._bias)
        if name == "gelu":
            return functional.gelu(y, approximate=algorithm)
        return {"none": lambda y: y, "relu": functional.relu, "swish": functional.silu}[name](y)

    def weight(self) -> Tensor:
        """RETURNS (Tensor): [out, in], in the plain layout."""
        return self._weight.to_dense() if self._packed else self._weight


def has_fast_kernel(weight: Tensor) -> bool:
    """RETURNS (bool): whether oneDNN has fast kernels for this weight on this machine, and torch
    the operators."""
    operators = ["_reorder_linear_weight", "_linear_pointwise", "_is_mkldnn_bf16_supported"]
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    if not all(hasattr(torch.ops.mkldnn, name) for name in operators):
        return False
    if weight.dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return weight.dtype == torch.float32


def quantize_weight(weight: Tensor, scale: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Scale every output's weights to -127..127 by their largest magnitude.

    weight (Tensor): [out, in].
    scale (Tensor | None): float32[out], where the weights were int8 before: these values come
        back exactly, also from weights that were rounded to bfloat16 in between.
    RETURNS (tuple[Tensor, Tensor]): int8[out, in] and float32[out] scales.
    """
    weight = weight.float()
    if scale is None:
        scale = weight.abs().amax(dim=-1).clamp_min(1e-12) / 127.0
    return torch.round(weight / scale[:, None]).clamp_(-127, 127).to(torch.int8), scale
