"""The config of a training run, in spaCy's format, read into `settings`.

A config contains all stages; each stage reads its own section. The shipped configs are in
`configs/` of the project and in `spacy_angel/configs/` of an installation.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ...errors import AngelError, unknown_name
from ...files.json_values import problems
from ..settings.config_tables import TrainingConfig

_T = TypeVar("_T")
_PACKAGE = Path(__file__).parents[2]


def find_config(name_or_path: str) -> Path:
    """Find a config.

    name_or_path (str): a file, or the name of a shipped config, e.g. `mini/ncbi`.
    RETURNS (Path): the file.
    RAISES (AngelError): there is no such file or config.
    """
    path = Path(name_or_path)
    if path.is_file():
        return path
    installed = _PACKAGE / "configs"
    folder = installed if installed.is_dir() else _PACKAGE.parent / "configs"
    known = {
        file.relative_to(folder).with_suffix("").as_posix(): file
        for file in sorted(folder.rglob("*.cfg"))
        # The configs of spaCy's own recognizers are for `spacy train`.
        if not file.name.startswith("ner_")
    }
    if (name := name_or_path.removesuffix(".cfg")) in known:
        return known[name]
    raise AngelError(unknown_name("config", name_or_path, ", ".join(known)))


def load_config(path: Path, overrides: dict[str, Any] | None = None) -> TrainingConfig:
    """Read a config.

    path (Path): file in spaCy's config format.
    overrides (dict[str, Any] | None): dotted names to values, e.g.
        `{"positive.optimizer.steps": 100}`.
    RETURNS (TrainingConfig): with all values checked.
    RAISES (AngelError): unknown, missing, or mistyped settings; the message lists them.
    """
    return read_config(path, overrides, TrainingConfig)


def read_config(path: Path, overrides: Mapping[str, Any] | None, kind: type[_T]) -> _T:
    """Read a config of any kind.

    path (Path), overrides (Mapping[str, Any] | None): see `load_config`.
    kind (type[_T]): dataclass of the whole file.
    RETURNS (_T): with all values checked.
    RAISES (AngelError): it is not a config, or settings are invalid; the message lists them.
    """
    # Imported here, so that training from Python needs only torch and transformers.
    from confection import Config, ConfigValidationError

    try:
        values = Config().from_disk(path, overrides=dict(overrides or {}))
        return TypeAdapter(kind).validate_python(dict(values))
    except ValidationError as error:
        raise AngelError(f"The config {path} is not valid: {problems(error)}.") from error
    except (ConfigValidationError, ValueError) as error:
        raise AngelError(f"The config {path} is not valid: {error}.") from error
