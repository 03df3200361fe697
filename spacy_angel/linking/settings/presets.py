"""Named sets of settings of `angel_linker`: what ships, as it was measured, and the method as
published. Each stands here and nowhere else."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from ...about import SHIPPED_NAME, SHIPPED_NAMES
from ...errors import AngelError
from ...vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE
from .linker_settings import LinkerSettings

Preset = Literal["shipped", "published"]

PUBLISHED: dict[str, Any] = {}
"""The model alone links every mention; the defaults of `LinkerSettings`."""

SHIPPED: dict[str, Any] = {
    "num_beams": 5,
    "search.length_penalty": 0.0,
    "threshold": 0.5,
    "rerank": True,
    "search.shortcuts": True,
    "reading.short_forms": True,
    "reading.spelling": True,
}
"""As `en_angel_mini` is calibrated; flat."""

_TYPES = {one.name: list(one.shipped) for one in ENTITY_TYPE_TABLE if one.shipped}
TYPES_BY_LABEL: dict[str, dict[str, list[str]]] = {
    SHIPPED_NAME: {label: _TYPES[label] for label in ("DISEASE", "CHEMICAL")},
    "en_angel_bio": _TYPES,
}
"""Shipped vocabulary → which of its semantic types a label may have."""

# Without the ranker, and what the probabilities of the model alone were calibrated to with MeSH.
_MODEL_ALONE: dict[str, Any] = {
    "search.shortcuts": False,
    "search.temperature": 1.7756243024787328,
    "threshold": 0.5955895082764113,
    "search.min_log_prob": -7.115496635437012,
}
_NO_THRESHOLDS: dict[str, Any] = {"threshold": None, "search.min_log_prob": None}


def preset_of(preset: Any, model: Any) -> Preset:
    """preset (Any): as a config has it. model (Any): likewise.
    RETURNS (str): the preset; None is `published` for a model of one's own, to which thresholds and
        weights of the shipped one were not calibrated.
    RAISES (AngelError): there is none of that name."""
    if preset is None:
        return "shipped" if _is_shipped(model) else "published"
    if preset not in get_args(Preset):
        raise AngelError(
            f"[E305] angel_linker's setting preset must be one of {get_args(Preset)}, or null, not "
            f"{preset!r}."
        )
    return preset


def preset_settings(
    preset: Preset | None, given: Mapping[str, Any], *, model: Any = None, vocabulary: Any = None
) -> LinkerSettings:
    """The settings of a linker whose config names some of them.

    preset (str | None): see `preset_of`.
    given (Mapping[str, Any]): settings that were named, which go first.
    model (Any), vocabulary (Any): as a config has them; None, `en_angel_mini` and `en_angel_bio`
        are what ships. `types_by_label` of a preset belongs to the shipped vocabularies.
    RETURNS (LinkerSettings): all of them.
    RAISES (AngelError): an unknown setting, or a value that does not fit.
    """
    base = PUBLISHED
    if preset_of(preset, model) == "shipped":
        base = {**SHIPPED, "types_by_label": types_of(vocabulary)}
        if not given.get("rerank", True):
            base |= model_alone(is_calibrated=_is_shipped(model) and _is_shipped(vocabulary))
    return LinkerSettings.from_dict({**base, **LinkerSettings.flat(given)})


def model_alone(*, is_calibrated: bool) -> dict[str, Any]:
    """is_calibrated (bool): model and vocabulary are those that ship.
    RETURNS (dict[str, Any]): what differs from `SHIPPED` without `rerank`."""
    return _MODEL_ALONE if is_calibrated else _MODEL_ALONE | _NO_THRESHOLDS


def as_published() -> dict[str, Any]:
    """RETURNS (dict[str, Any]): what `SHIPPED` says, as published; flat."""
    published = LinkerSettings.flat(LinkerSettings.from_dict(PUBLISHED).to_dict())
    return {name: published[name] for name in (*SHIPPED, *_MODEL_ALONE, "types_by_label")}


def types_of(vocabulary: Any) -> dict[str, list[str]]:
    """vocabulary (Any): as a config has it. RETURNS (dict[str, list[str]]): `types_by_label` for
    it; none for one's own, whose types nobody knows."""
    if vocabulary is None:
        return TYPES_BY_LABEL[SHIPPED_NAME]
    return TYPES_BY_LABEL.get(str(vocabulary), {})


def _is_shipped(source: Any) -> bool:
    return source is None or str(source) in SHIPPED_NAMES
