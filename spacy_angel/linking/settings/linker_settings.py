"""The settings of the component `angel_linker`: each once, with its type, default, limits, and
meaning."""

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from ...component.checked import CheckedSettings, Name, Names
from ...component.running import Device, RunsIn, expect_dtype
from ..ranking.ranker import TERMS, Ranker, shipped_ranker

Dtype = Literal["float32", "bfloat16", "float16", "int8"]
ATTRIBUTES = ("kb_id", "kb_ents", "candidates")
"""Fields of a `Link` that are written to `span._`, under the names that `outputs` gives them."""


class ReadingBlock(CheckedSettings):
    """`[components.angel_linker.reading]`.

    max_source_tokens (int | None): maximum length of the model's input in tokens, if below the
        model's own limit; shorter is faster
    abbreviations (bool): replace abbreviations by the long forms that a detector found
    long_forms (str | None): TSV of short forms and their meaning in a document collection (short
        form, `short form`, long form); used where the document defines no long form
    short_forms (bool): replace clinical short forms, lay terms, brand names, and other common
        words that are no names of the vocabulary; shorten organisms to their binomial name
        (`Escherichia coli O157`), and try letters and digits together or apart (`SIRT-1` as
        SIRT1)
    spelling (bool): correct words of a mention that occur neither in the vocabulary nor in
        biomedical text, by up to one edit, or two in words of eight letters and more
    species_context (bool): for vocabularies with species (`spacy-angel kb build --by-species`): use
        the species that the document is about to order the concepts of a name
    """

    COMPONENT = "angel_linker.reading"

    max_source_tokens: Annotated[int | None, Field(ge=8)] = None
    abbreviations: bool = True
    long_forms: str | None = None
    short_forms: bool = False
    spelling: bool = False
    species_context: bool = True


class SearchBlock(CheckedSettings):
    """`[components.angel_linker.search]`.

    length_penalty (float): exponent of the number of tokens by which the search divides the
        log-probability of a name
    shortcuts (bool): skip searches that rarely change a link: equal mentions of a document with
        equal labels are searched once; with `rerank`, a mention of more than four letters that
        is a name of exactly one concept links to it without the model, with probability 0.96
        and no `log_prob`, and so do mentions whose similar names leave no doubt
    temperature (float): temperature of the concepts' probabilities without `rerank`
    min_log_prob (float | None): without `rerank`: minimum log-probability (nats) of the
        concept's best name; not applied to a mention that is a name of the most probable
        concept. null: off
    """

    COMPONENT = "angel_linker.search"

    length_penalty: Annotated[float, Field(allow_inf_nan=False)] = 1.0
    shortcuts: bool = False
    temperature: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    min_log_prob: Annotated[float | None, Field(le=0, allow_inf_nan=False)] = None


class RankerBlock(CheckedSettings):
    """`[components.angel_linker.ranker]`.

    path (str | None): JSON of the weights, as written by `scripts/fit_ranker.py`; null: the
        shipped one
    weights (dict[Name, dict[Name, dict[Name, float]]]): weights that replace those of `path`,
        as `calibrate` fits them: by entity type (`ALL` for the others), model (`concept`,
        `link`), and term
    nil_prior (float | None): expected share of mentions without a concept in the vocabulary: a
        higher value gives more `NIL`. null: as the ranker was fitted
    """

    COMPONENT = "angel_linker.ranker"

    path: str | None = None
    weights: dict[Name, dict[Name, dict[Name, float]]] = Field(default_factory=dict)
    nil_prior: Annotated[float | None, Field(gt=0, lt=1)] = None

    def check(self) -> None:
        models = [pair for by_model in self.weights.values() for pair in by_model.items()]
        is_known = all(name in TERMS and set(w) <= set(TERMS[name]) for name, w in models)
        tables = f"tables by entity type, model and term, with some of {TERMS}"
        self.expect("weights", is_known, tables)


class OutputsBlock(CheckedSettings):
    """`[components.angel_linker.outputs]`: a field for each of `ATTRIBUTES`, and the group.

    kb_id (Name): attribute of the identifier; `kb_id` also sets `span.kb_id_`
    kb_ents (Name): attribute of the concepts
    candidates (Name): attribute of all candidates
    span_key (Name | None): span group to which the mentions are also written, with `kb_id_`
    """

    COMPONENT = "angel_linker.outputs"

    kb_id: Name = "kb_id"
    kb_ents: Name = "kb_ents"
    candidates: Name = "candidates"
    span_key: Name | None = None

    def check(self) -> None:
        is_own = len({self.kb_id, self.kb_ents, self.candidates}) == len(ATTRIBUTES)
        self.expect("kb_id", is_own, "unlike the other two attributes' names")


