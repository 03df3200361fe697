"""Forked processes, such as those of `nlp.pipe(n_process=2)`: thread pools stay behind in the
parent, so a child computes without them."""

import os
from functools import cache

_TOKENIZERS = "TOKENIZERS_PARALLELISM"


@cache
def quiet_tokenizers_in_forks() -> None:
    """Tell the tokenizers before every fork that a child does without their threads; untold, they
    do so too, and warn. The variable is taken back in the parent."""
    added: list[bool] = []

    def tell() -> None:
        added.append(_TOKENIZERS not in os.environ)
        os.environ.setdefault(_TOKENIZERS, "false")

    def take_back() -> None:
        if added.pop():
            del os.environ[_TOKENIZERS]

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=tell, after_in_parent=take_back)


class OneThreadInForks:
    """Torch's thread pool hangs in a child of the process in which this was made, unless the
    child computes in one thread."""

    def __init__(self) -> None:
        self._process = os.getpid()

    def ensure(self) -> None:
        """Compute in one thread from now on, where this is a child."""
        if os.getpid() != self._process:
            import torch

            torch.set_num_threads(1)
            self._process = os.getpid()
