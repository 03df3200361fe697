"""Settings of a component that check themselves: types, limits and meanings stand once, at the
fields."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from difflib import get_close_matches
from functools import cache
from inspect import getdoc
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from ..errors import AngelError


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


T = TypeVar("T", bound="CheckedSettings")


@dataclass(frozen=True)
class CheckedSettings:
    """Base of a component's settings. The annotation of each field has its type and its limits
    (`Annotated[int, Field(ge=1)]`); its meaning is in the docstring of the class, or the field's
    `description`. A field of another such class is a block of the config, whose entries have names
    like `search.shortcuts`.

    RAISES (AngelError): a value that does not fit; the message names setting, expectation, value.
    """

    COMPONENT = ""

    def __post_init__(self) -> None:
        cls: type = type(self)
        for name, block in self.blocks().items():
            value = getattr(self, name)
            if isinstance(value, Mapping):
                object.__setattr__(self, name, block.from_dict(value))
            else:
                self.expect(name, isinstance(value, block), "a table of its entries")
        for name, adapter in _adapters(cls).items():
            try:
                value = adapter.validate_python(getattr(self, name))
            except ValidationError as error:
                problem = error.errors()[0]
                expected = problem["msg"].removeprefix("Input should be ")
                if type(None) in get_args(_kind(_hints(cls)[name])):
                    expected = f"null or {expected}"
                place = name + "".join(f"[{part!r}]" for part in problem["loc"])
                message = _refusal(self.COMPONENT, place, expected, problem["input"])
                raise AngelError(message) from error
            object.__setattr__(self, name, value)

    @classmethod
    def from_dict(cls: type[T], values: Mapping[str, Any]) -> T:
        """values (Mapping[str, Any]): by name, nested or flat; the others keep their defaults.
        RETURNS (CheckedSettings): of this class.
        RAISES (AngelError): an unknown name, or a value that does not fit.
        """
        values = nested(values)
        known = [f.name for f in fields(cls)]
        if unknown := set(values) - set(known):
            raise AngelError(unknown_names(cls.COMPONENT, unknown, known))
        return cls(**values)

    @classmethod
    def blocks(cls) -> "dict[str, type[CheckedSettings]]":
        """RETURNS (dict[str, type[CheckedSettings]]): fields that are blocks, with their class."""
        plain: type = cls
        return {name: hint for name, hint in _hints(plain).items() if _is_block(hint)}

    @classmethod
    def flat(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """values (Mapping[str, Any]): by name, as a config has them. RETURNS (dict[str, Any]):
        entries of blocks by themselves, `{"search": {"k": 5}}` → `{"search.k": 5}`."""
        plain: dict[str, Any] = {}
        blocks = cls.blocks()
        for name, value in values.items():
            is_block = name in blocks and isinstance(value, Mapping)
            plain |= {f"{name}.{k}": v for k, v in value.items()} if is_block else {name: value}
        return plain

    def changed(self: T, **values: Any) -> T:
        """values (Any): by name; of a block the entries that it gives. RETURNS (CheckedSettings):
        with them, and all else as it is. RAISES (AngelError): see `from_dict`."""
        return self.from_dict({**self.flat(self.to_dict()), **self.flat(values)})

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): plain values for JSON and config files."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    def expect(self, name: str, ok: bool, expected: str) -> None:
        """name (str): a setting. ok (bool): whether it fits. expected (str): what would.
        RAISES (AngelError): it does not."""
        if not ok:
            raise AngelError(_refusal(self.COMPONENT, name, expected, getattr(self, name)))


def _refusal(component: str, name: str, expected: str, value: Any) -> str:
    return f"{component}'s setting {name} must be {expected}, not {value!r}."


def unknown_names(component: str, unknown: Iterable[str], known: Iterable[str]) -> str:
    """component (str): whose settings these are. unknown (Iterable[str]), known (Iterable[str]):
    their names. RETURNS (str): an error message that suggests similar names."""
    known = sorted(known)
    near = sorted({n for one in unknown for n in get_close_matches(one.lower(), known, 1, 0.75)})
    hint = f" Did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else ""
    return f"{component} has no setting {sorted(unknown)}.{hint} It has {', '.join(known)}."


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """values (Mapping[str, Any]): flat, see `CheckedSettings.flat`. RETURNS (dict[str, Any]): as a
    config has them."""
    plain: dict[str, Any] = {}
    for name, value in values.items():
        block, dot, entry = name.partition(".")
        if dot:
            plain.setdefault(block, {})[entry] = value
        else:
            plain[name] = value
    return plain


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


@cache
def _adapters(cls: type) -> dict[str, TypeAdapter[Any]]:
    # Strict: true is not 1, and "5" is not 5.
    config = ConfigDict(strict=True)
    hints = _hints(cls).items()
    return {name: TypeAdapter(h, config=config) for name, h in hints if not _is_block(h)}


def _kind(hint: Any) -> Any:
    """RETURNS (Any): the type without its limits."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _is_block(hint: Any) -> bool:
    kind = _kind(hint)
    return isinstance(kind, type) and issubclass(kind, CheckedSettings)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


def describe_settings(cls: type[CheckedSettings]) -> list[tuple[str, str, Any, str]]:
    """cls (type[CheckedSettings]): a component's settings.
    RETURNS (list[tuple[str, str, Any, str]]): of each its name, type, default in a config file,
    and meaning, e.g. `("k", "int", 5, "most names a mention; …")`."""
    defaults = cls().to_dict()
    plain: type = cls
    meanings = dict(
        re.findall(r"^(\w+) \(.*?\): (.+(?:\n +.+)*)", getdoc(plain) or "", re.MULTILINE)
    )
    rows = []
    for name, hint in _hints(plain).items():
        described = (getattr(part, "description", None) for part in get_args(hint)[1:])
        meaning = meanings.get(name) or next(filter(None, described))
        rows.append((name, _type_name(_kind(hint)), defaults[name], " ".join(meaning.split())))
    return rows


def _type_name(kind: Any) -> str:
    """`Name | None` → `str | null`, `Names` → `list of str`, as a config file has them."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is None:
        return "null" if kind is type(None) else "block" if _is_block(kind) else kind.__name__
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in parts)
    if origin is Annotated:
        return _type_name(parts[0])
    names = [_type_name(part) for part in parts if part is not ...]
    if origin is tuple:
        return f"list of {names[0]}"
    return " → ".join(names) if origin is dict else " | ".join(names)
