"""File formats, and registries that find them by name or recognize them by content.

Each format is a module that defines a `Format` and is listed in a registry. Other packages can add
formats with an entry point; these are tried first:

    [options.entry_points]
    spacy_angel_corpus_formats =
        arrows = my_package.arrows:FORMAT
"""

import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from inspect import signature
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from ..errors import AngelError, unknown_name
from .reading import pieces

HEAD_BYTES = 2**16

Holds = Literal["documents", "mentions", "texts"]


@dataclass(frozen=True, slots=True)
class Format:
    """A file format, with functions to recognize, read, and write it.

    name (str): e.g. `pubtator`, `obo.v1`.
    read (Callable[..., Iterator[Any]]): function that reads a file. Takes the path, an object that
        counts and reports faults (`Reading` for a corpus, `VocabularyReport` for a vocabulary), and
        options with type annotations, see `checked_options`.
    recognizes (Callable[[Path, str], bool]): function that returns whether a file has this format.
        Takes the path and the beginning of the file (see `read_head`) without leading whitespace;
        it is empty for a folder.
    holds (Holds): content of a corpus: whole documents with their mentions; single mentions, for
        training and evaluation; or texts without identifiers.
    write (Callable[..., None] | None): function that writes a file. Takes documents, the path, and
        options with type annotations. None for formats that can only be read.
    is_folder (bool): whether a corpus in this format is a folder.
    lacks (tuple[str, ...]): attributes of documents and mentions that the format cannot represent,
        e.g. `parts`.
    """

    name: str
    read: Callable[..., Iterator[Any]]
    recognizes: Callable[[Path, str], bool]
    holds: Holds = "documents"
    write: Callable[..., None] | None = None
    is_folder: bool = False
    lacks: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): names of the options for reading."""
        return _options(self.read)

    @property
    def write_options(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): names of the options for writing."""
        return () if self.write is None else _options(self.write)


def _options(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(signature(function).parameters)[2:]


def checked_options(
    function: Callable[..., Any],
    options: Mapping[str, Any],
    format: str,
    common: Sequence[str] = (),
) -> dict[str, Any]:
    """Convert options to the types with which a function annotates its parameters.

    function (Callable[..., Any]): function that reads or writes the format. Parameters that accept
        several choices are annotated as `frozenset[…] | None`.
    options (Mapping[str, Any]): option values, which can also be given as text: true, false, yes,
        or no for a bool, and choices separated by commas, or `all` for None.
    format (str), common (Sequence[str]): name of the format, and options that all formats share,
        for the error message.
    RETURNS (dict[str, Any]): keyword arguments for the function.
    RAISES (AngelError): if an option is unknown or has an invalid value.
    """
    own = _options(function)
    if unknown := ", ".join(sorted(options.keys() - set(own))):
        known = ", ".join([*common, *own]) or "none"
        raise AngelError(f"The format {format} has no option {unknown}. Its options: {known}.")
    hints = get_type_hints(function, include_extras=True)
    checked = {}
    for name, value in options.items():
        is_choices = any(get_origin(kind) is frozenset for kind in get_args(hints[name]))
        if isinstance(value, str) and is_choices:
            choices = [choice.strip() for choice in value.split(",") if choice.strip()]
            value = None if value.strip().lower() == "all" else choices
        try:
            checked[name] = TypeAdapter(hints[name]).validate_python(value)
        except ValidationError as error:
            problem = error.errors()[0]
            expected = problem["msg"].removeprefix("Input should be ")
            if problem["type"].startswith("bool_"):
                expected = "true, false, yes or no"
            raise AngelError(
                f"The option {name} of the format {format} must be {expected}, not "
                f"{problem['input']!r}."
            ) from error
    return checked


class Formats(Mapping[str, Format]):
    """Registry of formats by name: formats from other packages, followed by the built-in ones.

    kind (str): `corpus` or `vocabulary`, for error messages.
    group (str): entry point group of formats from other packages.
    own (Sequence[Format]): built-in formats, in the order in which they are tried.
    foreign (Mapping[str, str]): patterns of files that cannot be read, and what they are.
    """

    def __init__(
        self, kind: str, group: str, own: Sequence[Format], foreign: Mapping[str, str] = {}
    ) -> None:
        self._kind, self._group, self._foreign = kind, group, foreign
        self._own = {format.name: format for format in own}

    def __getitem__(self, name: str) -> Format:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    @cached_property
    def _by_name(self) -> dict[str, Format]:
        entries = sorted(entry_points(group=self._group), key=lambda entry: entry.name)
        others = {format.name: format for format in (entry.load() for entry in entries)}
        return others | self._own

    def named(self, name: str) -> Format:
        """Look up a format by name.

        name (str): name of the format; the version `.v1` may be omitted.
        RETURNS (Format): the format with this name.
        RAISES (AngelError): if there is no such format.
        """
        format = self.get(name) or self.get(f"{name}.v1")
        if format is None:
            raise AngelError(unknown_name(f"{self._kind} format", name, ", ".join(self)))
        return format

    def of(self, path: Path) -> Format:
        """Infer the format of a file or folder.

        path (Path): file (plain or gzip) or folder.
        RETURNS (Format): the first format that recognizes it.
        RAISES (AngelError): if the file is empty or cannot be read, or if no format recognizes it.
        """
        format, head = self._match(path)
        if format is not None:
            return format
        if foreign := self._foreign_name(head):
            raise AngelError(
                f"{path} looks like {foreign}, which cannot be read. Convert it to one of "
                f"{', '.join(name for name, format in self.items() if format.write)} or jsonl."
            )
        if not head and not path.is_dir():
            raise AngelError(f"{path} is empty; expected a {self._kind}.")
        known = ", ".join(self)
        raise AngelError(
            f"Cannot tell the {self._kind} format of {path}. Give --format with one of {known}."
        )

    def recognized(self, path: Path) -> Format | None:
        """Like `of`, but return None if no format recognizes the file."""
        return self._match(path)[0]

    def _match(self, path: Path) -> tuple[Format | None, str]:
        """The format that recognizes a file, if any, and the beginning of the file."""
        head = "" if path.is_dir() else read_head(path).lstrip()
        formats = () if self._foreign_name(head) else self.values()
        return next((f for f in formats if f.recognizes(path, head)), None), head

    def _foreign_name(self, head: str) -> str | None:
        return next((name for form, name in self._foreign.items() if re.search(form, head)), None)


def read_head(path: Path) -> str:
    """Read the beginning of a file, from which its format is inferred.

    path (Path): file, plain or gzip.
    RETURNS (str): at least the first HEAD_BYTES bytes, or all of a shorter file, decoded with
        replacement of invalid UTF-8. If the file is damaged, only the text before the damage.
    RAISES (AngelError): if the file cannot be read or is encoded as UTF-16.
    """
    head = b""
    try:
        for _, piece in pieces(path):
            head += piece
            if len(head) >= HEAD_BYTES:
                break
    except AngelError:
        if not head:
            raise
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise AngelError(f"{path} is UTF-16. Convert it to UTF-8.")
    return head.decode("utf8", errors="replace").removeprefix("\ufeff")


def is_json(head: str) -> bool:
    """head (str): beginning of a file. RETURNS (bool): whether it is an object or a list; a note
    that begins with `[**2151-7-16**]` is not."""
    return re.match(r"[\[{]\s*[\[{\"\]}]", head) is not None


def first_line(head: str) -> str:
    """head (str): beginning of a file. RETURNS (str): its first non-blank line."""
    return head.lstrip().split("\n", 1)[0].rstrip("\r")
