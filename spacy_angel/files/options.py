"""Options of readers, given in Python or as text on the command line, checked before reading."""

from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from ..errors import AngelError


def checked_options(
    reader: Callable[..., Any], options: Mapping[str, Any], format: str
) -> dict[str, Any]:
    """Convert options to what the annotations of a reader say.

    reader (Callable[..., Any]): several choices are annotated as `frozenset[…] | None`.
    options (Mapping[str, Any]): parameters of the reader; values, or text: true, false, yes or no;
        choices with commas between them, or `all`, which is None.
    format (str): what the reader reads, for the message.
    RETURNS (dict[str, Any]): for the reader.
    RAISES (AngelError): names the option, what was expected and what came.
    """
    hints = get_type_hints(reader, include_extras=True)
    checked = {}
    for name, value in options.items():
        if isinstance(value, str) and _is_choices(hints[name]):
            value = _choices(value)
        try:
            checked[name] = TypeAdapter(hints[name]).validate_python(value)
        except ValidationError as error:
            problem = error.errors()[0]
            is_bool = problem["type"].startswith("bool_")
            expected = problem["msg"].removeprefix("Input should be ")
            raise AngelError(
                f"The option {name} of the format {format} must be "
                f"{'true, false, yes or no' if is_bool else expected}, not {problem['input']!r}."
            ) from error
    return checked


def _is_choices(hint: Any) -> bool:
    return any(get_origin(kind) is frozenset for kind in get_args(hint))


def _choices(text: str) -> list[str] | None:
    """`"MSH, NCI"` → `["MSH", "NCI"]`, `"all"` → None."""
    if text.strip().lower() == "all":
        return None
    return [value.strip() for value in text.split(",") if value.strip()]
