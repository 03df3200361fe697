"""Settings of a component that check themselves: types, limits and meanings stand once, at the
fields."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
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
    """Base of a component's settings: the annotation of each field carries its type, limits and
    meaning (`Annotated[int, Field(ge=1, description="…")]`). A field of another such class is a
    block of the config, whose entries have names like `search.mode`.

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
                raise self._refusal(name, error) from error
            object.__setattr__(self, name, value)

    @classmethod
    def from_dict(cls: type[T], values: Mapping[str, Any]) -> T:
        """values (Mapping[str, Any]): by name, nested or flat; the others keep their defaults.
        RETURNS (CheckedSettings): of this class.
        RAISES (AngelError): an unknown name, or a value that does not fit.
        """
        values = nested(values)
        known = [f.name for f in fields(cls)]
        if unknown := sorted(set(values) - set(known)):
            raise AngelError(f"{cls.COMPONENT} has no setting {unknown}. Known: {known}.")
        return cls(**values)

    @classmethod
    def blocks(cls) -> "dict[str, type[CheckedSettings]]":
        """RETURNS (dict[str, type[CheckedSettings]]): fields that are blocks, with their class."""
        plain: type = cls
        kinds = ((name, get_args(hint)[0]) for name, hint in _hints(plain).items())
        return {name: kind for name, kind in kinds if _is_block(kind)}

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
            raise AngelError(self._message(name, expected, getattr(self, name)))

    def _refusal(self, name: str, error: ValidationError) -> AngelError:
        problem = error.errors()[0]
        expected = problem["msg"].removeprefix("Input should be ")
        cls: type = type(self)
        if type(None) in get_args(get_args(_hints(cls)[name])[0]):
            expected = f"null or {expected}"
        place = "".join(f"[{part!r}]" for part in problem["loc"])
        return AngelError(self._message(name + place, expected, problem["input"]))

    def _message(self, name: str, expected: str, value: Any) -> str:
        return f"[E305] {self.COMPONENT}'s setting {name} must be {expected}, not {value!r}."


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
    hints = ((name, h) for name, h in _hints(cls).items() if not _is_block(get_args(h)[0]))
    return {name: TypeAdapter(hint, config=config) for name, hint in hints}


def _is_block(kind: Any) -> bool:
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
    rows = []
    for name, hint in _hints(plain).items():
        kind, *metadata = get_args(hint)
        meaning = next(m.description for m in metadata if getattr(m, "description", None))
        rows.append((name, _type_name(kind), defaults[name], meaning))
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
