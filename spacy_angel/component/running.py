"""Device and number type of a component's model."""

from threading import RLock
from typing import Annotated, Literal

from pydantic import Field

from .checked import CheckedSettings, Name

RunDtype = Literal["float32", "bfloat16", "float16", "int8", "auto"]
Device = Annotated[Name, Field(description="`cpu`, `cuda`, `cuda:1`, …")]
RunsIn = Annotated[
    RunDtype,
    Field(
        description="type of the weights in memory; `int8` runs on CPUs only, `float16` on GPUs "
        "only; `auto` measures which type is fastest on this machine"
    ),
]


OPENING = RLock()
"""Held while a model or vocabulary is opened, so that only one thread opens it."""


def expect_dtype(settings: CheckedSettings, dtype: str, device: str) -> None:
    """settings (CheckedSettings): settings with `dtype` and `device`. RAISES (AngelError): the type
    cannot be used on the device."""
    # Sums of float16 overflow on a CPU, and it is slower there than float32.
    fits = dtype != "float16" or device.partition(":")[0] != "cpu"
    settings.expect("dtype", fits, "float32, bfloat16 or int8 on a CPU")
