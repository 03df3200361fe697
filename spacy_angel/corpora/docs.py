"""Conversion of gold documents to spaCy Docs and back."""

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from .documents import CorpusDocument, GoldMention, within_text

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

GOLD_SPANS = "gold"
# spaCy drops entities without a label; in `doc.spans`, the label may be empty.
NO_LABEL = "MENTION"
# The identifier that spaCy assigns to entities linked to NIL.
_NIL = "NIL"


def to_doc(document: CorpusDocument, nlp: "Language") -> "Doc":
    """Convert a document to a Doc with gold mentions.

    `doc.spans["gold"]` contains all mentions in order, with label and `kb_id_`, which is one string
    even for a composite. `doc.ents` contains the mentions that do not overlap with a longer one;
    those without a label get the label `MENTION`. Tokens are split at the boundaries of mentions,
    so offsets are exact.

    document (CorpusDocument): the document to convert.
    nlp (Language): pipeline whose tokenizer and vocab are used.
    RETURNS (Doc): the Doc. Its `user_data` contains `doc_id`, `title_end`, and `parts` and
        `read_as` for each mention.
    """
    from spacy.tokens import Doc
    from spacy.util import filter_spans

    document = within_text(document)
    cuts = sorted({offset for m in document.mentions for offset in (m.start, m.end)})
    words, spaces = _split_words(nlp.make_doc(document.text), cuts)
    doc = Doc(nlp.vocab, words=words, spaces=spaces)

    def span(mention: GoldMention, label: str) -> "Span":
        place, ids = (mention.start, mention.end), mention.concept_ids
        # Never None: tokens are split at the boundaries of mentions.
        return cast("Span", doc.char_span(*place, label=label, kb_id=ids))

    doc.spans[GOLD_SPANS] = [span(mention, mention.label) for mention in document.mentions]
    doc.ents = filter_spans(span(m, m.label or NO_LABEL) for m in document.mentions)
    doc.user_data.update(
        doc_id=document.doc_id,
        title_end=document.title_end,
        parts=[list(mention.parts) for mention in document.mentions],
        read_as=[mention.read_as for mention in document.mentions],
    )
    return doc


def _split_words(doc: "Doc", cuts: list[int]) -> tuple[list[str], list[bool]]:
    words, spaces = [], []
    # `doc.text` is rebuilt from the tokens on each access.
    text = doc.text
    for token in doc:
        start, end = token.idx, token.idx + len(token)
        inside = cuts[bisect_right(cuts, start) : bisect_left(cuts, end)]
        words += [text[a:b] for a, b in pairwise((start, *inside, end))]
        spaces += [False] * len(inside) + [bool(token.whitespace_)]
    return words, spaces


def from_doc(doc: "Doc", doc_id: str = "") -> CorpusDocument:
    """Convert a Doc to a document. Its mentions are the span group `gold`, or else the entities,
    or else spaCy's default span group `sc`.

    doc (Doc): a Doc from `to_doc` or any other source.
    doc_id (str): identifier to use if `user_data` contains none.
    RETURNS (CorpusDocument): `from_doc(to_doc(document, nlp)) == document`. Mentions linked to
        `NIL` have no identifier.
    """
    data = doc.user_data
    spans = list(doc.spans.get(GOLD_SPANS, doc.ents or doc.spans.get("sc", ())))
    parts, read_as = data.get("parts") or [], data.get("read_as") or []
    parts = parts if len(parts) == len(spans) else [()] * len(spans)
    read_as = read_as if len(read_as) == len(spans) else [""] * len(spans)
    mentions = []
    for span, own_parts, read in zip(spans, parts, read_as, strict=True):
        place, ids = (span.start_char, span.end_char), "" if span.kb_id_ == _NIL else span.kb_id_
        mention = GoldMention(*place, span.text, span.label_, ids, tuple(own_parts), read)
        mentions.append(mention)
    return CorpusDocument(
        doc_id=str(data.get("doc_id") or doc_id),
        text=doc.text,
        mentions=tuple(mentions),
        title_end=data.get("title_end"),
    )
