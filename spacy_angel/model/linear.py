"""Linear layers for inference: in floating point, and in int8 with a scale for each row.

On a CPU, the weights are stored in the layout of oneDNN's kernels, and the activation function is
part of the product; in float32, this halves the time on some processors. These operators are not
part of torch's public interface; if one is missing, `functional.linear` computes the same.
"""

from collections.abc import Callable
from functools import cache, partial

import torch
from torch import Tensor
from torch.nn import functional

# Number of rows for which the layout of packed weights is optimized; others work as well.
_PACKED_FOR_ROWS = 256
# The int8 kernel needs unsigned activations, so 128 is added to row values of -127..127.
_ZERO_POINT = 128


class Linear:
    """`x @ weight.T + bias`, or the GELU of it.

    weight (Tensor): [out, in].
    bias (Tensor | None): [out].
    gelu (bool): whether GELU is applied.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, gelu: bool = False) -> None:
        self._weight = weight
        self._packed = has_fast_kernel(weight)
        self.forward: Callable[[Tensor], Tensor]
        """[n, in] → [n, out]."""
        if self._packed:
            self._weight = torch.ops.mkldnn._reorder_linear_weight(weight, _PACKED_FOR_ROWS)
            self.forward = partial(
                torch.ops.mkldnn._linear_pointwise,
                W=self._weight,
                B=bias,
                attr="gelu" if gelu else "none",
                scalars=[],
                algorithm="none",
            )
        else:
            self.forward = partial(_linear, weight=weight, bias=bias, gelu=gelu)

    def weight(self) -> Tensor:
        """RETURNS (Tensor): [out, in], in the plain layout."""
        return self._weight.to_dense() if self._packed else self._weight


class Int8Linear:
    """The same layer on a CPU with int8 weights (one scale per output) and int8 activations (one
    scale per row). Each row has its own scale, so the result of a row does not depend on the
    others.

    weight (Tensor): int8[out, in].
    scale (Tensor): float32[out].
    bias (Tensor | None): [out].
    dtype (torch.dtype): type of the result, float32 or bfloat16.
    gelu (bool): apply GELU to the result.
    """

    def __init__(
        self,
        weight: Tensor,
        scale: Tensor,
        bias: Tensor | None,
        dtype: torch.dtype,
        gelu: bool = False,
    ) -> None:
        self._weight, self._scale, self._has_gelu = weight, scale, gelu
        self._packed = torch.ops.onednn.qlinear_prepack(weight, None) if int8_is_exact() else None
        self._bias = (torch.zeros(len(scale)) if bias is None else bias).to(dtype)
        self._zero_points = torch.zeros(len(scale), dtype=torch.int64)

    def forward(self, x: Tensor) -> Tensor:
        """x (Tensor): [n, in]. RETURNS (Tensor): [n, out]."""
        rows, row_scale = quantize_rows(x)
        dtype = self._bias.dtype
        if self._packed is None:
            y = functional.linear(rows.float() - _ZERO_POINT, self._weight.float()) * self._scale
            y = y.to(dtype)
        else:
            y = _int8_product(
                rows, _ZERO_POINT, self._packed, self._scale, self._zero_points, dtype
            )
        torch.addcmul(self._bias, y, row_scale.to(dtype), out=y)
        return _gelu(y) if self._has_gelu else y

    def weight(self) -> Tensor:
        """See `Linear.weight`."""
        return self._weight


def make_linear(
    weight: Tensor,
    bias: Tensor | None,
    scale: Tensor | None,
    dtype: torch.dtype = torch.float32,
    gelu: bool = False,
) -> Linear | Int8Linear:
    """weight (Tensor): [out, in], int8 or floating point. bias (Tensor | None): [out].
    scale (Tensor | None): float32[out], of int8 weights. dtype (torch.dtype): of the result of an
    int8 layer; another's is that of its weights. gelu (bool): whether GELU is applied.
    RETURNS (Linear | Int8Linear): the layer."""
    if weight.dtype != torch.int8 or scale is None:
        return Linear(weight, bias, gelu)
    return Int8Linear(weight, scale, bias, dtype, gelu)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None, gelu: bool) -> Tensor:
    y = functional.linear(x, weight, bias)
    return _gelu(y) if gelu else y


def _gelu(y: Tensor) -> Tensor:
    """y (Tensor): is overwritten. RETURNS (Tensor): as y."""
    return torch.ops.aten.gelu_(y, approximate="none")


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
    return torch.ops.onednn.qlinear_pointwise(
        qx=rows,
        x_scale=1.0,
        x_zero_point=zero_point,
        qw=weight,
        w_scale=scale,
        w_zero_point=weight_zero_points,
        bias=None,
        output_scale=1.0,
        output_zero_point=0,
        output_dtype=dtype,
        post_op_name="none",
        post_op_args=[],
        post_op_algorithm="",
    )


@cache
def int8_is_exact() -> bool:
    """RETURNS (bool): whether torch has the int8 product with the arguments of `_int8_product`, and
    this CPU computes it exactly: without VNNI instructions, sums of two products saturate at
    32,767. If not, int8 layers compute in float32."""
    rows = torch.full((1, 64), 255, dtype=torch.uint8)
    weight = torch.full((1, 64), 127, dtype=torch.int8)
    zero = torch.zeros(1, dtype=torch.int64)
    try:
        packed = torch.ops.onednn.qlinear_prepack(weight, None)
        product = _int8_product(rows, 0, packed, torch.ones(1), zero, torch.float32)
    except (AttributeError, RuntimeError, TypeError):
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


def has_fast_kernel(weight: Tensor) -> bool:
    """RETURNS (bool): whether torch has the operators, and oneDNN fast kernels for this weight on
    this machine."""
    operators = ["_reorder_linear_weight", "_linear_pointwise", "_is_mkldnn_bf16_supported"]
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return False
    if not all(hasattr(torch.ops.mkldnn, name) for name in operators):
        return False
    if weight.dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return weight.dtype == torch.float32


def quantize_weight(weight: Tensor, scale: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Scale the weights of each output to -127..127 by their largest magnitude.

    weight (Tensor): [out, in].
    scale (Tensor | None): float32[out], if the weights were converted from int8: the same int8
        values are restored, even if they were rounded to bfloat16 in between.
    RETURNS (tuple[Tensor, Tensor]): int8[out, in] and float32[out] scales.
    """
    weight = weight.float()
    if scale is None:
        scale = weight.abs().amax(dim=-1).clamp_min(1e-12) / 127.0
    return torch.round(weight / scale[:, None]).clamp_(-127, 127).to(torch.int8), scale