class LinkerSettings(CheckedSettings):
    """The settings of `angel_linker`, all but its model, vocabulary and scorer; the type of each
    carries its limits and its meaning, as `describe_settings` tells them.

    RAISES (AngelError): a value that does not fit; the message names setting, expectation, value.

    n_sents (int | None): sentences of context before and after the mention's own; null: as much
        of the document as the model's input length allows
    reading (ReadingBlock): how mentions and their context are read
    num_beams (int | None): beams of the beam search; null: as the model was published with, 10
        for the released ones, else 5
    k (int): maximum number of names per mention, at most `num_beams` by beam
    search (SearchBlock): the search, and the use of the model's probabilities without `rerank`
    threshold (float | None): minimum probability of a link; null: off
    rerank (bool): rank candidates by further features: names similar to the mention, its long
        form, or another way to write it become candidates, and probabilities are the ranker's.
        false: the model alone decides, as published
    ranker (RankerBlock): weights of the ranker, for `rerank`
    curation (str | None): TSV of curation rules: strings that are names or never are, concepts
        to exclude or to allow; reloaded when it changes, and saved with the pipeline
    drop_unlinked_below (float): remove entities from `doc.ents` that get `NIL` and whose
        `span._.mention_probability` is below this; entities without one and span groups stay
    span_key (Name | None): span group with the mentions; null: `doc.ents`
    labels (Names): labels to link, entities with others stay as they are; empty: those of
        `types_by_label`, or all if that is empty, too
    labels_discard (Names): labels not to link: these entities keep their identifier, or get
        `NIL`
    types_by_label (dict[Name, Names]): label → semantic types of its concepts; concepts without
        types are always allowed. An empty list allows all types that suit: a mention labeled as
        one of DISEASE, CHEMICAL, GENE, SPECIES, CELL_LINE links to none of another of these.
        Labels match in any known spelling (`OrganismTaxon` is `SPECIES`); mentions with other
        labels are not linked, with one warning per label. An empty table: all labels are linked
    prefer (Names): preferred prefixes of the identifiers to write, best first, e.g. `["MONDO",
        "MESH"]`; concepts without any of them keep their own identifier. `candidates` then also
        have `other_ids`
    overwrite (bool): also link mentions that have an identifier already
    outputs (OutputsBlock): names of the attributes on `span._`, and of a span group, so that
        several linkers can be used in one pipeline
    batch_size (int): mentions per batch of the model
    """

    COMPONENT = "angel_linker"

    # What the model reads.
    n_sents: Annotated[int | None, Field(ge=0)] = None
    reading: ReadingBlock = ReadingBlock()
    # How it searches.
    num_beams: Annotated[int | None, Field(ge=1)] = None
    k: Annotated[int, Field(ge=1)] = 5
    search: SearchBlock = SearchBlock()
    # How names become a link.
    threshold: Annotated[float | None, Field(ge=0, le=1)] = None
    rerank: bool = False
    ranker: RankerBlock = RankerBlock()
    curation: str | None = None
    drop_unlinked_below: Annotated[float, Field(ge=0, le=1)] = 0.0
    # Which mentions are linked, and to what.
    span_key: Name | None = None
    labels: Names = ()
    labels_discard: Names = ("VARIANT",)
    types_by_label: dict[Name, Names] = Field(default_factory=dict)
    prefer: Names = ()
    overwrite: bool = True
    # What is written.
    outputs: OutputsBlock = OutputsBlock()
    # Where and how it runs.
    batch_size: Annotated[int, Field(ge=1)] = 48
    device: Device = "cpu"
    dtype: RunsIn = "float32"

    def check(self) -> None:
        differ = self.outputs.span_key is None or self.outputs.span_key != self.span_key
        self.outputs.expect("span_key", differ, f"unlike the setting span_key, {self.span_key!r}")
        expect_dtype(self, self.dtype, self.device)

    def without_effect(self) -> list[str]:
        """RETURNS (list[str]): settings that differ from their default and have no effect, e.g.
        `ranker.path (rerank is off)`."""
        if self.rerank:
            idle = dict.fromkeys(("search.temperature", "search.min_log_prob"), "rerank is on")
        else:
            idle = dict.fromkeys(("ranker.path", "ranker.nil_prior"), "rerank is off")
        own, default = self.flat(self.to_dict()), self.flat(type(self)().to_dict())
        return [f"{name} ({why})" for name, why in idle.items() if own[name] != default[name]]

    @cached_property
    def ranker_in_use(self) -> Ranker:
        """RETURNS (Ranker): as `ranker` says. RAISES (AngelError): the file is missing, or of other
        features."""
        own = self.ranker
        ranker = shipped_ranker() if own.path is None else Ranker.from_disk(own.path)
        ranker = ranker.with_weights(own.weights)
        return ranker if own.nil_prior is None else ranker.expecting(own.nil_prior)

    @property
    def is_first(self) -> bool:
        """RETURNS (bool): whether this linker sets `span.kb_id_`."""
        return self.outputs.kb_id == "kb_id"

    @property
    def written(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): everything on a document that is written."""
        # `kb_id_` of a group's spans is set by replacing the group.
        rewritten = self.span_key if self.is_first else None
        groups = [key for key in (rewritten, self.outputs.span_key) if key is not None]
        attributes = [f"span._.{getattr(self.outputs, name)}" for name in ATTRIBUTES]
        return frozenset([*attributes, *(f"doc.spans[{key!r}]" for key in groups)])


SETTINGS = frozenset(LinkerSettings.model_fields)
"""The names of all settings."""
