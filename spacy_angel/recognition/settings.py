"""What the component `angel_recogniser` can be told: each setting once, with its type, default and
meaning."""

from typing import Annotated

from pydantic import Field

from ..component.checked import CheckedSettings, Name, Names
from ..component.running import Device, RunsIn, expect_dtype


class RecogniserSettings(CheckedSettings):
    """The settings of `angel_recogniser`; the type of each carries its meaning.

    RAISES (AngelError): a value that does not fit; the message names setting, expectation, value.
    """

    COMPONENT = "angel_recogniser"

    labels: Annotated[
        Names | None,
        Field(description="labels to look for, of those that the model knows; null: all of them"),
    ] = None
    threshold: Annotated[
        float,
        Field(ge=0, le=1, description="mentions of a lower probability are left out"),
    ] = 0.0
    thresholds: Annotated[
        dict[Name, Annotated[float, Field(ge=0, le=1)]],
        Field(description="label to a threshold of its own"),
    ] = Field(default_factory=dict)
    span_key: Annotated[
        Name | None,
        Field(
            description="span group that gets all mentions, also those that overlap; its "
            "`attrs` have their probabilities as `scores`. null: no group"
        ),
    ] = "mentions"
    span_labels: Annotated[
        Names | None,
        Field(description="labels of the mentions in the group; null: all that are looked for"),
    ] = None
    set_ents: Annotated[
        bool,
        Field(
            description="write the mentions into `doc.ents` as well, of those that overlap the "
            "most probable"
        ),
    ] = True
    secondary: Annotated[
        Names,
        Field(
            description="labels whose mentions are in `doc.ents` only where none of another label "
            "is, however probable: a phenotype that is a disease, too"
        ),
    ] = ()
    overwrite: Annotated[
        bool,
        Field(description="drop the entities that a document has; if not, they come first"),
    ] = True
    replaces: Annotated[
        Names,
        Field(
            description="with `overwrite` off, labels whose mentions take the place of entities "
            "over which nothing of the entity's own label is found: a protein that another "
            "recogniser took for a chemical"
        ),
    ] = ()
    skip_variants: Annotated[
        bool,
        Field(
            description="sequence variants, as `angel_variants` finds them, are no mentions: "
            "`V600E` is no cell line"
        ),
    ] = False
    batch_size: Annotated[int, Field(ge=1, description="documents in one pass of the model")] = 16
    device: Device = "cpu"
    dtype: RunsIn = "float32"

    def check(self) -> None:
        expect_dtype(self, self.dtype, self.device)
        writes = self.span_key is not None or self.set_ents
        self.expect("set_ents", writes, "true where span_key is null, or nothing would be written")
