"""A training run's file of settings, in spaCy's config format, read into `settings`.

One file describes the whole recipe; each stage reads its own section.
"""

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ...errors import AngelError, AngelWarning
from ...files.json_values import problems
from ..models.backbone_kinds import all_backbones
from ..models.losses import all_losses
from ..settings.config_tables import TrainingConfig
from ..settings.effects import without_effect

_T = TypeVar("_T")


def load_config(path: Path, overrides: dict[str, Any] | None = None) -> TrainingConfig:
    """Read a config file.

    path (Path): file in spaCy's config format.
    overrides (dict[str, Any] | None): dotted names to values, e.g.
        `{"positive.optimizer.steps": 100}`.
    RETURNS (TrainingConfig): every value checked.
    RAISES (AngelError): unknown, missing or mistyped settings, each named. Settings that are
        given and do nothing are warned of.
    """
    values = read_values(path, overrides)
    config = check_values(path, values, TrainingConfig)
    if unknown := [*_unknown_kinds(config), *_unknown_parameters(config)]:
        raise AngelError(f"The config {path} is not valid: {'; '.join(unknown)}.")
    for setting in without_effect(config, values):
        warnings.warn(f"{path}: a setting has no effect: {setting}.", AngelWarning, stacklevel=2)
    return config


def read_values(path: Path, overrides: Mapping[str, Any] | None) -> dict[str, Any]:
    """path (Path), overrides (Mapping[str, Any] | None): see `load_config`.
    RETURNS (dict[str, Any]): what the file says. RAISES (AngelError): it is no config file."""
    # Here, so that training from Python needs torch and transformers only.
    from confection import Config, ConfigValidationError

    try:
        return dict(Config().from_disk(path, overrides=dict(overrides or {})))
    except (ConfigValidationError, ValueError) as error:
        raise AngelError(f"The config {path} is not valid: {error}.") from error


def check_values(path: Path, values: Mapping[str, Any], kind: type[_T]) -> _T:
    """path (Path): for the message. values (Mapping[str, Any]): of `read_values`. kind (type[_T]):
    dataclass of the whole file. RETURNS (_T): checked. RAISES (AngelError): each wrong setting,
    named."""
    try:
        return TypeAdapter(kind).validate_python(dict(values))
    except ValidationError as error:
        raise AngelError(f"The config {path} is not valid: {problems(error)}.") from error


def _unknown_kinds(config: TrainingConfig) -> list[str]:
    """RETURNS (list[str]): kinds that no registry has, in words."""
    losses, backbones = sorted(all_losses()), sorted(all_backbones())
    given = [
        ("backbone.kind", config.backbone.kind, backbones),
        ("pretrain.negative.loss.kind", config.pretrain.negative.loss.kind, losses),
        ("negative.loss.kind", config.negative.loss.kind, losses),
    ]
    return [
        f"{setting}: {kind!r} is none of {', '.join(known)}"
        for setting, kind, known in given
        if kind not in known
    ]


def _unknown_parameters(config: TrainingConfig) -> list[str]:
    """RETURNS (list[str]): parameters that a loss does not have, in words."""
    losses = all_losses()
    return [
        f"{section}.loss.parameters.{name}: {loss.kind!r} has no such parameter"
        for section, loss in (
            ("pretrain.negative", config.pretrain.negative.loss),
            ("negative", config.negative.loss),
        )
        if loss.kind in losses
        for name in loss.parameters
        if name not in losses[loss.kind].parameters
    ]


def parse_overrides(arguments: Sequence[str]) -> dict[str, Any]:
    """Overrides from a command line.

    arguments (Sequence[str]): e.g. `["--positive.optimizer.steps", "100", "--data.kb=kb"]`.
    RETURNS (dict[str, Any]): `{"positive.optimizer.steps": 100, "data.kb": "kb"}`; a value that
        is JSON is read as such, any other is a string.
    RAISES (AngelError): an argument that is no `--section.name value`.
    """
    overrides: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not name.startswith("--") or "." not in name or not (equals or rest):
            raise AngelError(
                f"Unknown argument {name!r}. Override settings with --section.name value."
            )
        value = value if equals else rest.pop(0)
        try:
            overrides[name.removeprefix("--")] = json.loads(value)
        except (ValueError, RecursionError):
            overrides[name.removeprefix("--")] = value
    return overrides
