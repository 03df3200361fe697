"""The component's scorer, and the gold identifiers of mentions."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from spacy.scorer import Scorer

from ...vocabulary.names.identifiers import split_ids
from ..types import NIL

if TYPE_CHECKING:
    from ...vocabulary.kb import ConceptKB


def make_linker_scorer() -> Callable[..., dict[str, Any]]:
    """`spacy_angel.linker_scorer.v1`. RETURNS (Callable): spaCy's `Scorer.score_links`, where
    entities that get `NIL` or are not linked have no link."""
    return partial(Scorer.score_links, negative_labels=(NIL, ""))


def gold_ids(kb_id: str, kb: "ConceptKB") -> frozenset[str]:
    """kb_id (str): gold identifiers of a mention, joined by `|` or `+`. kb (ConceptKB): the
    vocabulary. RETURNS (frozenset[str]): the concepts; empty if the mention should link to NIL."""
    return frozenset(filter(None, map(kb.resolve, split_ids(kb_id))))
