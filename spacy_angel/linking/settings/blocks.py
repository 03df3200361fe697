"""Settings of `angel_linker` that stand together in a block of its config."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from ...component.checked import CheckedSettings, Name
from ..ranking.ranker import TERMS
from .attributes import ATTRIBUTES


@dataclass(frozen=True)
class ReadingBlock(CheckedSettings):
    """`[components.angel_linker.reading]`."""

    COMPONENT = "angel_linker.reading"

    max_source_tokens: Annotated[
        int | None,
        Field(
            ge=8,
            description="longest source in tokens, if under the model's own limit; shorter is "
            "faster",
        ),
    ] = None
    abbreviations: Annotated[
        bool, Field(description="read the long forms that an abbreviation detector found")
    ] = True
    long_forms: Annotated[
        str | None,
        Field(
            description="TSV of what short forms stand for in the document set, as `spacy-angel "
            "long-forms` writes it; read where the document itself defines no long form"
        ),
    ] = None
    short_forms: Annotated[
        bool,
        Field(
            description="read clinical short forms, lay words, brands and other common words that "
            "are no names of the vocabulary as the names that they stand for, where the document "
            "defines no long form; an organism as the binomial name in it (`Escherichia coli "
            "O157`); letters and figures together or apart (`SIRT-1` as SIRT1)"
        ),
    ] = False
    spelling: Annotated[
        bool,
        Field(
            description="read words of a mention that neither the vocabulary nor biomedical text "
            "knows as the nearest known ones, at most one letter away, two in words of eight "
            "letters and more; off, they are read as they stand, as published"
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


@dataclass(frozen=True)
class SearchBlock(CheckedSettings):
    """`[components.angel_linker.search]`."""

    COMPONENT = "angel_linker.search"

    length_penalty: Annotated[
        float,
        Field(
            allow_inf_nan=False,
            description="a name's score is its log-probability divided by its "
            "number of tokens to this power",
        ),
    ] = 1.0
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
    temperature: Annotated[
        float,
        Field(
            gt=0,
            allow_inf_nan=False,
            description="of the concepts' probabilities without `rerank`: over 1 flattens, under "
            "1 sharpens",
        ),
    ] = 1.0
    min_log_prob: Annotated[
        float | None,
        Field(
            le=0,
            allow_inf_nan=False,
            description="without `rerank`, least log-probability (nats) of the concept's best "
            "name, which finds mentions outside the vocabulary; it does not hold for a mention "
            "that is, in normal form, a name found of the most probable concept; null: off",
        ),
    ] = None


@dataclass(frozen=True)
class RankerBlock(CheckedSettings):
    """`[components.angel_linker.ranker]`."""

    COMPONENT = "angel_linker.ranker"

    path: Annotated[
        str | None,
        Field(
            description="JSON of the weights, as `scripts/fit_ranker.py` writes it; null: the one "
            "that ships"
        ),
    ] = None
    weights: Annotated[
        dict[Name, dict[Name, dict[Name, float]]],
        Field(
            description="weights in the place of those of `path`, as `calibrate` fits them: by "
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

    def __post_init__(self) -> None:
        super().__post_init__()
        models = [pair for by_model in self.weights.values() for pair in by_model.items()]
        is_known = all(name in TERMS and set(w) <= set(TERMS[name]) for name, w in models)
        tables = f"tables by entity type, model and term, with some of {TERMS}"
        self.expect("weights", is_known, tables)


@dataclass(frozen=True)
class OutputsBlock(CheckedSettings):
    """`[components.angel_linker.outputs]`: a field for each of `ATTRIBUTES`, and the group."""

    COMPONENT = "angel_linker.outputs"

    kb_id: Annotated[
        Name,
        Field(description="attribute with the identifier; `kb_id` also writes `span.kb_id_`"),
    ] = "kb_id"
    kb_ents: Annotated[Name, Field(description="attribute with the concepts")] = "kb_ents"
    candidates: Annotated[Name, Field(description="attribute with all candidates")] = "candidates"
    span_key: Annotated[
        Name | None,
        Field(description="also write the mentions, with `kb_id_`, into this span group"),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        names = {getattr(self, attribute.name) for attribute in ATTRIBUTES}
        is_own = len(names) == len(ATTRIBUTES)
        self.expect("kb_id", is_own, "unlike the other two attributes' names")
