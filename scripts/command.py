"""How the project's scripts end."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from spacy_angel.errors import AngelError


@contextmanager
def plain_errors() -> Iterator[None]:
    """A person reads what went wrong: the message says what to do, a traceback would not."""
    try:
        yield
    except AngelError as error:
        sys.exit(f"Error: {error}")


def run(app: Callable[[], Any]) -> None:
    """app (Callable[[], Any]): a command line."""
    with plain_errors():
        app()
