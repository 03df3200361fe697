"""JSON of foreign origin: whatever is wrong with it is a ValueError, in one line."""

import json
import reprlib
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, TypeAdapter, ValidationError

# Levels of lists and objects; BioC has seven.
MAX_DEPTH = 100
TOO_DEEP = f"lists and objects are nested deeper than {MAX_DEPTH} levels"
# More than so many wrong keys are no typo, but another kind of file.
_MOST_PROBLEMS = 5
_T = TypeVar("_T")


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it has half a character, of which UTF-8 knows nothing") from None
    return text


Text = Annotated[str, AfterValidator(_whole)]
"""JSON can write half of a pair of surrogates, which is no text."""


def parse_json(text: str | bytes) -> Any:
    """text (str | bytes): one JSON value.

    RETURNS (Any): the value.
    RAISES (ValueError): no JSON, nested deeper than MAX_DEPTH, or a number too long to be one.
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
    check_depth(value)
    return value


def parse_as(text: str | bytes, kind: type[_T]) -> _T:
    """text (str | bytes): one JSON value. kind (type[_T]): what it should be, for pydantic: a
        model, a dataclass, or e.g. `dict[str, int]`.
    RETURNS (_T): of that kind.
    RAISES (ValueError): no JSON, or not of that kind; names what is wrong.
    """
    return checked(parse_json(text), kind)


def checked(value: Any, kind: type[_T]) -> _T:
    """value (Any): plain values. kind (type[_T]): see `parse_as`.

    RETURNS (_T): of that kind.
    RAISES (ValueError): it is not; names each key that is wrong, what was expected and what came.
    """
    try:
        plain: Any = kind
        value = _adapter(plain).validate_python(value)
    except ValidationError as error:
        raise ValueError(problems(error)) from error
    return value


def problems(error: ValidationError) -> str:
    """error (ValidationError): of pydantic.

    RETURNS (str): e.g. `run.pipeline: Input should be a valid string (got 3)`, with `; ` between
        several.
    """
    listed = error.errors(include_url=False)
    lines = [
        f"{place}: {each['msg']}" + ("" if missing else f" (got {reprlib.repr(each['input'])})")
        for each in listed[:_MOST_PROBLEMS]
        for place in [".".join(map(str, each["loc"])) or "the whole"]
        for missing in [each["type"] == "missing"]
    ]
    return "; ".join(lines) + ("; …" if len(listed) > _MOST_PROBLEMS else "")


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def check_depth(value: Any) -> None:
    """value (Any): of the JSON decoder.

    RAISES (ValueError): lists and objects in it are nested deeper than MAX_DEPTH.
    """
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise ValueError(TOO_DEEP)
