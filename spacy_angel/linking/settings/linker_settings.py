"""What the component `angel_linker` can be told: each setting once, with its type, default, limits
and meaning."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from ...component.checked import CheckedSettings, Name, Names
from ...component.running import Device, RunsIn, expect_dtype
from ...vocabulary.names.entity_type_table import WITH_TYPES
from ..ranking.ranker import Ranker, read_ranker, shipped_ranker
from .attributes import ATTRIBUTES
from .blocks import OutputsBlock, RankerBlock, ReadingBlock, SearchBlock

Dtype = Literal["float32", "bfloat16", "float16", "int8"]


@dataclass(frozen=True)
class LinkerSettings(CheckedSettings):
    """The settings of `angel_linker`, all but its model, vocabulary and scorer; the type of each
    carries its limits and its meaning, as `describe_settings` tells them.

    RAISES (AngelError): a value that does not fit; the message names setting, expectation, value.
    """

    COMPONENT = "angel_linker"

    # What the model reads.
    n_sents: Annotated[
        int | None,
        Field(
            ge=0,
            description="sentences of context on either side of the mention's own; null: the "
            "whole document, as far as the model's length allows",
        ),
    ] = None
    reading: Annotated[
        ReadingBlock, Field(description="what mentions are read as, and how much of the text is")
    ] = field(default_factory=ReadingBlock)
    # How it searches.
    num_beams: Annotated[
        int | None,
        Field(
            ge=1,
            description="beams of the beam search; null: as the model was published with, 10 for "
            "the released ones, else 5",
        ),
    ] = None
    k: Annotated[
        int,
        Field(ge=1, description="most names a mention; beam search finds at most `num_beams`"),
    ] = 5
    search: Annotated[
        SearchBlock,
        Field(
            description="the search of the model, and what its probabilities count for where no "
            "ranker does"
        ),
    ] = field(default_factory=SearchBlock)
    # How names become a link.
    threshold: Annotated[
        float | None,
        Field(ge=0, le=1, description="least probability of a concept to link to it; null: off"),
    ] = None
    rerank: Annotated[
        bool,
        Field(
            description="rank candidates by features beside the model: names that are similar to "
            "the mention, its long form or another way to write it are candidates too, and "
            "probabilities are the ranker's. Off, the model alone decides, as published"
        ),
    ] = False
    ranker: Annotated[
        RankerBlock, Field(description="the weights of the ranker, with `rerank`")
    ] = field(default_factory=RankerBlock)
    curation: Annotated[
        str | None,
        Field(
            description="TSV with the rules of a curator: strings that are names, or never are, "
            "concepts that are never linked to, or the only ones that are; read again when it "
            "changes, and saved with the pipeline"
        ),
    ] = None
    drop_unlinked_below: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="entities that get `NIL` and are less probable than this "
            "(`span._.mention_probability`) are left out of `doc.ents`; those of which no "
            "recogniser says how probable they are stay, as do the spans of a group. 0: all stay",
        ),
    ] = 0.0
    # Which mentions are linked, and to what.
    span_key: Annotated[
        Name | None,
        Field(description="mentions are the spans of this group; null: `doc.ents`"),
    ] = None
    labels: Annotated[
        Names,
        Field(
            description="only entities with these labels are linked, the others stay as they are; "
            "empty: those of `types_by_label`, or all where that is empty, too"
        ),
    ] = ()
    labels_discard: Annotated[
        Names,
        Field(
            description="entities with these labels are not linked: they keep the identifier that "
            "they have, or get `NIL`"
        ),
    ] = ("VARIANT",)
    types_by_label: Annotated[
        dict[Name, Names],
        Field(
            description="entity label → semantic types that its concept may have, one of them or "
            "none at all, as one of your own may; an empty list: any that suit, a mention labelled "
            f"as one of {', '.join(WITH_TYPES)} links to none of another of these. Labels "
            "count by any spelling (`OrganismTaxon` is `SPECIES`), your own entry "
            "first; mentions with others are not linked, which a warning says once a label. An "
            "empty table: all are, to any that suit"
        ),
    ] = field(default_factory=dict)
    prefer: Annotated[
        Names,
        Field(
            description="prefixes of the identifiers to write, the best first, e.g. "
            '`["MONDO", "MESH"]`; a concept that has none of them, or one that leads to another '
            "concept, is written with its own. `candidates` then also have `other_ids`"
        ),
    ] = ()
    overwrite: Annotated[
        bool,
        Field(
            description="link anew what has an identifier; if not, such entities stay as they are"
        ),
    ] = True
    # What is written.
    outputs: Annotated[
        OutputsBlock,
        Field(
            description="names of the attributes on `span._` that are written, and of a span group "
            "for the mentions, so that two linkers of a pipeline can write side by side"
        ),
    ] = field(default_factory=OutputsBlock)
    # Where and how it runs.
    batch_size: Annotated[int, Field(ge=1, description="mentions in one pass of the model")] = 48
    device: Device = "cpu"
    dtype: RunsIn = "float32"

    def __post_init__(self) -> None:
        super().__post_init__()
        differ = self.outputs.span_key is None or self.outputs.span_key != self.span_key
        self.outputs.expect("span_key", differ, f"unlike the setting span_key, {self.span_key!r}")
        expect_dtype(self, self.dtype, self.device)

    def without_effect(self) -> list[str]:
        """RETURNS (list[str]): settings that are not as by default and change nothing, e.g.
        `ranker.path (rerank is off)`."""
        idle = {
            "ranker.path": "" if self.rerank else "rerank is off",
            "ranker.nil_prior": "" if self.rerank else "rerank is off",
            "search.temperature": "rerank is on" if self.rerank else "",
            "search.min_log_prob": "rerank is on" if self.rerank else "",
        }
        own, default = self.flat(self.to_dict()), self.flat(type(self)().to_dict())
        return [
            f"{name} ({why})" for name, why in idle.items() if why and own[name] != default[name]
        ]

    @cached_property
    def ranker_in_use(self) -> Ranker:
        """RETURNS (Ranker): as `ranker` says. RAISES (AngelError): the file is missing, or of other
        features."""
        own = self.ranker
        ranker = shipped_ranker() if own.path is None else read_ranker(own.path)
        ranker = ranker.with_weights(own.weights)
        return ranker if own.nil_prior is None else ranker.expecting(own.nil_prior)

    @property
    def is_first(self) -> bool:
        """RETURNS (bool): whether `span.kb_id_` is this linker's to write."""
        return self.outputs.kb_id == "kb_id"

    @property
    def written(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): every place on a document that is written."""
        attributes = [attribute.name_in(self) for attribute in ATTRIBUTES]
        # `kb_id_` of a group's spans is written by putting the group there anew.
        rewritten = self.span_key if self.is_first else None
        groups = [key for key in (rewritten, self.outputs.span_key) if key is not None]
        return frozenset(
            [*(f"span._.{name}" for name in attributes), *(f"doc.spans[{g!r}]" for g in groups)]
        )


SETTINGS = frozenset(field.name for field in fields(LinkerSettings))
"""The names of all settings."""
