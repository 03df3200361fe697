"""What several benchmarks measure with."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any


def in_new_process(stage: Callable[..., Any], *arguments: Any) -> Any:
    """stage (Callable): a function of a module. arguments (Any): its own. RETURNS (Any): what it
    returns, in a process that has done nothing else."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(stage, *arguments).result()


def memory_mib(field: str = "VmRSS", process: int | str = "self") -> float | None:
    """field (str): `VmRSS`, now, or `VmHWM`, the most. process (int | str): its number.
    RETURNS (float | None): MiB (Linux); None where the process has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return None
    kib = (line.split()[1] for line in lines if line.startswith(f"{field}:"))
    return next((int(value) / 1024 for value in kib), None)
