"""Attributes set by a recognizer: the probability of a mention (`span._.mention_probability`), its
other possible labels (`span._.mention_labels`), and the tokens of a document that may belong to
mentions (`doc._.possible_mentions`)."""

from collections.abc import Sequence
from typing import NamedTuple

from spacy.tokens import Doc, Span

NAME = "mention_probability"
LABELS = "mention_labels"
POSSIBLE = "possible_mentions"


class PossibleMention(NamedTuple):
    """Tokens that may belong to a mention.

    start, end (int): token indices.
    label (str): label of the mention.
    probability (float): mean probability of the tokens.
    """

    start: int
    end: int
    label: str
    probability: float


def probability_of(span: Span) -> float | None:
    """span (Span): a mention. RETURNS (float | None): its probability; None if it has none."""
    return span._.get(NAME)


def other_labels_of(span: Span) -> dict[str, float]:
    """span (Span): a mention. RETURNS (dict[str, float]): other labels under which the recognizer
    finds it, with their probabilities."""
    return span._.get(LABELS) or {}


def possible_mentions_of(doc: Doc) -> list[PossibleMention]:
    """doc (Doc): a document. RETURNS (list[PossibleMention]): sorted by position; empty if no
    recognizer has set them."""
    found: Sequence[tuple[int, int, str, float]] = doc._.get(POSSIBLE) or ()
    return [PossibleMention(*one) for one in found]


for _name in (NAME, LABELS):
    if not Span.has_extension(_name):
        Span.set_extension(_name, default=None)
if not Doc.has_extension(POSSIBLE):
    Doc.set_extension(POSSIBLE, default=None)
