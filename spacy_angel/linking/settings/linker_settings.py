"""What the component `angel_linker` can be told: each setting once, with its type, default, limits
and meaning."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from ...component.checked import CheckedSettings, Name, Names
from ...component.running import Device, RunsIn, expect_dtype
from ..ranking.ranker import TERMS, Ranker, read_ranker, shipped_ranker
from .attributes import ATTRIBUTES
from .blocks import OutputsBlock

Mode = Literal["beam", "exact"]
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
    max_source_tokens: Annotated[
        int | None,
        Field(
            ge=8,
            description="longest source in tokens, if under the model's own limit; shorter is "
            "faster",
        ),
    ] = None
    resolve_abbreviations: Annotated[
        bool, Field(description="read the long forms that an abbreviation detector found")
    ] = True
    # How it searches.
    mode: Annotated[
        Mode, Field(description="`beam`, or `exact`: the k most probable names of the vocabulary")
    ] = "beam"
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
    length_penalty: Annotated[
        float,
        Field(
            allow_inf_nan=False,
            description="in beam search a name's score is its log-probability divided by its "
            "number of tokens to this power",
        ),
    ] = 1.0
    max_work: Annotated[
        int,
        Field(
            ge=1,
            description="exact search gives up its proof after so many decoded tokens a mention",
        ),
    ] = 1000
    # How names become a link.
    temperature: Annotated[
        float,
        Field(
            gt=0,
            allow_inf_nan=False,
            description="of the concepts' probabilities: over 1 flattens, under 1 sharpens",
        ),
    ] = 1.0
    threshold: Annotated[
        float | None,
        Field(ge=0, le=1, description="least probability of a concept to link to it; null: off"),
    ] = None
    min_log_prob: Annotated[
        float | None,
        Field(
            le=0,
            allow_inf_nan=False,
            description="least log-probability (nats) of the concept's best name, which finds "
            "mentions outside the vocabulary; it does not hold for a mention that is, in normal "
            "form, a name found of the most probable concept; null: off",
        ),
    ] = None
    rerank: Annotated[
        bool,
        Field(
            description="rank candidates by features beside the model: names that are similar to "
            "the mention, its long form or another way to write it are candidates too, and "
            "probabilities are the ranker's; `temperature` and `min_log_prob` do not count then. "
            "Off, the model alone decides, as published"
        ),
    ] = False
    ranker: Annotated[
        str | None,
        Field(
            description="JSON of the ranker's weights, as `scripts/fit_ranker.py` writes it; null: "
            "the one that ships"
        ),
    ] = None
    ranker_weights: Annotated[
        dict[Name, dict[Name, dict[Name, float]]],
        Field(
            description="weights in the place of those of `ranker`, as `calibrate` fits them: by "
            "entity type (`ALL` for the others), by model (`concept`, `link`), by term"
        ),
    ] = field(default_factory=dict)
    nil_prior: Annotated[
        float | None,
        Field(
            gt=0,
            lt=1,
            description="share of mentions that are thought to have no concept in the vocabulary: "
            "with more, `NIL` is likelier and what is linked is surer, with less, more is linked; "
            "null: as the ranker was fitted",
        ),
    ] = None
    shortcuts: Annotated[
        bool,
        Field(
            description="leave out searches that change next to nothing: of equal mentions of a "
            "document with equal labels the first is searched for all; with `rerank`, a mention "
            "of over four letters that is a name of one concept only links to it, with a "
            "probability of 0.96 and no `log_prob`. Off, the model is asked of every mention, as "
            "published"
        ),
    ] = False
    species_context: Annotated[
        bool,
        Field(
            description="where names of the vocabulary have suffixes (`spacy-angel kb build "
            "--suffixes`), what the document says about them, e.g. which species it speaks of, "
            "decides which concept of a name comes first, and is in the source of a model that "
            "writes suffixes"
        ),
    ] = True
    expand_short_forms: Annotated[
        bool,
        Field(
            description="read clinical short forms, lay words, brands and other common words that "
            "are no names of the vocabulary as the names that they stand for, where the document "
            "defines no long form; an organism as the binomial name in it (`Escherichia coli O157`)"
        ),
    ] = False
    correct_spelling: Annotated[
        bool,
        Field(
            description="read words of a mention that neither the vocabulary nor biomedical text "
            "knows as the nearest known ones, at most one letter away, two in words of eight "
            "letters and more; off, they are read as they stand, as published"
        ),
    ] = False
    long_forms: Annotated[
        str | None,
        Field(
            description="TSV of what short forms stand for in the document set, as `spacy-angel "
            "long-forms` writes it; read where the document itself defines no long form"
        ),
    ] = None
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
            "as a disease, chemical, gene, species or cell line links to none of another of these "
            "kinds. Labels count by any spelling (`OrganismTaxon` is `SPECIES`), your own entry "
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
            description="names of what is written, so that two linkers of a pipeline can write "
            "side by side"
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
        self.expect(
            "ranker_weights",
            all(
                model in TERMS and set(weights) <= set(TERMS[model])
                for by_model in self.ranker_weights.values()
                for model, weights in by_model.items()
            ),
            f"tables by entity type, model and term, with some of {TERMS}",
        )

    def without_effect(self) -> list[str]:
        """RETURNS (list[str]): settings that are not as by default and change nothing, e.g.
        `ranker (rerank is off)`."""
        idle = {
            "max_work": "mode is beam" if self.mode == "beam" else "",
            "ranker": "" if self.rerank else "rerank is off",
            "nil_prior": "" if self.rerank else "rerank is off",
            "temperature": "rerank is on" if self.rerank else "",
            "min_log_prob": "rerank is on" if self.rerank else "",
        }
        return [
            f"{item.name} ({why})"
            for item in fields(self)
            if (why := idle.get(item.name)) and getattr(self, item.name) != item.default
        ]

    @cached_property
    def ranker_in_use(self) -> Ranker:
        """RETURNS (Ranker): `ranker`, with `ranker_weights` in the place of its own, for texts with
        `nil_prior`. RAISES (AngelError): the file is missing, or of other features."""
        ranker = shipped_ranker() if self.ranker is None else read_ranker(self.ranker)
        ranker = ranker.with_weights(self.ranker_weights)
        return ranker if self.nil_prior is None else ranker.expecting(self.nil_prior)

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
