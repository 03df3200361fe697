"""Validation of untrusted JSON. Every problem is reported as a ValueError with one line of text."""

import json
import reprlib
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

# A file with more invalid keys is probably of another kind.
MAX_PROBLEMS = 5
_T = TypeVar("_T")


def parse_json(text: str | bytes, pairs: bool = False) -> Any:
    """Parse a JSON value.

    text (str | bytes): one JSON value.
    pairs (bool): return objects as lists of key-value pairs, which keeps repeated keys.
    RETURNS (Any): the value.
    RAISES (ValueError): if the text is not valid JSON, is nested too deeply, or contains a number
        that is too long or a lone surrogate.
    """
    text = text if isinstance(text, str) else text.decode("utf-8-sig")
    # Unlike `json`, it limits the depth and rejects lone surrogates.
    value = from_json(text)
    return json.loads(text, object_pairs_hook=list) if pairs else value


def parse_as(text: str | bytes, kind: type[_T]) -> _T:
    """Parse a JSON value and validate it with pydantic.

    text (str | bytes): one JSON value.
    kind (type[_T]): expected type: a pydantic model, a dataclass, or a type such as
        `dict[str, int]`.
    RETURNS (_T): the validated value.
    RAISES (ValueError): if the text is not valid JSON or the value does not have this type.
    """
    return checked(parse_json(text), kind)


def checked(value: Any, kind: type[_T]) -> _T:
    """Validate a value with pydantic.

    value (Any): a value that was parsed from JSON.
    kind (type[_T]): expected type, see `parse_as`.
    RETURNS (_T): the validated value.
    RAISES (ValueError): if the value does not have this type. The message lists the invalid keys,
        with expected and actual values.
    """
    try:
        plain: Any = kind
        value = _adapter(plain).validate_python(value)
    except ValidationError as error:
        raise ValueError(problems(error)) from error
    return value


def problems(error: ValidationError) -> str:
    """Summarize a validation error in one line.

    error (ValidationError): the error that pydantic raised.
    RETURNS (str): the problems, separated by `; `, e.g. `run.pipeline: Input should be a valid
        string (got 3)`.
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
