"""Which type of weights a machine multiplies fastest: a short measurement, once a process.

The order depends on the processor: bfloat16 is slower than float32 without AVX512-BF16 or AMX.
"""

import os
import platform
import re
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Literal

import torch

from .linear import Linear

FastDtype = Literal["float32", "bfloat16"]

# A layer of a model of the size of BART-base, and the rows of a batch of mentions being decoded.
_OUTPUTS, _INPUTS, _ROWS = 3072, 768, 128
_RUNS = 5
# bfloat16 must be faster than float32 by so much: clocks are not steady.
_MIN_GAIN = 1.2


@cache
def fastest_dtype(device: torch.device) -> FastDtype:
    """device (torch.device): where the model runs.
    RETURNS (FastDtype): the type to run in; on a GPU `bfloat16` where it has it."""
    if device.type == "cpu":
        is_faster = seconds_of(torch.float32) >= _MIN_GAIN * seconds_of(torch.bfloat16)
    else:
        is_faster = device.type == "cuda" and torch.cuda.is_bf16_supported()
    return "bfloat16" if is_faster else "float32"


def seconds_of(dtype: torch.dtype) -> float:
    """dtype (torch.dtype): of the weights.
    RETURNS (float): seconds that a layer takes on the CPU, the least of several runs."""
    random = torch.Generator().manual_seed(0)
    layer = Linear(torch.randn(_OUTPUTS, _INPUTS, generator=random).to(dtype), None)
    x = torch.randn(_ROWS, _INPUTS, generator=random).to(dtype)
    seconds = []
    with torch.inference_mode():
        for _ in range(_RUNS + 1):
            begin = perf_counter()
            layer(x)
            seconds.append(perf_counter() - begin)
    # The first run compiles the kernel.
    return min(seconds[1:])


def describe_cpu() -> str:
    """RETURNS (str): the processor, its cores and the instructions that torch uses, e.g.
    `AMD EPYC 9V74, 2 cores, AVX512`."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf8", errors="replace")
    except OSError:  # not Linux
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)", text, re.MULTILINE)
    name = found[1] if found else platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores, {torch.backends.cpu.get_cpu_capability()}"
