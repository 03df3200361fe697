"""Derived words and the nouns that vocabularies have for them: `neuronal`, `cortices`."""

import re
from collections.abc import Callable, Iterator
from functools import cache

from ...about import DATA
from ...vocabulary.names.concepts import normalize_name

FILE = DATA / "derived_forms.tsv"
"""Adjectives that pertain to a noun, and irregular plurals, of WordNet 3.0."""
_WORD = re.compile(r"[^\W\d_]+")


@cache
def read_derived_forms() -> dict[str, tuple[str, ...]]:
    """RETURNS (dict[str, tuple[str, ...]]): nouns by word, e.g. `renal` → `kidney`."""
    lines = FILE.read_text(encoding="utf8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {word: tuple(nouns.split("|")) for word, nouns in rows}


def derived_names(text: str, is_name: Callable[[str], bool]) -> list[str]:
    """Names that a mention is a derived form of.

    text (str): a mention that is no name.
    is_name (Callable[[str], bool]): whether a text is a name of a concept that the mention may
        have.
    RETURNS (list[str]): each once, e.g. `neuronal` → `neuron`, `vestibular epithelia` →
        `vestibular epithelium`.
    """
    return list(dict.fromkeys(filter(is_name, _readings(normalize_name(text)))))


def _readings(text: str) -> Iterator[str]:
    """YIELDS (str): with one word derived, each in turn; then all that can be."""
    forms = read_derived_forms()
    words = [found for found in _WORD.finditer(text) if found[0] in forms]
    for found in words:
        for noun in forms[found[0]]:
            yield text[: found.start()] + noun + text[found.end() :]
    if len(words) > 1:
        yield _WORD.sub(lambda found: forms.get(found[0], (found[0],))[0], text)
