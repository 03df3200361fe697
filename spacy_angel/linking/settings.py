"""What the component `angel_linker` can be told: each setting once, with its type, default, limits
and meaning."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from ..errors import AngelError, Errors
from .weights import FEATURES

Mode = Literal["beam", "exact"]
Dtype = Literal["float32", "bfloat16", "float16", "int8"]


def _name(value: Any) -> Any:
    if not isinstance(value, str) or not value.strip():
        raise PydanticCustomError("name", "a string that is not empty")
    return value


def _names(value: Any) -> Any:
    if not isinstance(value, list | tuple | set | frozenset):
        raise PydanticCustomError("names", "a list of strings")
    # Lists from a config file become tuples, so that equal settings are equal.
    return tuple(value)


Name = Annotated[str, BeforeValidator(_name)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_names)]


@dataclass(frozen=True)
class LinkerSettings:
    """The settings of `angel_linker`, all but its model, vocabulary and scorer; the type of each
    carries its limits and its meaning, as `describe_settings` tells them.

    RAISES (AngelError): a value that does not fit; the message names setting, expectation, value.
    """

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
            description="least log-probability (nats) of the concept's best name; null: off",
        ),
    ] = None
    link_exact_names: Annotated[
        bool,
        Field(
            description="`min_log_prob`, which tells mentions outside the vocabulary, does not "
            "hold for a mention that is, in normal form, a name found of the most probable "
            "concept; with `evidence`, a mention that is a name of one concept only links to it, "
            "whatever the limits, unless much speaks for another"
        ),
    ] = False
    evidence: Annotated[
        bool,
        Field(
            description="weigh letters beside the model: names that are near by letters are "
            "candidates too, and probabilities are those of `evidence_weights`; `temperature` and "
            "`min_log_prob` do not count then. Off, the model alone decides, as published"
        ),
    ] = False
    evidence_weights: Annotated[
        dict[Name, float],
        Field(
            description="weights of the evidence by name, as `calibrate` fits them; those not "
            "given are those fitted for `en_angel_mini`"
        ),
    ] = field(default_factory=dict)
    near_names: Annotated[
        int, Field(ge=0, description="names by letters for each mention, with `evidence`")
    ] = 5
    restrict_kinds: Annotated[
        bool,
        Field(
            description="a mention labelled as a disease, chemical, gene or species links to no "
            "concept whose semantic types are all of another of these kinds; `types_by_label` "
            "says otherwise for its labels"
        ),
    ] = True
    expand_short_forms: Annotated[
        bool,
        Field(
            description="read clinical short forms, lay words and brands that are no names of the "
            "vocabulary as the names that they stand for, where the document defines no long form"
        ),
    ] = False
    long_forms: Annotated[
        str | None,
        Field(
            description="TSV of what short forms stand for in the document set, as `spacy-angel "
            "long-forms` writes it; read where the document itself defines no long form"
        ),
    ] = None
    # Which mentions are linked, and to what.
    span_key: Annotated[
        Name | None,
        Field(description="mentions are the spans of this group; null: `doc.ents`"),
    ] = None
    labels_discard: Annotated[
        Names, Field(description="entities with these labels are not linked (`NIL`)")
    ] = ()
    types_by_label: Annotated[
        dict[Name, Names],
        Field(
            description="entity label → semantic types that its concept may have; other labels "
            "may have any"
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
    output_span_key: Annotated[
        Name | None,
        Field(description="also write the mentions, with `kb_id_`, into this span group"),
    ] = None
    kb_id_attr: Annotated[
        Name,
        Field(
            description="attribute on `span._` with the identifier; the linker with `kb_id` also "
            "writes `span.kb_id_`"
        ),
    ] = "kb_id"
    kb_ents_attr: Annotated[
        Name,
        Field(
            description="attribute on `span._` with the concepts: with `evidence` the probability "
            "that each is right, which with that of none makes 1; else its share among the names "
            "found"
        ),
    ] = "kb_ents"
    candidates_attr: Annotated[
        Name,
        Field(
            description="attribute on `span._` with all that was found: names with the model's "
            "`log_prob`, with `evidence` also each one's `probability`"
        ),
    ] = "candidates"
    # Where and how it runs.
    batch_size: Annotated[int, Field(ge=1, description="mentions in one pass of the model")] = 32
    device: Annotated[Name, Field(description="`cpu`, `cuda`, `cuda:1`, …")] = "cpu"
    dtype: Annotated[
        Dtype,
        Field(
            description="type of the weights while they run; `int8` on a CPU only, `float16` "
            "elsewhere only"
        ),
    ] = "float32"

    def __post_init__(self) -> None:
        for name, adapter in _adapters().items():
            try:
                value = adapter.validate_python(getattr(self, name))
            except ValidationError as error:
                raise self._refusal(name, error) from error
            object.__setattr__(self, name, value)
        attributes = {self.kb_id_attr, self.kb_ents_attr, self.candidates_attr}
        self._expect("kb_id_attr", len(attributes) == 3, "unlike the other two attributes' names")
        differ = self.output_span_key is None or self.output_span_key != self.span_key
        self._expect("output_span_key", differ, f"unlike span_key, {self.span_key!r}")
        # Its sums overflow there, and it is slower than float32.
        fits = self.dtype != "float16" or self.device.partition(":")[0] != "cpu"
        self._expect("dtype", fits, "float32, bfloat16 or int8 on a CPU")
        known = set(self.evidence_weights) <= set(FEATURES)
        self._expect("evidence_weights", known, f"a table with some of {FEATURES}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "LinkerSettings":
        """values (Mapping[str, Any]): by name; the others keep their defaults.
        RETURNS (LinkerSettings).
        RAISES (AngelError): an unknown name, or a value that does not fit.
        """
        known = [f.name for f in fields(cls)]
        if unknown := sorted(set(values) - set(known)):
            raise AngelError(Errors.E304.format(unknown=unknown, known=known))
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): plain values for JSON and config files."""
        values = asdict(self)
        values["labels_discard"] = list(self.labels_discard)
        values["prefer"] = list(self.prefer)
        values["evidence_weights"] = dict(self.evidence_weights)
        values["types_by_label"] = {label: list(t) for label, t in self.types_by_label.items()}
        return values

    @property
    def outputs(self) -> frozenset[str]:
        """RETURNS (frozenset[str]): every place on a document that is written."""
        attributes = (self.kb_id_attr, self.kb_ents_attr, self.candidates_attr)
        # `kb_id_` of a group's spans is written by putting the group there anew.
        rewritten = self.span_key if self.kb_id_attr == "kb_id" else None
        groups = [key for key in (rewritten, self.output_span_key) if key is not None]
        return frozenset(
            [*(f"span._.{name}" for name in attributes), *(f"doc.spans[{g!r}]" for g in groups)]
        )

    def _expect(self, name: str, ok: bool, expected: str) -> None:
        if not ok:
            value = getattr(self, name)
            raise AngelError(Errors.E305.format(name=name, expected=expected, value=value))

    def _refusal(self, name: str, error: ValidationError) -> AngelError:
        problem = error.errors()[0]
        expected = problem["msg"].removeprefix("Input should be ")
        if type(None) in get_args(get_args(_hints()[name])[0]):
            expected = f"null or {expected}"
        place = "".join(f"[{part!r}]" for part in problem["loc"])
        return AngelError(
            Errors.E305.format(name=name + place, expected=expected, value=problem["input"])
        )


