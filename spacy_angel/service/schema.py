"""What is asked and answered, in plain values: JSON's shape, and its description."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ..files.json_values import Text

Label = Annotated[
    str,
    Field(
        # What stands in labels of recognisers and corpora; nothing that HTML would read as its own.
        pattern=r"^[\w .,:+/|-]{0,100}$",
        description="Type of the mention, e.g. `DISEASE`; empty where it is not known.",
    ),
]
DocId = Annotated[
    str,
    Field(
        # A tab, a line end or a bar would end it in PubTator.
        pattern=r"^[^|\s](?:[^|\t\n\r]{0,198}[^|\s])?$",
        description="Comes back with the answer; without one the document's number, from 1.",
    ),
]


_EXAMPLES: list[JsonValue] = [
    {"text": "She had a heart attack."},
    {"strings": [{"text": "MS", "label": "DISEASE", "context": "MS is a nervous disease."}]},
]


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class GivenMention(_Given):
    """A mention that is to be linked."""

    start: int = Field(ge=0, description="First character, a Unicode code point, from 0.")
    end: int = Field(ge=1, description="The character after the last one.")
    label: Label = ""


class GivenDocument(_Given):
    """A text, with its mentions or without."""

    text: Text
    doc_id: DocId | None = None
    mentions: list[GivenMention] | None = Field(
        default=None, description="What is to be linked; without it the pipeline finds mentions."
    )


class GivenString(_Given):
    """A string that is a mention as a whole."""

    text: Text = Field(min_length=1, description="E.g. `heart attack`.")
    label: Label = ""
    context: Text | None = Field(
        default=None, description="Text in which the string stands; its first place counts."
    )


class LinkRequest(_Given):
    """What is to be linked: one text, or any number of texts, documents and strings."""

    model_config = ConfigDict(json_schema_extra={"examples": _EXAMPLES})

    text: Text | None = None
    texts: list[Text] = []
    documents: list[GivenDocument] = []
    strings: list[GivenString] = []


class Found(BaseModel):
    """A concept that was found for a mention."""

    concept_id: str
    name: str
    probability: float
    names: list[str] = Field(description="Those that led to it, the most probable first.")


class LinkedMention(BaseModel):
    """A mention and its concept."""

    start: int
    end: int
    text: str
    label: str
    status: Literal["linked", "nil", "skipped"] = Field(
        default="nil",
        description="`nil`: no concept of the vocabulary is meant; `skipped`: mentions of this "
        "label are not linked.",
    )
    concept_id: str | None = None
    name: str | None = Field(default=None, description="Canonical name of the concept.")
    probability: float | None = Field(
        default=None, description="That the concept is the right one."
    )
    share: float | None = Field(
        default=None,
        description="In its place where the pipeline has no ranker: among the names found.",
    )
    nil_probability: float | None = Field(default=None, description="That none of the concepts is.")
    why: str | None = Field(default=None, description="With `explain`: the rule that decided.")
    candidates: list[Found] | None = Field(
        default=None, description="With `explain`: all that were found."
    )


class LinkedDocument(BaseModel):
    """A document and its mentions."""

    doc_id: str
    mentions: list[LinkedMention]


class LinkAnswer(BaseModel):
    """In the order of the request: `text` and `texts` come before `documents`."""

    documents: list[LinkedDocument] = []
    strings: list[LinkedMention] = []


class NameHit(BaseModel):
    """A concept, and the name that led to it."""

    concept_id: str
    name: str = Field(description="Canonical name.")
    matched: str
    how: Literal["identifier", "name", "prefix", "similar"]
    types: list[str]


class NameHits(BaseModel):
    """Best first."""

    concepts: list[NameHit]


class ConceptAnswer(BaseModel):
    """A concept of the vocabulary."""

    concept_id: str
    name: str
    aliases: list[str]
    types: list[str]
    definition: str | None
    alternate_ids: list[str]
    url: str | None = Field(description="Its page at the publisher's.")


class Health(BaseModel):
    """That the service answers, and what it links to."""

    status: Literal["ok"] = "ok"
    version: str
    concepts: int
    names: int


class Problem(BaseModel):
    """What was wrong, and what to do; never a part of a text."""

    error: str
