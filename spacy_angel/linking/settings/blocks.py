"""Settings of `angel_linker` that stand together in a block of its config."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ...component.checked import CheckedSettings, Name
from .attributes import ATTRIBUTES


@dataclass(frozen=True)
class OutputsBlock(CheckedSettings):
    """`[components.angel_linker.outputs]`: a field for each of `ATTRIBUTES`, and the group."""

    COMPONENT, BLOCK = "angel_linker", "outputs"

    kb_id: Annotated[
        Name,
        Field(
            description="attribute on `span._` with the identifier; the linker with `kb_id` also "
            "writes `span.kb_id_`"
        ),
    ] = "kb_id"
    kb_ents: Annotated[
        Name,
        Field(
            description="attribute on `span._` with the concepts: with `rerank` the probability "
            "that each is right, which with that of none makes 1; else its share among the names "
            "found"
        ),
    ] = "kb_ents"
    candidates: Annotated[
        Name,
        Field(
            description="attribute on `span._` with all that was found: names with the model's "
            "`log_prob`, with `rerank` also each one's `probability`"
        ),
    ] = "candidates"
    span_key: Annotated[
        Name | None,
        Field(description="also write the mentions, with `kb_id_`, into this span group"),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        names = {getattr(self, attribute.name) for attribute in ATTRIBUTES}
        is_own = len(names) == len(ATTRIBUTES)
        self.expect("kb_id", is_own, "unlike the other two attributes' names")