SETTINGS = frozenset(field.name for field in fields(LinkerSettings))
"""The names of all settings."""


@cache
def _hints() -> dict[str, Any]:
    return get_type_hints(LinkerSettings, include_extras=True)


@cache
def _adapters() -> dict[str, TypeAdapter[Any]]:
    # Strict: true is not 1, and "5" is not 5.
    config = ConfigDict(strict=True)
    return {name: TypeAdapter(hint, config=config) for name, hint in _hints().items()}


def describe_settings() -> list[tuple[str, str, Any, str]]:
    """RETURNS (list[tuple[str, str, Any, str]]): of each setting its name, type, default in a
    config file, and meaning, e.g. `("k", "int", 5, "most names a mention; …")`."""
    defaults = LinkerSettings().to_dict()
    rows = []
    for name, hint in _hints().items():
        kind, *metadata = get_args(hint)
        meaning = next(m.description for m in metadata if getattr(m, "description", None))
        rows.append((name, _type_name(kind), defaults[name], meaning))
    return rows


def _type_name(kind: Any) -> str:
    """`Name | None` → `str | null`, `Names` → `list of str`, as a config file has them."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is None:
        return "null" if kind is type(None) else kind.__name__
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in parts)
    if origin is Annotated:
        return _type_name(parts[0])
    names = [_type_name(part) for part in parts if part is not ...]
    if origin is tuple:
        return f"list of {names[0]}"
    return " → ".join(names) if origin is dict else " | ".join(names)
