"""`span._.kb_id`: the identifier of the concept that a mention is linked to, as `span.kb_id_`."""

from typing import Any

from spacy.tokens import Span

NAME = "kb_id"


def attribute_key(span: Span, name: str) -> tuple[str, str, int, int]:
    """span (Span): a mention. name (str): of an attribute. RETURNS (tuple[str, str, int, int]): the
    key in `doc.user_data` under which spaCy stores `span._.NAME`."""
    return ("._.", name, span.start_char, span.end_char)


def _read(span: Span) -> str:
    data: dict[Any, Any] = span.doc.user_data
    # A mention has its own identifier; a slice of the document has none.
    return span.kb_id_ if span.label or span.kb_id else data.get(attribute_key(span, NAME), "")


def _write(span: Span, kb_id: str) -> None:
    """Set the identifier of this span, and of the entity and the spans of groups that it equals:
    spaCy makes new `Span` objects each time they are asked for."""
    data: dict[Any, Any] = span.doc.user_data
    data[attribute_key(span, NAME)] = kb_id  # for spans without a label, such as `doc[2:4]`
    if span.kb_id_ == kb_id:
        return
    span.kb_id_ = kb_id
    if any(_is_same(entity, span) for entity in span.doc.ents):
        for token in span:
            token.ent_kb_id_ = kb_id
    for group in span.doc.spans.values():
        for i, one in enumerate(group):
            if _is_same(one, span):
                one.kb_id_ = kb_id
                group[i] = one


def _is_same(one: Span, other: Span) -> bool:
    return (one.start, one.end, one.label) == (other.start, other.end, other.label)


if not Span.has_extension(NAME):
    Span.set_extension(NAME, getter=_read, setter=_write)
