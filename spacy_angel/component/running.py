"""Where and in which type a component's model runs."""

from threading import RLock
from typing import Annotated, Literal

from pydantic import Field

from .checked import CheckedSettings, Name

RunDtype = Literal["float32", "bfloat16", "float16", "int8", "auto"]
Device = Annotated[Name, Field(description="`cpu`, `cuda`, `cuda:1`, …")]
RunsIn = Annotated[
    RunDtype,
    Field(
        description="type of the weights while they run; `int8` on a CPU only, `float16` "
        "elsewhere only; `auto`: the one that a short measurement finds fastest here"
    ),
]


OPENING = RLock()
"""Held while a model or vocabulary is opened at its first use: of several threads, one does."""


def expect_dtype(settings: CheckedSettings, dtype: str, device: str) -> None:
    """settings (CheckedSettings): whose `dtype` and `device` these are. RAISES (AngelError): a type
    that does not run there."""
    # Sums of float16 overflow on a CPU, and it is slower there than float32.
    fits = dtype != "float16" or device.partition(":")[0] != "cpu"
    settings.expect("dtype", fits, "float32, bfloat16 or int8 on a CPU")
