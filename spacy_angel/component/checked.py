"""Base class of a component's settings: a pydantic model whose errors name the component, the
setting, and what was expected."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from inspect import getdoc
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
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


class CheckedSettings(BaseModel):
    """Base class of a component's settings. The annotation of each field has its type and its
    limits (`Annotated[int, Field(ge=1)]`); it is described in the docstring of the class or by the
    field's `description`. Types are strict: true is not 1, and "5" is not 5.

    RAISES (AngelError): an unknown setting or an invalid value; the message names the setting, the
        expected values, and the given value.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    COMPONENT: ClassVar[str] = ""

    def __init__(self, **values: Any) -> None:
        known = type(self).model_fields
        if unknown := values.keys() - known.keys():
            raise AngelError(unknown_names(self.COMPONENT, unknown, known))
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise explain_refusal(type(self), error) from error
        self.check()

    def check(self) -> None:
        """RAISES (AngelError): values that are valid separately but not together."""

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): plain values for JSON and config files."""
        return self.model_dump(mode="json")

    def expect(self, name: str, ok: bool, expected: str) -> None:
        """name (str): name of a setting. ok (bool): whether its value is valid. expected (str):
        what is valid. RAISES (AngelError): `ok` is false."""
        if not ok:
            raise AngelError(_refusal(self.COMPONENT, name, expected, getattr(self, name)))


def explain_refusal(cls: type[CheckedSettings], error: ValidationError) -> AngelError:
    """cls (type[CheckedSettings]): class of the settings. error (ValidationError): raised for one
    of them. RETURNS (AngelError): names the setting, the expected values, and the given value."""
    problem = error.errors()[0]
    # The refusal of a block of settings names the block.
    if isinstance(cause := problem.get("ctx", {}).get("error"), AngelError):
        return cause
    name, *keys = map(str, problem["loc"])
    expected = problem["msg"].removeprefix("Input should be ")
    if type(None) in get_args(cls.model_fields[name].annotation):
        expected = f"null or {expected}"
    name += "".join(f"[{key!r}]" for key in keys)
    return AngelError(_refusal(cls.COMPONENT, name, expected, problem["input"]))


def _refusal(component: str, name: str, expected: str, value: Any) -> str:
    return f"{component}'s setting {name} must be {expected}, not {value!r}."


def unknown_names(component: str, unknown: Iterable[str], known: Iterable[str]) -> str:
    """component (str): owner of the settings. unknown (Iterable[str]), known (Iterable[str]): names
    of settings. RETURNS (str): an error message that suggests similar names."""
    known = sorted(known)
    near = sorted({n for name in unknown for n in get_close_matches(name.lower(), known, 1, 0.75)})
    hint = f" Did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else ""
    return f"{component} has no setting {sorted(unknown)}.{hint} It has {', '.join(known)}."


def describe_settings(cls: type[CheckedSettings]) -> list[tuple[str, str, Any, str]]:
    """cls (type[CheckedSettings]): settings of a component. RETURNS (list[tuple[str, str, Any,
    str]]): name, type, default in a config file, and description of each setting, e.g.
    `("k", "int", 5, "maximum number of names per mention; …")`."""
    defaults = cls().to_dict()
    meanings = dict(re.findall(r"^(\w+) \(.*?\): (.+(?:\n +.+)*)", getdoc(cls) or "", re.MULTILINE))
    rows = []
    for name, field in cls.model_fields.items():
        meaning = meanings.get(name) or field.description or ""
        kind = _type_name(field.annotation)
        rows.append((name, kind, defaults[name], " ".join(meaning.split())))
    return rows


def _type_name(kind: Any) -> str:
    """Format a type as in a config file: `Name | None` → `str | null`, `Names` → `list of str`."""
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
