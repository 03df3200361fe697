"""How probable a mention is, as what found it says: `span._.mention_probability`; and which other
labels it may have: `span._.mention_labels`."""

from spacy.tokens import Span

NAME = "mention_probability"
LABELS = "mention_labels"


def probability_of(span: Span) -> float | None:
    """span (Span): a mention. RETURNS (float | None): its probability, if it has one."""
    return span._.get(NAME)


def other_labels_of(span: Span) -> dict[str, float]:
    """span (Span): a mention. RETURNS (dict[str, float]): other labels under which the recognizer
    finds it, with their probabilities."""
    return span._.get(LABELS) or {}


for _name in (NAME, LABELS):
    if not Span.has_extension(_name):
        Span.set_extension(_name, default=None)
