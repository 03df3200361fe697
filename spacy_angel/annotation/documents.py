"""A document with its links, and a document that failed."""

from dataclasses import dataclass
from typing import Any

from ..corpora.documents import CorpusDocument

SCORES = ("probability", "share")
"""Names of the score of a link: a probability that it is right, or a share among names."""


@dataclass(frozen=True, slots=True)
class AnnotatedDocument:
    """A document with its links.

    document (CorpusDocument): its mentions have the identifiers that they were linked to, empty
        for NIL.
    links (list[dict[str, Any]]): for each mention the canonical `name` of its concept, and one of
        `probability` (with `rerank`) and `share`, rounded; the others are None, as all are without
        a concept. With `candidates`, all concepts that were found, best first.
    input (str): name of the file that the document is from, without its folder.
    """

    document: CorpusDocument
    links: list[dict[str, Any]]
    input: str = ""

    def to_row(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): a JSON object or table row, with `input`, `doc_id`,
        `title_end`, `text` and `mentions`; a mention has `start`, `end`, `text`, `label`,
        `concept_id`, and the fields of its link."""
        mentions = [
            {"start": m.start, "end": m.end, "text": m.text, "label": m.label}
            | {"concept_id": m.concept_ids or None, **link}
            for m, link in zip(self.document.mentions, self.links, strict=True)
        ]
        return {
            "input": self.input,
            "doc_id": self.document.doc_id,
            "title_end": self.document.title_end,
            "text": self.document.text,
            "mentions": mentions,
        }


@dataclass(frozen=True, slots=True)
class Failure:
    """A document that could not be annotated.

    doc_id (str): its identifier.
    error (Exception): what it failed with.
    """

    doc_id: str
    error: Exception

    @property
    def reason(self) -> str:
        """Type and message of the error."""
        return f"{type(self.error).__name__}: {self.error}"
