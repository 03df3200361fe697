"""Find the files to annotate and stream their documents."""

import os
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..corpora.documents import CorpusDocument, CorpusReport
from ..corpora.registry import FORMATS, read_corpus
from ..errors import AngelError, AngelWarning, cannot_read, unknown_name
from .folder import RUN


@dataclass(frozen=True, slots=True)
class Input:
    """A file to annotate, or the plain texts of a folder, which are one document each.

    name (str): the path as it was given.
    paths (tuple[Path, ...]): the files.
    format (str): one of `input_formats()`.
    size (int): bytes of all files.
    """

    name: str
    paths: tuple[Path, ...]
    format: str
    size: int

    def fingerprint(self) -> str:
        """RETURNS (str): SHA-256 of the content; for a folder, of the names and contents of its
        files. RAISES (AngelError): a file cannot be read."""
        state = sha256()
        try:
            for path in self.paths:
                if str(path) != self.name:
                    state.update(os.fsencode(path.name) + f"\0{path.stat().st_size}\0".encode())
                with open(path, "rb") as file:
                    while block := file.read(2**20):
                        state.update(block)
        except OSError as error:
            raise AngelError(cannot_read(self.name, error.strerror)) from error
        return state.hexdigest()


def plan_inputs(
    paths: Sequence[str | Path], format: str | None = None, options: Collection[str] = ()
) -> list[Input]:
    """List the inputs that paths stand for.

    paths (Sequence[str | Path]): files and folders. A folder stands for its files, sorted by name,
        without hidden files, checksums and the records of `annotate`; its plain texts become one
        input. Folders inside it are not read, and a warning says so.
    format (str | None): one of `input_formats()`; None infers it from each file.
    options (Collection[str]): names of the options that the reader will get.
    RETURNS (list[Input]): in the order given.
    RAISES (AngelError): a file is missing or unreadable, a folder is empty or is one corpus, or a
        format or an option is unknown.
    """
    if format is not None and format not in input_formats():
        raise AngelError(unknown_name("input format", format, ", ".join(input_formats())))
    inputs: list[Input] = []
    for path in map(Path, paths):
        if not path.exists():
            raise AngelError(cannot_read(path, "there is no such file"))
        files, texts = _files(path) if path.is_dir() else [path], []
        for file in files:
            found = format or infer_format(file)
            if found == "text" and path.is_dir():
                texts.append(file)
            else:
                inputs.append(_input(file, [file], found))
        if texts:
            inputs.append(_input(path, texts, "text"))
    for source in inputs:
        known = FORMATS[source.format]
        # Plain texts have no identifiers that a prefix could complete.
        common = () if known.holds == "texts" else ("prefix",)
        known.check_names({*options} - {*common}, common=common)
    return inputs


def input_formats() -> tuple[str, ...]:
    """RETURNS (tuple[str, ...]): names of the formats that hold whole documents."""
    return tuple(name for name, format in FORMATS.items() if format.holds != "mentions")


def infer_format(path: Path) -> str:
    """Infer the format of a file from its first lines and its name.

    path (Path): file, plain or gzip.
    RETURNS (str): one of `input_formats()`; `text` for `*.txt` that is nothing else.
    RAISES (AngelError): the format is unknown.
    """
    is_text = path.name.lower().removesuffix(".gz").endswith(".txt")
    try:
        format = FORMATS.recognised(path)
    except AngelError:
        if not is_text:
            raise
        format = None
    if format is not None and format.name in input_formats():
        return format.name
    if is_text:
        return "text"
    raise AngelError(
        f"The format of {path} is none of the input formats. Choose one with --format: "
        f"{', '.join(input_formats())} (`lines` is plain text with one document per line)."
    )


def read_input(
    source: Input, *, strict: bool, report: CorpusReport, options: Mapping[str, Any]
) -> Iterator[CorpusDocument]:
    """Stream the documents of an input.

    source (Input): from `plan_inputs`.
    strict (bool): raise at the first fault; otherwise skip what it affects and count it.
    report (CorpusReport): gets counts, faults and the position in the file.
    options (Mapping[str, Any]): of the format: `prefix` of identifiers without a vocabulary (all
        but text and PubMed); `id_field`, `text_field` (JSONL and Parquet).
    YIELDS (CorpusDocument): in the order of the file, duplicates included.
    RAISES (AngelError): a file cannot be read any further; names file and line.
    """
    for path in source.paths:
        yield from read_corpus(
            path, source.format, keep_duplicates=True, strict=strict, report=report, **options
        )


def _files(folder: Path) -> list[Path]:
    """The files of a folder, sorted by name."""
    corpus = FORMATS.recognised(folder)
    if corpus is not None and corpus.is_folder:
        raise AngelError(
            f"{folder} is one corpus in the format {corpus.name}. Convert it first, with "
            f"`spacy-angel corpus {folder} -o documents.json`, and annotate that file."
        )
    hidden = (".", "_") if (folder / RUN).exists() else (".",)
    paths = sorted(
        path
        for path in folder.iterdir()
        if not path.name.startswith(hidden) and path.suffix != ".md5"
    )
    if folders := [path.name for path in paths if path.is_dir()]:
        warnings.warn(
            f"{folder} contains {len(folders)} folders that are not read "
            f"({', '.join(folders[:5])}).",
            AngelWarning,
            stacklevel=3,
        )
    files = [path for path in paths if not path.is_dir()]
    if not files:
        raise AngelError(f"The folder {folder} holds no files.")
    for path in files:
        # A pipe would be waited for without end.
        if not path.is_file():
            raise AngelError(cannot_read(path, "it is a broken link, a pipe or a device"))
    return files


def _input(path: Path, files: Sequence[Path], format: str) -> Input:
    return Input(str(path), tuple(files), format, sum(file.stat().st_size for file in files))
