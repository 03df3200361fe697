"""What the component `angel_linker` can be told: names, meanings, limits."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

from ..errors import AngelError, Errors

Mode = Literal["beam", "exact"]
Dtype = Literal["float32", "bfloat16", "float16", "int8"]


@dataclass(frozen=True)
class LinkerSettings:
    """The settings of `angel_linker`, all but its model, vocabulary and scorer.

    n_sents (int | None): sentences of context on either side of the mention's own; None: the
        whole document, as far as the model's length allows.
    max_source_tokens (int | None): longest source in tokens, if under the model's own limit;
        shorter is faster.
    num_beams (int): beams of the beam search.
    k (int): most names a mention; beam search finds no more than `num_beams`.
    mode (str): `beam`, or `exact`: the k most probable names of the vocabulary.
    length_penalty (float): in beam search a name's score is its log-probability divided by its
        number of tokens to this power.
    max_work (int): exact search gives up its proof after so many decoded tokens a mention.
    threshold (float | None): least probability of a concept to link to it; None: off.
    min_log_prob (float | None): least log-probability (nats) of its best name; None: off.
    link_exact_names (bool): `min_log_prob`, which tells mentions outside the vocabulary, does not
        hold for a mention that is, in normal form, a name found of the most probable concept.
    temperature (float): of the concepts' probabilities, see `ranking.rank_concepts`.
    labels_discard (tuple[str, ...]): entities with these labels are not linked (`NIL`).
    types_by_label (dict[str, tuple[str, ...]]): entity label → semantic types that its concept
        may have; other labels may have any.
    resolve_abbreviations (bool): read the long forms that an abbreviation detector found.
    overwrite (bool): link anew what has an identifier; if not, such entities stay as they are.
    batch_size (int): mentions in one pass through the model.
    device (str): `cpu`, `cuda`, `cuda:1`, …
    dtype (str): `float32`, `bfloat16`, `float16` or `int8`.
    span_key (str | None): mentions are the spans of this group; None: `doc.ents`.
    output_span_key (str | None): also write the mentions, with `kb_id_`, into this span group.
    kb_id_attr, kb_ents_attr, candidates_attr (str): names of the attributes on `span._`. The
        linker whose `kb_id_attr` is `kb_id` also writes `span.kb_id_`.
    """

    n_sents: int | None = None
    max_source_tokens: int | None = None
    num_beams: int = 5
    k: int = 5
    mode: Mode = "beam"
    length_penalty: float = 1.0
    max_work: int = 1000
    threshold: float | None = None
    min_log_prob: float | None = None
    link_exact_names: bool = False
    temperature: float = 1.0
    labels_discard: tuple[str, ...] = ()
    types_by_label: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    resolve_abbreviations: bool = True
    overwrite: bool = True
    batch_size: int = 32
    device: str = "cpu"
    dtype: Dtype = "float32"
    span_key: str | None = None
    output_span_key: str | None = None
    kb_id_attr: str = "kb_id"
    kb_ents_attr: str = "kb_ents"
    candidates_attr: str = "candidates"

    def __post_init__(self) -> None:
        for name, least in (("num_beams", 1), ("k", 1), ("max_work", 1), ("batch_size", 1)):
            self._expect(name, _is_int(getattr(self, name), least), f"a whole number from {least}")
        for name, least in (("n_sents", 0), ("max_source_tokens", 8)):
            ok = getattr(self, name) is None or _is_int(getattr(self, name), least)
            self._expect(name, ok, f"null or a whole number from {least}")
        self._expect("mode", self.mode in get_args(Mode), f"one of {get_args(Mode)}")
        self._expect("dtype", self.dtype in get_args(Dtype), f"one of {get_args(Dtype)}")
        self._expect("length_penalty", _is_number(self.length_penalty), "a number")
        positive = _is_number(self.temperature) and self.temperature > 0
        self._expect("temperature", positive, "a number above 0")
        within = self.threshold is None or (_is_number(self.threshold) and 0 <= self.threshold <= 1)
        self._expect("threshold", within, "null or a number between 0 and 1")
        ok = self.min_log_prob is None or (_is_number(self.min_log_prob) and self.min_log_prob <= 0)
        self._expect("min_log_prob", ok, "null or a log-probability in nats, at most 0")
        for name in ("link_exact_names", "resolve_abbreviations", "overwrite"):
            self._expect(name, isinstance(getattr(self, name), bool), "true or false")
        for name in ("device", "kb_id_attr", "kb_ents_attr", "candidates_attr"):
            self._expect(name, _is_name(getattr(self, name)), "a string that is not empty")
        for name in ("span_key", "output_span_key"):
            ok = getattr(self, name) is None or _is_name(getattr(self, name))
            self._expect(name, ok, "null or a string that is not empty")
        attributes = {self.kb_id_attr, self.kb_ents_attr, self.candidates_attr}
        self._expect("kb_id_attr", len(attributes) == 3, "unlike the other two attributes' names")
        differ = self.output_span_key is None or self.output_span_key != self.span_key
        self._expect("output_span_key", differ, f"unlike span_key, {self.span_key!r}")
        self._expect("labels_discard", _are_names(self.labels_discard), "a list of labels")
        ok = isinstance(self.types_by_label, Mapping) and all(
            _is_name(label) and _are_names(types) for label, types in self.types_by_label.items()
        )
        self._expect("types_by_label", ok, "a table from label to a list of semantic types")
        # Lists from a config file become tuples, so that equal settings are equal.
        object.__setattr__(self, "labels_discard", tuple(self.labels_discard))
        types = {label: tuple(types) for label, types in self.types_by_label.items()}
        object.__setattr__(self, "types_by_label", types)

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


def _is_int(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_names(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, frozenset)) and all(map(_is_name, value))
