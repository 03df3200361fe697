"""Convert docstrings from spaCy's style to Google's, which mkdocstrings renders as tables.

    path (Path): a file,
        gzipped or not.
    RETURNS (int): its lines.

becomes

    Args:
        path (Path): a file,
            gzipped or not.

    Returns:
        int: its lines.

`mkdocs.yml` registers the class below as an extension of griffe, which parses the code.
"""

import re
from itertools import pairwise
from typing import Any

import griffe

_KEYWORDS = {"RETURNS": "Returns", "YIELDS": "Yields", "RAISES": "Raises"}
_TYPE = r" \((?P<type>[^()]*(?:\([^()]*\)[^()]*)*)\)"
_NAMES = r"(?P<names>\*{0,2}[a-z_]\w*(?:, \*{0,2}[a-z_]\w*)*)"
_KEYWORD = rf"(?P<keyword>{'|'.join(_KEYWORDS)})"
_FIELD = re.compile(
    rf"(?:{_KEYWORD}(?:{_TYPE})?|{_NAMES}{_TYPE.replace('type', 'of')})(?P<end>[:,.])(?:\s+|$)"
)
# A keyword may follow a sentence on the same line: `n (int): a number. RETURNS (int): its square.`
_INLINE = re.compile(rf"(?<=[.:]) (?={_KEYWORD.replace('?P<keyword>', '?:')}(?: \(|:))")
# Maximum number of lines that a list of names and types may span.
_LOOK_AHEAD = 3


def to_google(text: str, arguments: str = "Args") -> str:
    """Convert a docstring to Google's style.

    text (str): a docstring without the indentation of the code.
    arguments (str): heading for named fields: `Args`, or `Attributes` for a data class.
    RETURNS (str): the text, with the fields moved to sections at its end.
    """
    prose: list[str] = []
    sections: dict[str, list[str]] = {}
    for paragraph in re.split(r"\n\s*\n", text):
        lines = _INLINE.sub("\n", paragraph).split("\n")
        starts = [*_field_starts(lines), len(lines)]
        if before := "\n".join(lines[: starts[0]]):
            prose.append(before)
        for start, end in pairwise(starts):
            field = " ".join(line.strip() for line in lines[start:end])
            for section, entry in _entries(field, arguments):
                sections.setdefault(section, []).append(entry)
    parts = ["\n\n".join(prose)]
    parts += [f"{section}:\n" + "\n".join(entries) for section, entries in sections.items()]
    return "\n\n".join(filter(None, parts))


def _field_starts(lines: list[str]) -> list[int]:
    """RETURNS (list[int]): the lines of a paragraph on which a field starts."""
    starts: list[int] = []
    for i, line in enumerate(lines):
        ahead = " ".join(line.strip() for line in lines[i : i + _LOOK_AHEAD])
        begins = not line[:1].isspace() and _match(ahead) is not None
        inside = starts != [] and _match(" ".join(map(str.strip, lines[starts[-1] : i]))) is None
        if begins and not inside:
            starts.append(i)
    return starts


def _match(text: str) -> re.Match[str] | None:
    """RETURNS (re.Match[str] | None): the field at the start of a text, if any."""
    found = _FIELD.match(text)
    while found is not None and found["end"] == ",":
        found = _FIELD.match(text, found.end())
    if found is None or (found["end"] == "." and not found["keyword"]):
        return None
    return found


def _entries(field: str, arguments: str) -> list[tuple[str, str]]:
    """RETURNS (list[tuple[str, str]]): section and entry for each name in a field."""
    last = _match(field)
    assert last is not None
    text = field[last.end() :]
    entries = []
    position = 0
    while position < last.end():
        found = _FIELD.match(field, position)
        assert found is not None
        position = found.end()
        if keyword := found["keyword"]:
            # A result without a description is omitted: its type is in the signature.
            if text:
                kind = found["type"] or ("AngelError" if keyword == "RAISES" else None)
                entries.append(
                    (_KEYWORDS[keyword], f"    {kind}: {text}" if kind else f"    {text}")
                )
            continue
        for name in found["names"].split(", "):
            entries.append((arguments, f"    {name} ({found['of']}): {text}"))
    return entries


class SpacyDocstrings(griffe.Extension):
    """Converts every docstring that griffe reads to Google's style."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """obj (griffe.Object): a module, class, function or attribute."""
        if obj.docstring is None:
            return
        arguments = "Args"
        if isinstance(obj, griffe.Class):
            # The docstring of a class without an explicit constructor describes its fields.
            generated = any("dataclass" in str(decorator.value) for decorator in obj.decorators)
            if generated or "__init__" not in obj.members:
                arguments = "Attributes"
        obj.docstring.value = to_google(obj.docstring.value, arguments)
