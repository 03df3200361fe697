"""Entry point shared by the project's scripts."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from spacy_angel.errors import AngelError


@contextmanager
def plain_errors() -> Iterator[None]:
    """Print only the message of an error, which states what to do, without a traceback."""
    try:
        yield
    except AngelError as error:
        sys.exit(f"Error: {error}")


def run(app: Callable[[], Any]) -> None:
    """app (Callable[[], Any]): a command-line application."""
    with plain_errors():
        app()
