"""The settings of the component `angel_recogniser`, with types, defaults and descriptions."""

from typing import Annotated

from pydantic import Field

from ..component.checked import CheckedSettings, Name, Names
from ..component.running import Device, RunsIn, expect_dtype


class RecognizerSettings(CheckedSettings):
    """The settings of `angel_recogniser`. The annotation of each field describes it.

    RAISES (AngelError): a value is invalid; the message names the setting, the expected values, and
        the given value.
    """

    COMPONENT = "angel_recogniser"

    labels: Annotated[
        Names | None, Field(description="labels to find; null: all labels of the model")
    ] = None
    threshold: Annotated[
        float, Field(ge=0, le=1, description="minimum probability of a mention")
    ] = 0.0
    span_key: Annotated[
        Name | None,
        Field(
            description="span group for all mentions, including overlapping ones, with their "
            'probabilities as `attrs["scores"]`; null: no group'
        ),
    ] = "mentions"
    span_labels: Annotated[
        Names | None, Field(description="labels of the mentions in the span group; null: all")
    ] = None
    set_ents: Annotated[
        bool,
        Field(
            description="also write the mentions to `doc.ents`; of overlapping ones, the most "
            "probable"
        ),
    ] = True
    secondary: Annotated[
        Names,
        Field(
            description="labels whose mentions, however probable, are only in `doc.ents` if no "
            "mention with another label overlaps"
        ),
    ] = ()
    overwrite: Annotated[
        bool, Field(description="remove existing entities; if false, they take precedence")
    ] = True
    skip_variants: Annotated[
        bool,
        Field(
            description="ignore mentions in sequence variants, as `angel_variants` finds them: "
            "`V600E` is not a cell line"
        ),
    ] = False
    batch_size: Annotated[int, Field(ge=1, description="documents per batch of the model")] = 16
    device: Device = "cpu"
    dtype: RunsIn = "float32"

    def check(self) -> None:
        expect_dtype(self, self.dtype, self.device)
        writes = self.span_key is not None or self.set_ents
        self.expect("set_ents", writes, "true if span_key is null, or nothing would be written")
