"""Linear layers for inference: floating point, and int8 with a scale for every row.

On a CPU the weights are laid out once in the order in which oneDNN's kernels read them, and the
activation function runs inside the product. The operators for it are not part of torch's public
interface; where one is missing, `functional.linear` computes the same.
"""

from collections.abc import Callable
from functools import cache
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

# The int8 kernel of the CPU takes unsigned activations: row values -127..127 are stored plus 128.
_ZERO_POINT = 128
# Rows for which the layout of packed weights is chosen; any other number works with it too.
_PACKED_FOR_ROWS = 256

_IN_PLACE: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda x: x,
    "gelu": torch.ops.aten.gelu_,
    "gelu_tanh": lambda x: torch.ops.aten.gelu_(x, approximate="tanh"),
    "relu": torch.relu_,
    "silu": lambda x: functional.silu(x, inplace=True),
}
# Name and algorithm of the same functions as oneDNN knows them.
_FUSED = {
    "none": ("none", ""),
    "gelu": ("gelu", "none"),
    "gelu_tanh": ("gelu", "tanh"),
    "relu": ("relu", ""),
    "silu": ("swish", ""),
}


class Linear(Protocol):
    """`activation(x @ weight.T + bias)`."""

    def __call__(
        self, x: Tensor, dtype: torch.dtype | None = None, activation: str = "none"
    ) -> Tensor:
        """x (Tensor): [n, in]. dtype (torch.dtype | None): of the result; None: that of `x`.
        activation (str): none, gelu, gelu_tanh, relu or silu. RETURNS (Tensor): [n, out]."""

    def write(self, x: Tensor, out: Tensor) -> None:
        """x (Tensor): [n, in]. out (Tensor): [n, out], takes the result."""

    def weight(self) -> Tensor:
        """RETURNS (Tensor): [out, in], in the plain layout."""


