"""File formats: a record for each, and registries that recognize them by name or content.

A format is a module with a `Format` and a line in its registry. Other packages add formats with an
entry point; these are tried first:

    [options.entry_points]
    spacy_angel_corpus_formats =
        arrows = my_package.arrows:FORMAT
"""

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    """A file format: how it is read and written, and what it contains.

    name (str): e.g. `pubtator`, `obo.v1`.
    read (Callable[..., Iterator[Any]]): takes the path, an object that counts and reports faults
        (the `Reading` of a corpus, the `VocabularyReport` of a vocabulary), and options with type
        annotations, see `checked_options`.
    recognizes (Callable[[Path, str], bool]): whether a file has this format, given its path and its
        beginning (`read_head`, without leading white space; empty for a folder).
    holds (Holds): content of a corpus: whole documents with their mentions; single mentions, for
        training and evaluation; or texts without identifiers.
    write (Callable[..., None] | None): takes documents, the path, and options with type
        annotations; None for formats that are only read.
    is_folder (bool): whether a whole folder is one corpus.
    lacks (tuple[str, ...]): attributes of documents and mentions that a file cannot represent, e.g.
        `steps`.
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
        """RETURNS (tuple[str, ...]): names of the options of reading."""
        return _options(self.read)

    @property
    def write_options(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): names of the options of writing."""
        return () if self.write is None else _options(self.write)


def _options(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(signature(function).parameters)[2:]


def check_option_names(
    function: Callable[..., Any], names: Iterable[str], format: str, common: Sequence[str] = ()
) -> None:
    """function (Callable[..., Any]): that reads or writes the format. names (Iterable[str]): of
    options. format (str), common (Sequence[str]): name, and options of all formats of its kind, for
    the message.

    RAISES (AngelError): the function has no such option.
    """
    own = _options(function)
    if unknown := ", ".join(sorted(set(names) - set(own))):
        known = ", ".join([*common, *own]) or "none"
        raise AngelError(f"The format {format} has no option {unknown}. Its options: {known}.")


def checked_options(
    function: Callable[..., Any],
    options: Mapping[str, Any],
    format: str,
    common: Sequence[str] = (),
) -> dict[str, Any]:
    """Convert options to the annotated types of a function's parameters.

    function (Callable[..., Any]): several choices are annotated as `frozenset[…] | None`.
    options (Mapping[str, Any]): values, or text: true, false, yes or no; choices separated by
        commas, or `all` for None.
    format (str), common (Sequence[str]): for the message, see `check_option_names`.
    RETURNS (dict[str, Any]): for the function.
    RAISES (AngelError): an unknown option or an invalid value.
    """
    check_option_names(function, options, format, common)
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
    """The formats of one kind by name: those of other packages, then the package's own.

    kind (str): `corpus` or `vocabulary`, for messages.
    group (str): of the entry points.
    own (Sequence[Format]): tried in this order.
    """

    def __init__(self, kind: str, group: str, own: Sequence[Format]) -> None:
        self._kind, self._group = kind, group
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
        """name (str): of a format; its version `.v1` may be omitted.

        RETURNS (Format): the format of that name.
        RAISES (AngelError): there is none.
        """
        format = self.get(name) or self.get(f"{name}.v1")
        if format is None:
            raise AngelError(unknown_name(f"{self._kind} format", name, ", ".join(self)))
        return format

    def of(self, path: Path) -> Format:
        """path (Path): file, plain or gzip, or folder.

        RETURNS (Format): the first that recognizes it.
        RAISES (AngelError): it cannot be read, is empty, or no format recognizes it.
        """
        if (format := self.recognized(path)) is None:
            known = ", ".join(self)
            raise AngelError(
                f"Cannot tell the {self._kind} format of {path}. Give --format with one of {known}."
            )
        return format

    def recognized(self, path: Path) -> Format | None:
        """As `of`, but None where no format recognizes the file."""
        head = "" if path.is_dir() else read_head(path).lstrip()
        format = next((f for f in self.values() if f.recognizes(path, head)), None)
        if format is None and not head and not path.is_dir():
            raise AngelError(f"{path} is empty; expected a {self._kind}.")
        return format


def read_head(path: Path) -> str:
    """Read the beginning of a file to tell its format.

    path (Path): file, plain or gzip.
    RETURNS (str): at least HEAD_BYTES, if there are as many; invalid UTF-8 is replaced. If the file
        is damaged further on, what comes before the damage.
    RAISES (AngelError): it cannot be read, or is UTF-16.
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


def first_line(head: str) -> str:
    """head (str): of a file. RETURNS (str): its first line that is not blank."""
    return head.lstrip().split("\n", 1)[0].rstrip("\r")
