"""JSON of foreign origin: whatever is wrong with it is a ValueError."""

import json
from typing import Any

# Levels of lists and objects; BioC has seven.
MAX_DEPTH = 100
TOO_DEEP = f"lists and objects are nested deeper than {MAX_DEPTH} levels"


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