class FloatLinear:
    """The layer in its own floating-point type.

    weight (Tensor): [out, in].
    bias (Tensor | None): [out].
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self.bias = bias
        self._packed = _can_pack(weight)
        self._weight = (
            torch.ops.mkldnn._reorder_linear_weight(weight, _PACKED_FOR_ROWS)
            if self._packed
            else weight
        )

    def __call__(
        self, x: Tensor, dtype: torch.dtype | None = None, activation: str = "none"
    ) -> Tensor:
        if self._packed:
            name, algorithm = _FUSED[activation]
            y = torch.ops.mkldnn._linear_pointwise(x, self._weight, self.bias, name, [], algorithm)
        else:
            y = _IN_PLACE[activation](functional.linear(x, self._weight, self.bias))
        return y if dtype is None else y.to(dtype)

    def write(self, x: Tensor, out: Tensor) -> None:
        """See `Linear.write`."""
        out.copy_(self(x))

    def weight(self) -> Tensor:
        """See `Linear.weight`."""
        return self._weight.to_dense() if self._packed else self._weight


class Int8Linear:
    """The layer with int8 weights (one scale an output) and int8 activations (one scale a row).

    Since a row is scaled by itself, its result does not depend on the rows beside it.

    weight (Tensor): int8[out, in].
    scale (Tensor): float32[out].
    bias (Tensor | None): [out].
    """

    def __init__(self, weight: Tensor, scale: Tensor, bias: Tensor | None) -> None:
        self._weight = weight
        self._packed = torch.ops.onednn.qlinear_prepack(weight, None) if int8_is_exact() else None
        self._scale = scale.float()
        self._zero_points = torch.zeros(len(scale), dtype=torch.int64)
        bias = torch.zeros(len(scale)) if bias is None else bias
        self._bias = {dtype: bias.to(dtype) for dtype in (torch.float32, torch.bfloat16)}

    def __call__(
        self, x: Tensor, dtype: torch.dtype | None = None, activation: str = "none"
    ) -> Tensor:
        y, row_scale = self._multiply(x, dtype or x.dtype)
        torch.addcmul(self._bias[y.dtype], y, row_scale.to(y.dtype), out=y)
        return _IN_PLACE[activation](y)

    def write(self, x: Tensor, out: Tensor) -> None:
        """See `Linear.write`."""
        y, row_scale = self._multiply(x, out.dtype)
        torch.addcmul(self._bias[out.dtype], y, row_scale, out=out)

    def weight(self) -> Tensor:
        """See `Linear.weight`."""
        return self._weight

    def _multiply(self, x: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """RETURNS (tuple[Tensor, Tensor]): [n, out] product without row scale and bias, and
        float32[n, 1] row scales."""
        rows, row_scale = quantize_rows(x)
        if self._packed is None:
            plain = functional.linear(rows.float() - _ZERO_POINT, self._weight.float())
            return (plain * self._scale).to(dtype), row_scale
        scales = self._scale, self._zero_points
        return _int8_product(rows, _ZERO_POINT, self._packed, *scales, dtype), row_scale


def _int8_product(
    rows: Tensor,
    zero_point: int,
    weight: Tensor,
    scale: Tensor,
    weight_zero_points: Tensor,
    dtype: torch.dtype,
) -> Tensor:
    """oneDNN's `(rows - zero_point) @ (weight - weight_zero_points).T * scale`.

    rows (Tensor): uint8[n, in]. zero_point (int): of the rows. weight (Tensor): int8[out, in],
        packed by `qlinear_prepack`. scale (Tensor): float32[out], of the weights.
    weight_zero_points (Tensor): int64[out].
    dtype (torch.dtype): float32 or bfloat16, of the result.
    RETURNS (Tensor): [n, out].
    """
    x_scale, bias, output_scale, output_zero_point = 1.0, None, 1.0, 0
    return torch.ops.onednn.qlinear_pointwise(
        *(rows, x_scale, zero_point),
        *(weight, scale, weight_zero_points),
        *(bias, output_scale, output_zero_point, dtype),
        *("none", [], ""),  # no operation after it
    )


@cache
def int8_is_exact() -> bool:
    """RETURNS (bool): whether torch has the int8 product and this CPU computes it exactly: without
    VNNI instructions, sums of two products saturate at 32,767."""
    rows = torch.full((1, 64), 255, dtype=torch.uint8)
    weight = torch.full((1, 64), 127, dtype=torch.int8)
    try:
        packed = torch.ops.onednn.qlinear_prepack(weight, None)
        zero = torch.zeros(1, dtype=torch.int64)
        product = _int8_product(rows, 0, packed, torch.ones(1), zero, torch.float32)
    except (AttributeError, RuntimeError):
        return False
    return product.item() == 64 * 255 * 127


def quantize_rows(x: Tensor) -> tuple[Tensor, Tensor]:
    """Scale every row to -127..127 by its largest magnitude and shift it by 128.

    x (Tensor): [n, d], e.g. [[-2, 1]].
    RETURNS (tuple[Tensor, Tensor]): uint8[n, d], e.g. [[1, 192]], and float32[n, 1] scales,
        e.g. [[2 / 127]].
    """
    x = x.float()
    largest = torch.maximum(x.amax(dim=-1, keepdim=True), -x.amin(dim=-1, keepdim=True))
    scale = largest.clamp_min_(1e-12).div_(127.0)
    # A float32 of 2**23 and more has no fraction: the sum is rounded to an integer, and the low
    # byte of its bits is the value. It is several times as fast as to round and to convert.
    shifted = torch.mul(x, scale.reciprocal()).add_(float(2**23 + _ZERO_POINT))
    return shifted.view(torch.int32).to(torch.uint8), scale


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


def make_linear(weight: Tensor, bias: Tensor | None, scale: Tensor | None) -> Linear:
    """Build a layer.

    weight (Tensor): [out, in], int8 or floating point.
    bias (Tensor | None): [out].
    scale (Tensor | None): float32[out], of int8 weights.
    RETURNS (Linear): the layer.
    """
    return FloatLinear(weight, bias) if scale is None else Int8Linear(weight, scale, bias)


def has_operators(namespace: str, *names: str) -> bool:
    """namespace (str), names (str): of `torch.ops`. RETURNS (bool): whether this torch has all."""
    return all(hasattr(getattr(torch.ops, namespace), name) for name in names)


def _can_pack(weight: Tensor) -> bool:
    """RETURNS (bool): whether oneDNN has fast kernels for this weight on this machine."""
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    if not has_operators("mkldnn", "_reorder_linear_weight", "_linear_pointwise"):
        return False
    if weight.dtype == torch.bfloat16:
        if not has_operators("mkldnn", "_is_mkldnn_bf16_supported"):
            return False
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return weight.dtype == torch.float32
