"""Attributes of mentions set by a recognizer: the probability (`span._.mention_probability`), other
possible labels (`span._.mention_labels`), and the range of tokens that may belong to the mention
(`span._.mention_extent`)."""

from spacy.tokens import Span

NAME = "mention_probability"
LABELS = "mention_labels"
EXTENT = "mention_extent"


def probability_of(span: Span) -> float | None:
    """span (Span): a mention. RETURNS (float | None): its probability; None if it has none."""
    return span._.get(NAME)


def other_labels_of(span: Span) -> dict[str, float]:
    """span (Span): a mention. RETURNS (dict[str, float]): other labels under which the recognizer
    finds it, with their probabilities."""
    return span._.get(LABELS) or {}


def extent_of(span: Span) -> tuple[int, int]:
    """span (Span): a mention. RETURNS (tuple[int, int]): the tokens that may belong to it,
    including its own."""
    start, end = span._.get(EXTENT) or (span.start, span.end)
    return start, end


for _name in (NAME, LABELS, EXTENT):
    if not Span.has_extension(_name):
        Span.set_extension(_name, default=None)
