"""How probable a mention is, as what found it says: `span._.mention_probability`."""

from spacy.tokens import Span

NAME = "mention_probability"


def register_probability() -> None:
    """Register the attribute; None where nobody says how probable a mention is. One that others
    registered stays."""
    if not Span.has_extension(NAME):
        Span.set_extension(NAME, default=None)


def probability_of(span: Span) -> float | None:
    """span (Span): a mention. RETURNS (float | None): its probability, if it has one."""
    return span._.get(NAME) if Span.has_extension(NAME) else None
