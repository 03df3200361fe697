"""JSON from other sources: everything that is wrong with it is a ValueError in one line."""

import json
import re
import reprlib
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, TypeAdapter, ValidationError

TOO_DEEP = "lists and objects are nested too deeply"
# With more wrong keys it is another kind of file.
MAX_PROBLEMS = 5
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_T = TypeVar("_T")


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it has half a character, which UTF-8 cannot encode") from None
    return text


Text = Annotated[str, AfterValidator(_whole)]
"""JSON can contain half of a surrogate pair, which is not text."""


def parse_json(text: str | bytes, pairs: bool = False) -> Any:
    """text (str | bytes): one JSON value. pairs (bool): objects as lists of pairs of key and value,
    so that no repeated key is lost.

    RETURNS (Any): the value.
    RAISES (ValueError): no JSON, nested too deeply, a number too long to be one, or half a
        surrogate pair in a string.
    """
    try:
        value = json.loads(text, object_pairs_hook=list if pairs else None)
        escaped = text if isinstance(text, str) else text.decode("utf8", "replace")
        if _SURROGATE.search(escaped):
            _whole(json.dumps(value, ensure_ascii=False))
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
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
        f"{'.'.join(map(str, each['loc'])) or 'the whole'}: {each['msg']}"
        + ("" if each["type"] == "missing" else f" (got {reprlib.repr(each['input'])})")
        for each in listed[:MAX_PROBLEMS]
    ]
    return "; ".join(lines + ["…"] * (len(listed) > MAX_PROBLEMS))


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
