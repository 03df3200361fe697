"""Mentions with a typo, read as they were meant."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from typing import TYPE_CHECKING

from ...vocabulary.lookup.words import LONGEST

if TYPE_CHECKING:
    from ...model.mention import Mention
    from ...vocabulary.kb import ConceptKB

# A word without digits; few capitals in a row are a short form, whose letters are no spelling.
_WORD = re.compile(rf"(?<![^\W_])(?:[A-Z]?[a-z]{{4,{LONGEST - 1}}}|[A-Z]{{8,{LONGEST}}})(?![^\W_])")
_MOST_READINGS = 32


def correct_spelling(mention: "Mention", kb: "ConceptKB") -> "Mention":
    """Read words that neither the vocabulary nor biomedical text knows as similar ones that they
    know.

    mention (Mention): long forms are already in their place.
    kb (ConceptKB): the vocabulary.
    RETURNS (Mention): e.g. `heart atack` → `heart attack`: the first
        reading that is a name of the vocabulary, else the first. As it is where it is a name, or
        no word is unknown.
    """
    if kb.name_index(mention.text) is not None:
        return mention
    readings = list(islice(_readings(mention.text, kb), _MOST_READINGS))
    if readings[0] == mention.text:
        return mention
    names = (text for text in readings if kb.name_index(text) is not None)
    return replace(mention, text=next(names, readings[0]))


def _readings(text: str, kb: "ConceptKB") -> Iterator[str]:
    """YIELDS (str): the text with its unknown words read as words similar to them, in every
    combination, the nearest first."""
    parts: list[list[str]] = []
    end = 0
    for found in _WORD.finditer(text):
        word = found[0].lower()
        corrections = kb.words.corrections(word)
        parts += [[text[end : found.start()]], [found[0]] if corrections == [word] else corrections]
        end = found.end()
    return map("".join, product(*parts, [text[end:]]))
