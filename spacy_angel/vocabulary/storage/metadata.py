"""The metadata of a vocabulary, stored with its columns."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...errors import AngelError
from .table import SharedNames


class BuildOptions(BaseModel):
    """How a vocabulary is built, and where its concepts come from.

    RAISES (AngelError): a value is invalid.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    shared_names: SharedNames = "all"
    """A name of several concepts leads to `all` of them, or only to the one with `fewer_names`
    (GenBioEL, appendix E.1)."""
    endings: Literal["species"] | None = None
    """Concepts that share a name, such as genes, are of different `species`, given as types, e.g.
    `NCBITaxon:9606`; linkers rank them by the species that the document mentions."""
    sources: list[Any] = Field(default_factory=list)
    """Origin of the concepts, plain values. Readers may complete them while the vocabulary is
    built."""
    steps: list[dict[str, Any]] = Field(default_factory=list)
    """Processing steps, plain values."""
    frequencies: dict[str, int] = Field(default_factory=dict)
    """Identifier → occurrences, see `VocabularyOverlay.add_mentions`."""
    own_names: dict[str, list[str]] = Field(default_factory=dict)
    """Identifier → names in normal form that users added."""

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            problem = error.errors()[0]
            name = ".".join(map(str, problem["loc"]))
            found = f"found {problem['input']!r}"
            raise AngelError(f"{name}: {problem['msg']}, {found}") from error


class Metadata(BuildOptions):
    """The metadata of a built vocabulary."""

    fingerprint: str
    """Digest of the names, see `ConceptTable.fingerprint`."""
    counts: dict[str, int]
    """Numbers of concepts, names and others as of the last save."""
    columns: dict[str, Any] = Field(default_factory=dict)
    """Type, shape and checksum of each stored array; empty if the vocabulary was not opened from a
    folder."""
