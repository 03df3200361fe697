"""Forked processes, such as those of `nlp.pipe(n_process=2)`: thread pools only exist in the
parent, so children use a single thread."""

import os
from functools import cache

_TOKENIZERS = "TOKENIZERS_PARALLELISM"


@cache
def use_one_thread_in_forks() -> None:
    """From now on, use a single thread of torch and of the tokenizers in forked processes: torch
    would hang in them, and the tokenizers would warn. The environment variable of the tokenizers is
    reset in the parent."""
    added: list[bool] = []

    def tell() -> None:
        added.append(_TOKENIZERS not in os.environ)
        os.environ.setdefault(_TOKENIZERS, "false")

    def take_back() -> None:
        if added.pop():
            del os.environ[_TOKENIZERS]

    def use_one_thread() -> None:
        import torch

        torch.set_num_threads(1)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=tell, after_in_parent=take_back, after_in_child=use_one_thread)
