"""Measures once per process which type of weights is fastest on this machine.

The order depends on the processor: bfloat16 is slower than float32 without AVX512-BF16 or AMX, and
int8, whose activations are rounded in each layer, is slower than bfloat16 on processors whose AMX
supports both.
"""

from functools import cache, partial
from timeit import repeat
from typing import Literal

import torch

from .linear import make_linear, quantize_weight

FastDtype = Literal["float32", "bfloat16", "int8"]

# Sizes of a layer of BART-base, and rows in a batch of mentions being decoded.
_OUTPUTS, _INPUTS, _ROWS = 3072, 768, 128
_RUNS = 5
# Other types must be this much faster than float32, because timings vary.
_MIN_GAIN = 1.2


@cache
def fastest_dtype(device: torch.device, *, with_int8: bool) -> FastDtype:
    """device (torch.device): device of the model.
    with_int8 (bool): whether the model can run in int8, on a CPU.
    RETURNS (FastDtype): the fastest type; on a GPU, `bfloat16` if it supports it.
    """
    if device.type != "cpu":
        has_it = device.type == "cuda" and torch.cuda.is_bf16_supported()
        return "bfloat16" if has_it else "float32"
    faster: list[FastDtype] = ["bfloat16", "int8"] if with_int8 else ["bfloat16"]
    seconds = {dtype: seconds_of(dtype) for dtype in faster}
    chosen = min(faster, key=seconds.__getitem__)
    return chosen if seconds_of("float32") >= _MIN_GAIN * seconds[chosen] else "float32"


@cache
def seconds_of(dtype: FastDtype) -> float:
    """dtype (FastDtype): type of the weights. RETURNS (float): time that a layer takes on the CPU
    in seconds, the minimum of several runs."""
    random = torch.Generator().manual_seed(0)
    weight = torch.randn(_OUTPUTS, _INPUTS, generator=random)
    x = torch.randn(_ROWS, _INPUTS, generator=random)
    if dtype == "int8":
        values, scale = quantize_weight(weight)
        layer = make_linear(values, None, scale)
    else:
        x = x.to(getattr(torch, dtype))
        layer = make_linear(weight.to(x.dtype), None, None)
    with torch.inference_mode():
        # The first run compiles the kernel.
        return min(repeat(partial(layer.forward, x), number=1, repeat=_RUNS + 1)[1:])
