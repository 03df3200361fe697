"""Kinds of files: one record each, and the registry that tells them apart by name or content.

A format is a module with a `Format` and a line in its registry; another package adds one by an
entry point, and those are asked first:

    [options.entry_points]
    spacy_angel_corpus_formats =
        arrows = my_package.arrows:FORMAT
"""

import codecs
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from inspect import signature
from pathlib import Path
from typing import Any, Literal

from ..errors import AngelError, AngelWarning, unknown_name
from .options import checked_options
from .reading import PIECE_BYTES, pieces

HEAD_BYTES = 2**16

Holds = Literal["documents", "mentions", "texts"]


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: how it is read and written, and what it holds.

    name (str): e.g. `pubtator`, `obo.v1`.
    read (Callable[..., Iterator[Any]]): path, then what counts and tells faults (the `Reading` of
        a corpus, the `VocabularyReport` of a vocabulary), then its options, annotated with their
        types, see `options.checked_options`.
    recognises (Callable[[Path, str], bool]): whether a file is of this kind, by its path and its
        head (`read_head`, white space before it left out; empty for a folder).
    holds (Holds): of a corpus: whole documents with their mentions; single mentions, which are
        trained on and measured; or texts without identifiers.
    write (Callable[..., None] | None): documents, then the path, then its options, annotated as
        those of `read`; None where the format is only read.
    lacks (tuple[str, ...]): what of a document or mention the written file has no place for, by
        the names of the fields.
    is_folder (bool): a folder is one corpus, which its files alone are not.
    """

    name: str
    read: Callable[..., Iterator[Any]]
    recognises: Callable[[Path, str], bool]
    holds: Holds = "documents"
    write: Callable[..., None] | None = None
    lacks: tuple[str, ...] = ()
    is_folder: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): names of the options of reading."""
        return _options(self.read)

    @property
    def write_options(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): names of the options of writing."""
        return () if self.write is None else _options(self.write)

    def checked(self, options: Mapping[str, Any], common: Sequence[str] = ()) -> dict[str, Any]:
        """Hold options against the reader.

        options (Mapping[str, Any]): by name; text is converted.
        common (Sequence[str]): options of all formats of the kind, for the message.
        RETURNS (dict[str, Any]): for `read`.
        RAISES (AngelError): an option that the format does not have, or a wrong value.
        """
        self.check_names(options, common)
        return checked_options(self.read, options, self.name)

    def check_names(self, names: Iterable[str], common: Sequence[str] = ()) -> None:
        """names (Iterable[str]): of options. common (Sequence[str]), RAISES (AngelError): see
        `checked`."""
        self._check_names(names, self.options, common)

    def checked_to_write(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """As `checked`, for `write`, which there must be."""
        assert self.write is not None
        self._check_names(options, self.write_options)
        return checked_options(self.write, options, self.name)

    def _check_names(
        self, names: Iterable[str], own: Sequence[str], common: Sequence[str] = ()
    ) -> None:
        if unknown := sorted(set(names) - set(own)):
            known = ", ".join([*common, *own]) or "none"
            raise AngelError(
                f"The format {self.name} has no option {', '.join(unknown)}. Its options: {known}."
            )


def _options(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(signature(function).parameters)[2:]


class Formats(Mapping[str, Format]):
    """The formats of one kind by name: those of other packages, then our own.

    kind (str): `corpus` or `vocabulary`, for messages.
    group (str): of the entry points.
    own (Sequence[Format]): asked in this order whose file it is.
    """

    def __init__(self, kind: str, group: str, own: Sequence[Format]) -> None:
        self._kind, self._group, self._own = kind, group, own

    def __getitem__(self, name: str) -> Format:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    @cached_property
    def _by_name(self) -> dict[str, Format]:
        formats: dict[str, Format] = {}
        for entry in sorted(entry_points(group=self._group), key=lambda entry: entry.name):
            try:
                format = entry.load()
            except (ImportError, AttributeError) as error:
                warnings.warn(
                    f"The {self._kind} format {entry.value} of another package cannot be loaded: "
                    f"{error}.",
                    AngelWarning,
                    stacklevel=2,
                )
                continue
            if not isinstance(format, Format) or format.name in formats | _by_names(self._own):
                raise AngelError(
                    f"The entry point {entry.value} must give a {self._kind} format with its own "
                    f"name, not {format!r}."
                )
            formats[format.name] = format
        return formats | _by_names(self._own)

    def named(self, name: str) -> Format:
        """name (str): of a format, its version `.v1` may be left out.

        RETURNS (Format): the one of that name.
        RAISES (AngelError): there is none.
        """
        format = self.get(name) or self.get(f"{name}.v1")
        if format is None:
            known = ", ".join(self)
            raise AngelError(unknown_name(f"{self._kind} format", name, known))
        return format

    def of(self, path: Path) -> Format:
        """path (Path): file, plain or gzip, or folder.

        RETURNS (Format): the first that recognises it.
        RAISES (AngelError): it cannot be read, is empty, or none does.
        """
        if (format := self.recognised(path)) is None:
            known = ", ".join(self)
            raise AngelError(
                f"Cannot tell the {self._kind} format of {path}. Give --format with one of {known}."
            )
        return format

    def recognised(self, path: Path) -> Format | None:
        """path (Path): file, plain or gzip, or folder.

        RETURNS (Format | None): the first that recognises it; None where none does.
        RAISES (AngelError): it cannot be read, or is empty and its name tells nothing.
        """
        head = "" if path.is_dir() else read_head(path).lstrip()
        format = next((f for f in self.values() if f.recognises(path, head)), None)
        if format is None and not head and not path.is_dir():
            raise AngelError(f"{path} is empty; expected a {self._kind}.")
        return format


def _by_names(formats: Collection[Format]) -> dict[str, Format]:
    return {format.name: format for format in formats}


def read_head(path: Path) -> str:
    """The begin of a file as text, to tell what it is.

    path (Path): file, plain or gzip.
    RETURNS (str): of the first HEAD_BYTES; bytes that are no UTF-8 as the mark for that. Where it
        breaks off there, what came before: the rest is for the reading.
    RAISES (AngelError): it cannot be read, or is UTF-16.
    """
    parts: list[bytes] = []
    size = 0
    try:
        for _, piece in pieces(path, size=PIECE_BYTES):
            parts.append(piece)
            size += len(piece)
            if size >= HEAD_BYTES:
                break
    except AngelError:
        if not parts:
            raise
    head = b"".join(parts)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise AngelError(f"{path} is UTF-16. Convert it to UTF-8.")
    return head.decode("utf8", errors="replace").removeprefix("\ufeff")


def first_line(head: str) -> str:
    """head (str): of a file. RETURNS (str): its first line that is not blank."""
    return head.lstrip().split("\n", 1)[0].rstrip("\r")
