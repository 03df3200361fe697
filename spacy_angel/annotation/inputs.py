"""Find the files to annotate and stream their documents."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..corpora.documents import CorpusDocument, CorpusReport
from ..corpora.registry import FORMATS, read_corpus
from ..errors import AngelError, AngelWarning, cannot_read, unknown_name
from ..files.digests import digest
from ..files.formats import checked_options
from .stores import RUN, filesystem, is_address, local_copy

# Enough of a file to infer its format.
_HEAD_BYTES = 2**16


@dataclass(frozen=True, slots=True)
class Input:
    """A file to annotate, or the plain texts of a folder, which are one document each.

    name (str): its absolute path or address.
    paths (tuple[str, ...]): the files.
    format (str): one of `input_formats()`.
    size (int): bytes of all files.
    """

    name: str
    paths: tuple[str, ...]
    format: str
    size: int

    def fingerprint(self) -> str:
        """RETURNS (str): SHA-256 of the content; for a folder, of the names and contents of its
        files; at an address, of the version. Empty if a file is missing or cannot be read."""
        try:
            if not is_address(self.name):
                names = ("" if path == self.name else os.path.basename(path) for path in self.paths)
                return digest(zip(names, map(Path, self.paths), strict=True))
            state = sha256()
            for path in self.paths:
                system, inside = filesystem(path)
                system.invalidate_cache()
                state.update(f"{inside} {system.checksum(inside)}".encode())
            return state.hexdigest()
        except OSError:
            return ""


def plan_inputs(
    paths: Sequence[str | Path],
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[Input]:
    """List the inputs that paths stand for.

    paths (Sequence[str | Path]): files and folders, or addresses of them. A folder stands for its
        files, sorted by name, without hidden files, checksums and the records of `annotate`; its
        plain texts become one input. A warning names what is not read: folders inside it, broken
        links and files of no known format.
    format (str | None): one of `input_formats()`; None infers it from each file.
    options (Mapping[str, Any] | None): options of the reader.
    RETURNS (list[Input]): in the order given.
    RAISES (AngelError): a file is missing or unreadable, a folder is empty or is one corpus, or a
        format or an option is unknown.
    """
    known = input_formats()
    if format is not None and format not in known:
        raise AngelError(unknown_name("input format", format, ", ".join(known)))
    inputs: list[Input] = []
    for path in map(str, paths):
        name = path if is_address(path) else os.path.abspath(path)
        is_folder, files, skipped = _list_files(name)
        texts: dict[str, int] = {}
        for file, size in files.items():
            kind = format or _find_format(file, is_folder)
            if kind is None:
                skipped.append(os.path.basename(file))
            elif kind == "text" and is_folder:
                texts[file] = size
            else:
                inputs.append(Input(file, (file,), kind, size))
        if skipped:
            message = f"{name} contains {len(skipped)} folders, or files of no known format, which "
            message += f"are not read: {', '.join(skipped[:20])}"
            warnings.warn(message, AngelWarning, stacklevel=2)
        if texts:
            inputs.append(Input(name, tuple(texts), "text", sum(texts.values())))
    for source in inputs:
        # Plain texts have no identifiers that a prefix could complete.
        chosen = FORMATS[source.format]
        common = () if chosen.holds == "texts" else ("prefix",)
        own = {name: value for name, value in (options or {}).items() if name not in common}
        checked_options(chosen.read, own, chosen.name, common)
    return inputs


def input_formats() -> tuple[str, ...]:
    """RETURNS (tuple[str, ...]): names of the formats that hold whole documents."""
    return tuple(name for name, format in FORMATS.items() if format.holds != "mentions")


def read_input(
    source: Input, *, report: CorpusReport, options: Mapping[str, Any]
) -> Iterator[tuple[str, CorpusDocument]]:
    """Stream the documents of an input. A fault skips what it affects and is counted.

    source (Input): from `plan_inputs`.
    report (CorpusReport): gets counts, faults and the position in the file.
    options (Mapping[str, Any]): of the format: `prefix` of identifiers without a vocabulary (all
        but text and PubMed); `id_field`, `text_field` (JSONL and Parquet).
    YIELDS (tuple[str, CorpusDocument]): name of the file, document; in the order of the file,
        duplicates included.
    RAISES (AngelError): a file cannot be read any further; names file and line.
    """
    for path in source.paths:
        with local_copy(path) as file:
            for document in read_corpus(
                file, source.format, keep_duplicates=True, strict=False, report=report, **options
            ):
                # A file name need not be UTF-8, nor an identifier that is one.
                document = replace(document, doc_id=readable(document.doc_id))
                yield readable(os.path.basename(path)), document
            report.notes[:] = [note.replace(str(file), path) for note in report.notes]


def readable(text: str) -> str:
    """RETURNS (str): a text with the bytes of a file name that are not UTF-8 escaped."""
    return text.encode("utf8", "backslashreplace").decode("utf8")


def _find_format(path: str, is_in_folder: bool) -> str | None:
    """The format of a file by its content and name; None if it is unknown and in a folder."""
    is_text = path.lower().removesuffix(".gz").endswith(".txt")
    try:
        with local_copy(path, _HEAD_BYTES) as file:
            format = FORMATS.recognized(file) if is_in_folder else FORMATS.of(file)
    except AngelError:
        if not is_text:
            raise
        format = None
    if format is not None and format.holds != "mentions":
        return format.name
    if not is_text and not is_in_folder:
        raise AngelError(f"{path} contains single mentions. Give documents, or their --format.")
    return "text" if is_text else None


def _list_files(path: str) -> tuple[bool, dict[str, int], list[str]]:
    """Whether a path is a folder; its files with their sizes; names of what else is in it."""
    system, inside = filesystem(path)
    if not system.exists(inside):
        raise AngelError(cannot_read(path, "there is no such file"))
    if not system.isdir(inside):
        return False, {path: system.size(inside)}, []
    if not is_address(path) and (corpus := FORMATS.recognized(Path(path))) and corpus.is_folder:
        command = f"spacy-angel corpus {path} -o documents.json"
        raise AngelError(f"{path} is a {corpus.name} corpus. Convert it first: `{command}`.")
    entries = {os.path.basename(entry["name"]): entry for entry in system.ls(inside, detail=True)}
    hidden = (".", "_") if RUN in entries else (".",)
    files, others = {}, []
    for name, entry in sorted(entries.items()):
        if name.startswith(hidden) or name.endswith(".md5"):
            continue
        # Not a pipe, which would be waited for without end.
        if entry["type"] == "file" or system.isfile(entry["name"]):
            files[f"{path.rstrip('/')}/{name}"] = entry["size"]
        else:
            others.append(name)
    if not files:
        folders = f", only {', '.join(others[:5])}. Pass those instead" if others else ""
        raise AngelError(f"The folder {path} contains no files{folders}.")
    return True, files, others
