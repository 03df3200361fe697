"""Typing errors in mentions and names."""

from random import Random
from string import ascii_lowercase

Edit = tuple[int, int, str]
"""Start, end, and new text, as expected by `text_changes.replace_spans`."""


def choose_typos(text: str, number: int, rng: Random, offset: int = 0) -> list[Edit]:
    """Choose letters to change and pairs of letters to swap. Capitals keep their position.

    text (str): the text.
    number (int): number of typing errors; there are fewer if the text is too short.
    rng (Random): random generator.
    offset (int): offset of the text, which is added to all positions.
    RETURNS (list[Edit]): edits that do not overlap, in the order of the text.
    """
    edits: list[Edit] = []
    changed: set[int] = set()
    for start in rng.sample(range(len(text)), len(text)):
        end = start + rng.randint(1, 2)
        old = text[start:end]
        new = old[::-1] if len(old) == 2 else rng.choice(ascii_lowercase)
        new = "".join(
            n.upper() if o.isupper() else n.lower() for o, n in zip(old, new, strict=True)
        )
        is_free = changed.isdisjoint(range(start, end))
        if len(edits) < number and is_free and old.isalpha() and new != old:
            edits.append((start + offset, end + offset, new))
            changed.update(range(start, end))
    return sorted(edits)


def add_typos(text: str, number: int, rng: Random) -> str:
    """Add typing errors to a text.

    text (str), number (int), rng (Random): see `choose_typos`.
    RETURNS (str): the text with errors, e.g. `heart atatck`.
    """
    for start, end, new in reversed(choose_typos(text, number, rng)):
        text = text[:start] + new + text[end:]
    return text
