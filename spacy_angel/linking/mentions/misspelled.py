"""Names of diseases and chemicals that stand misspelled in running text, where no recogniser
expects them: `athsma`."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rapidfuzz.distance import OSA

from ...vocabulary.lookup.occurrences import Occurrence
from ...vocabulary.lookup.words import LONGEST
from ...vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE
from ...vocabulary.names.entity_types import label_of

if TYPE_CHECKING:
    from ...vocabulary.kb import ConceptKB

# Capitals begin names of people and places, which are known to no list and similar to many words.
_WORD = re.compile(rf"(?<![\w'’-])[a-z]{{6,{LONGEST}}}(?![\w'’-])")
_CHANGED_FROM = 7
_LABELS = frozenset(one.name for one in ENTITY_TYPE_TABLE if one.is_word)


def find_misspelled(text: str, kb: "ConceptKB") -> Iterator[Occurrence]:
    """Words that neither the vocabulary nor biomedical text knows, as `spelling.correct_spelling`
    has it, and that are one edit away from a name.

    text (str): of a document.
    kb (ConceptKB): the vocabulary.
    YIELDS (Occurrence): the name of a disease or chemical that was meant, where two letters of six
        and more are swapped or one is in the wrong place, or one of seven and more is changed,
        added or left out, the first and the last as they should be.
    """
    for found in _WORD.finditer(text):
        word = found[0]
        meant = kb.words.corrections(word)[0]
        if meant == word or (meant[0], meant[-1]) != (word[0], word[-1]):
            continue
        is_moved = sorted(word) == sorted(meant)
        if not is_moved and (len(meant) < _CHANGED_FROM or OSA.distance(word, meant) > 1):
            continue
        name = kb.name_index(meant)
        if name is None or _is_plural(word, kb):
            continue
        types = kb.types_of(kb.concept_ids_of(name)[0])
        if label_of(types) in _LABELS:
            yield Occurrence(found.start(), found.end(), name)


def _is_plural(word: str, kb: "ConceptKB") -> bool:
    """Whether it is no typo, but more than one of something known."""
    return word[-1] == "s" and kb.words.count(word[:-1]) > 0
