"""The settings of a linker beside its saved model and vocabulary (settings.json)."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from ...component.block import ConfigBlock
from ...errors import AngelError
from ...files.json_values import checked, parse_as
from .linker_settings import LinkerSettings
from .older import as_of_now, renamed
from .presets import PUBLISHED


class _Saved(BaseModel, extra="forbid"):
    """`settings`: all that were in use; `config`: those that the pipeline's config named."""

    settings: dict[str, Any]
    config: dict[str, Any]


class _Change(BaseModel, extra="forbid"):
    """Up to 0.1: values of one setting, as the config has it and as it was changed."""

    config: Any
    changed: Any


def settings_to_save(settings: LinkerSettings, block: ConfigBlock) -> dict[str, Any]:
    """settings (LinkerSettings): in use. block (ConfigBlock): the component's.
    RETURNS (dict[str, Any]): plain, for `restore_settings`."""
    return {"settings": settings.to_dict(), "config": block.given}


def restore_settings(
    data: bytes,
    path: str,
    block: ConfigBlock,
    in_config: Mapping[str, Any] | None,
    files: Mapping[str, Path] = MappingProxyType({}),
) -> LinkerSettings:
    """The saved settings; where the loading pipeline's config differs from the config that they
    were saved with, the user changed it since, and the loading config's value is taken.

    data (bytes): JSON. path (str): where it stands.
    block (ConfigBlock): of the component that is loaded.
    in_config (Mapping[str, Any] | None): the block of the saved pipeline's config, where there is
        one.
    files (Mapping[str, Path]): by setting, the files that were saved, in the place of those that
        they are copies of.
    RETURNS (LinkerSettings): to be used.
    RAISES (AngelError): it is not of that kind, or has an unknown setting.
    """
    try:
        values = parse_as(data, dict[str, Any])
        if set(values) != set(_Saved.model_fields):
            return _restore_changes(checked(values, dict[str, _Change]), block)
        saved = checked(values, _Saved)
    except ValueError as error:
        raise AngelError(
            f"Cannot read the changed settings {path}: {error}. Restore the file."
        ) from error
    overrides = block.overrides(renamed(saved.config if in_config is None else in_config))
    settings = renamed(saved.settings)
    settings |= {name: str(path) for name, path in files.items() if settings.get(name)}
    settings |= overrides
    return LinkerSettings.from_dict(as_of_now(settings, is_saved=True))


def _restore_changes(changes: dict[str, _Change], block: ConfigBlock) -> LinkerSettings:
    """Of 0.1, whose config.cfg has all settings of its time, and those that came later are as they
    were without them."""
    settings = LinkerSettings.flat(LinkerSettings.from_dict(PUBLISHED).to_dict()) | block.given
    for name, values in renamed(changes).items():
        # Unknown names are taken as well, and refused below.
        if name not in settings or settings[name] == values.config:
            settings[name] = values.changed
    return LinkerSettings.from_dict(as_of_now(settings, is_saved=True))
