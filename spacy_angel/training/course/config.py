"""A training run's file of settings, in spaCy's config format, read into `settings`.

One file describes the whole recipe; each stage reads its own section. The configs that ship lie in
`configs/` of the project, in `spacy_angel/configs/` of an installation.
"""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ...errors import AngelError, AngelWarning, unknown_name
from ...files.json_values import problems
from ..settings.config_tables import TrainingConfig

_T = TypeVar("_T")
_PACKAGE = Path(__file__).parents[2]


def find_config(name_or_path: str) -> Path:
    """Find a config file.

    name_or_path (str): a file, or the name of a config that ships, e.g. `mini/ncbi`.
    RETURNS (Path): the file.
    RAISES (AngelError): there is neither.
    """
    path = Path(name_or_path)
    if path.is_file():
        return path
    installed = _PACKAGE / "configs"
    folder = installed if installed.is_dir() else _PACKAGE.parent / "configs"
    known = {
        file.relative_to(folder).with_suffix("").as_posix(): file
        for file in sorted(folder.rglob("*.cfg"))
        # Those of spaCy's own recognizers are for `spacy train`.
        if not file.name.startswith("ner_")
    }
    if (name := name_or_path.removesuffix(".cfg")) in known:
        return known[name]
    raise AngelError(unknown_name("config", name_or_path, ", ".join(known)))


def load_config(path: Path, overrides: dict[str, Any] | None = None) -> TrainingConfig:
    """Read a config file.

    path (Path): file in spaCy's config format.
    overrides (dict[str, Any] | None): dotted names to values, e.g.
        `{"positive.optimizer.steps": 100}`.
    RETURNS (TrainingConfig): every value checked.
    RAISES (AngelError): unknown, missing or mistyped settings, each named. Settings that are
        given and have no effect are warned of.
    """
    values = read_values(path, overrides)
    config = check_values(path, values, TrainingConfig)
    for setting in unused_settings(config, values):
        warnings.warn(f"{path}: a setting has no effect: {setting}.", AngelWarning, stacklevel=2)
    return config


def read_values(path: Path, overrides: Mapping[str, Any] | None) -> dict[str, Any]:
    """Read the values of a config file without checking them.

    path (Path), overrides (Mapping[str, Any] | None): see `load_config`.
    RETURNS (dict[str, Any]): sections, nested.
    RAISES (AngelError): it is not a config file.
    """
    # Here, so that training from Python needs torch and transformers only.
    from confection import Config, ConfigValidationError

    try:
        return dict(Config().from_disk(path, overrides=dict(overrides or {})))
    except (ConfigValidationError, ValueError) as error:
        raise AngelError(f"The config {path} is not valid: {error}.") from error


def check_values(path: Path, values: Mapping[str, Any], kind: type[_T]) -> _T:
    """Check the values of a config file.

    path (Path): for the message.
    values (Mapping[str, Any]): of `read_values`.
    kind (type[_T]): dataclass of the whole file.
    RETURNS (_T): filled.
    RAISES (AngelError): wrong settings, each named.
    """
    try:
        return TypeAdapter(kind).validate_python(dict(values))
    except ValidationError as error:
        raise AngelError(f"The config {path} is not valid: {problems(error)}.") from error


def unused_settings(config: TrainingConfig, values: Mapping[str, Any]) -> list[str]:
    """Settings that a config file or its overrides name, and that change nothing.

    config (TrainingConfig): as read.
    values (Mapping[str, Any]): sections as they were written, nested.
    RETURNS (list[str]): e.g. `negative.patience (negative.rounds is 1)`.
    """
    return [
        f"{section}.{name} ({reason})"
        for section, names, reason in _unused(config)
        for name in names.split()
        if _is_named(values, f"{section}.{name}")
    ]


def _unused(config: TrainingConfig) -> Iterator[tuple[str, str, str]]:
    """YIELDS (tuple[str, str, str]): a section, names of unused settings in it, and the reason."""
    kind = config.backbone.kind
    unused = {
        "pretrained": "decoder_layers encoder_layers heads vocabulary_size width",
        "encoder": "heads preset tokenizer vocabulary_size width",
        "fresh": "name preset tokenizer",
    }
    yield "backbone", unused[kind], f"backbone.kind is {kind}"
    names = "positives select embedding_model passes substitutes copies noise"
    yield "pretrain.positive.examples", names, "pre-training's are made of the vocabulary"
    names = "rounds patience reference pairs"
    yield "pretrain.negative", names, "pre-training's pairs come from tf-idf, in one round"
    examples, section = config.positive.examples, "positive.examples"
    if examples.select != "embedding":
        yield section, "embedding_model", f"positive.examples.select is {examples.select}"
    if not examples.substitutes:
        yield section, "copies", "positive.examples.substitutes is 0"
    if not examples.noise.share:
        yield f"{section}.noise", "kinds most_edits context", f"{section}.noise.share is 0"
    if config.negative.rounds == 1:
        yield "negative", "patience reference", "negative.rounds is 1"
    if config.negative.pairs.rule == "tfidf":
        yield "negative.pairs", "without_right search", "negative.pairs.rule is tfidf"
    for section, optimizer in (
        ("pretrain.positive.optimizer", config.pretrain.positive.optimizer),
        ("pretrain.negative.optimizer", config.pretrain.negative.optimizer),
        ("positive.optimizer", config.positive.optimizer),
        ("negative.optimizer", config.negative.optimizer),
    ):
        if optimizer.steps:
            yield section, "epochs", f"{section}.steps is {optimizer.steps}"
        if optimizer.schedule != "polynomial":
            yield section, "end_learning_rate", f"{section}.schedule is {optimizer.schedule}"
        if optimizer.schedule == "constant":
            yield section, "warmup_steps", f"{section}.schedule is constant"


def _is_named(values: Mapping[str, Any], name: str) -> bool:
    section: Any = values
    for part in name.split("."):
        if not isinstance(section, Mapping) or part not in section:
            return False
        section = section[part]
    return True


def parse_overrides(arguments: Sequence[str]) -> dict[str, Any]:
    """Overrides from a command line.

    arguments (Sequence[str]): e.g. `["--positive.optimizer.steps", "100", "--data.kb=kb"]`.
    RETURNS (dict[str, Any]): `{"positive.optimizer.steps": 100, "data.kb": "kb"}`; a value that
        is JSON is read as such, any other is a string.
    RAISES (AngelError): an argument that is not `--section.name value`.
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
