"""Parallel batches on the cores of a CPU.

One thread per batch uses the cores better than sharing each small matrix product among all threads,
which would wait for each other thousands of times per batch.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

import torch

Batch = TypeVar("Batch")
Result = TypeVar("Result")


# Torch's threads as they were before the pools that run now, one entry a pool; while there is one,
# whoever asks torch for its threads may be told of a pool's single one.
_RUNNING: list[int] = []
_LOCK = Lock()


def cpu_threads(device: torch.device) -> int:
    """device (torch.device): device of the model. RETURNS (int): number of batches to run in
    parallel, the same for all threads of a process."""
    if device.type != "cpu":
        return 1
    with _LOCK:
        return _RUNNING[0] if _RUNNING else torch.get_num_threads()


def map_batches(
    function: Callable[[Batch], Result], batches: Sequence[Batch], threads: int
) -> Iterator[Result]:
    """Like `map`, on several threads that each use one of torch's threads.

    function (Callable[[Batch], Result]): only reads shared state.
    batches (Sequence[Batch]): independent of each other.
    threads (int): value of `torch.get_num_threads()`, which is restored afterwards.
    YIELDS (Result): in the order of the batches.
    """
    if threads == 1 or len(batches) < 2:
        yield from map(function, batches)
        return
    with _LOCK:
        _RUNNING.append(threads)
    try:
        # The number of torch's threads is a setting of the process and of each of its threads.
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield from pool.map(function, batches)
    finally:
        with _LOCK:
            torch.set_num_threads(threads)
            _RUNNING.remove(threads)


def batch_size_for(n: int, size: int, threads: int) -> int:
    """RETURNS (int): number of mentions per batch, at most `size`, such that all threads get the
    same number of batches, e.g. (10, 32, 2) → 5, (100, 32, 2) → 25."""
    rounds = -(-n // (size * threads))
    return max(1, -(-n // (max(rounds, 1) * threads)))
