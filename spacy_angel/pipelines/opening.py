"""The time in which spaCy is imported and a pipeline is opened."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def opening() -> Iterator[None]:
    """Import spaCy, and torch with it, and open a pipeline in this block, without looking for
    garbage.

    A million objects are made and stay; Python's collector would look through all of them every
    time that a quarter is added, and whenever what spaCy reads switches it on again, which takes a
    seventh of the whole time. Afterwards it is as it was.
    """
    was_enabled = gc.isenabled()
    is_first = not gc.get_freeze_count()
    gc.disable()
    try:
        import spacy  # noqa: F401

        if is_first:
            gc.freeze()
        yield
    finally:
        if is_first:
            gc.unfreeze()
        if was_enabled:
            gc.enable()
        else:
            gc.disable()
