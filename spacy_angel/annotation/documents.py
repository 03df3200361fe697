"""Annotated documents as plain values: mentions with their concepts."""

from dataclasses import dataclass
from typing import Any

from ..corpora.documents import CorpusDocument, GoldMention

SCORE_PLACES = 4
SCORES = ("probability", "share")
"""Names of the score of a link in files: a probability that it is right, or a share among names."""


@dataclass(frozen=True, slots=True)
class ScoredConcept:
    """A concept proposed for a mention.

    concept_id (str): identifier with its vocabulary.
    name (str): the name that led to it, in its original spelling.
    score (float): as in `kb_ents`, rounded to 4 places; see `AnnotatedMention.is_share`.
    """

    concept_id: str
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class AnnotatedMention:
    """A mention and the concept that it was linked to.

    start (int), end (int): character offsets into the document's text.
    text (str): the text between them.
    label (str): e.g. `DISEASE`; empty where unknown.
    concept_id (str): empty where the mention links to NIL.
    name (str): canonical name of the concept; empty without one.
    score (float | None): as in `kb_ents`, rounded to 4 places; None without a concept, and where
        the identifier came with the input and was kept.
    candidates (tuple[ScoredConcept, ...]): best first; empty unless they were asked for.
    parts (tuple[str, ...]): individual mentions of a composite, as the input spells them out.
    is_share (bool): the scores are shares among the names found, as they are without `rerank`;
        else the probabilities that the concepts are right.
    """

    start: int
    end: int
    text: str
    label: str = ""
    concept_id: str = ""
    name: str = ""
    score: float | None = None
    candidates: tuple[ScoredConcept, ...] = ()
    parts: tuple[str, ...] = ()
    is_share: bool = False


@dataclass(frozen=True, slots=True)
class AnnotatedDocument:
    """A document with its links.

    doc_id (str), text (str), title_end (int | None): as in `CorpusDocument`.
    mentions (tuple[AnnotatedMention, ...]): those of the input in their order, or those that the
        pipeline found.
    """

    doc_id: str
    text: str
    mentions: tuple[AnnotatedMention, ...] = ()
    title_end: int | None = None

    def to_corpus(self) -> CorpusDocument:
        """RETURNS (CorpusDocument): the same for the writers of `spacy_angel.corpora`, which know
        no names and scores."""
        mentions = tuple(
            GoldMention(m.start, m.end, m.text, m.label, m.concept_id, m.parts)
            for m in self.mentions
        )
        return CorpusDocument(self.doc_id, self.text, mentions, title_end=self.title_end)


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that could not be annotated.

    doc_id (str): its identifier.
    reason (str): what went wrong.
    """

    doc_id: str
    reason: str

    @classmethod
    def of(cls, doc_id: str, error: Exception) -> "Failure":
        """doc_id (str), error (Exception): what it failed with. RETURNS (Failure): with both."""
        return cls(doc_id, f"{type(error).__name__}: {error}")

    def message(self) -> str:
        """RETURNS (str): of the error that is raised where failures are not recorded."""
        return (
            f"Document {self.doc_id} failed: {self.reason}. Without --strict it is recorded and "
            "skipped."
        )


def to_row(document: AnnotatedDocument, *, candidates: bool) -> dict[str, Any]:
    """A document as one JSON object or table row.

    document (AnnotatedDocument): any.
    candidates (bool): each mention has its candidates as well.
    RETURNS (dict[str, Any]): `doc_id`, `title_end`, `text`, `mentions`; a mention has `start`,
        `end`, `text`, `label`, `concept_id`, `name`, and `SCORES`, of which one has a value;
        identifier, name and scores are None without a link.
    """
    return {
        "doc_id": document.doc_id,
        "title_end": document.title_end,
        "text": document.text,
        "mentions": [_mention_row(mention, candidates) for mention in document.mentions],
    }


def _mention_row(mention: AnnotatedMention, candidates: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "start": mention.start,
        "end": mention.end,
        "text": mention.text,
        "label": mention.label,
        "concept_id": mention.concept_id or None,
        "name": mention.name or None,
        **_scores(mention, mention.score),
    }
    if candidates:
        row["candidates"] = [
            {"concept_id": c.concept_id, "name": c.name, **_scores(mention, c.score)}
            for c in mention.candidates
        ]
    return row


def _scores(mention: AnnotatedMention, score: float | None) -> dict[str, float | None]:
    values = (None, score) if mention.is_share else (score, None)
    return dict(zip(SCORES, values, strict=True))
