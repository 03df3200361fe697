"""Requests and answers as JSON, and their descriptions."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

# `Limits` has the limit in use. With any limit, pydantic rejects half a surrogate pair, which JSON
# allows but UTF-8 cannot encode.
Text = Annotated[str, Field(max_length=2**30)]
Label = Annotated[
    str,
    Field(
        # Characters in the labels of recognizers and corpora; none is special in HTML.
        pattern=r"^[\w .,:+/|-]{0,100}$",
        description="Type of the mention, e.g. `DISEASE`; empty if unknown.",
    ),
]
DocId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=200,
        description="Returned with the answer; the default is the document's number, from 1.",
    ),
]


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class GivenMention(_Given):
    """A mention to link."""

    start: int = Field(ge=0, description="Index of the first character (code point), from 0.")
    end: int = Field(ge=1, description="Index after the last character.")
    label: Label = ""


class GivenDocument(_Given):
    """A text, with or without mentions."""

    text: Text
    doc_id: DocId | None = None
    mentions: list[GivenMention] | None = Field(
        default=None, description="Mentions to link; by default the pipeline finds them."
    )


class GivenString(_Given):
    """A mention without its position in a text."""

    text: Text = Field(min_length=1, description="E.g. `heart attack`.")
    label: Label = ""
    context: Text | None = Field(
        default=None, description="Text that contains the string; its first occurrence counts."
    )


class LinkRequest(_Given):
    """One text, or any number of documents and strings."""

    text: Text | None = None
    documents: list[GivenDocument] = []
    strings: list[GivenString] = []


class LinkedMention(BaseModel):
    """A mention and its concept."""

    start: int
    end: int
    text: str
    label: str
    status: Literal["linked", "nil", "skipped"] = Field(
        default="nil",
        description="`nil`: the vocabulary has no such concept; `skipped`: mentions with this "
        "label are not linked.",
    )
    concept_id: str | None = None
    name: str | None = Field(default=None, description="Canonical name of the concept.")
    probability: float | None = Field(
        default=None,
        description="Probability that the concept is right; null if the pipeline has no reranker.",
    )
    nil_probability: float | None = Field(
        default=None, description="Probability that the vocabulary has no such concept."
    )


class Found(BaseModel):
    """A concept that was found for a mention."""

    concept_id: str
    name: str
    probability: float


class ExplainedMention(LinkedMention):
    """A mention, its concept, and the reasons."""

    why: str
    candidates: list[Found]


class LinkedDocument(BaseModel):
    """A document and its mentions."""

    doc_id: str
    mentions: list[ExplainedMention | LinkedMention]


class LinkAnswer(BaseModel):
    """Links in the order of the request; `text` comes before `documents`."""

    documents: list[LinkedDocument] = []
    strings: list[ExplainedMention | LinkedMention] = []


class NameHit(BaseModel):
    """A concept and the name that matched."""

    concept_id: str
    name: str = Field(description="Canonical name.")
    matched: str
    how: Literal["identifier", "name", "prefix", "similar"]
    types: list[str]


class Problem(BaseModel):
    """What is wrong and what to do; never quotes a text."""

    error: str
