"""Forked processes, such as those of `nlp.pipe(n_process=2)`: thread pools only exist in the
parent, so children use a single thread."""

import os
from functools import cache

_TOKENIZERS = "TOKENIZERS_PARALLELISM"


@cache
def quiet_tokenizers_in_forks() -> None:
    """Tell the tokenizers before each fork that the child will not use their threads. Otherwise
    they do the same but warn. The variable is reset in the parent."""
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
    """Torch's thread pool hangs in a child of the process in which this object was created, unless
    the child uses a single thread."""

    def __init__(self) -> None:
        self._process = os.getpid()

    def ensure(self) -> None:
        """Use a single thread from now on if this process is a child."""
        if os.getpid() != self._process:
            import torch

            torch.set_num_threads(1)
            self._process = os.getpid()
