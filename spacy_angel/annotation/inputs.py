"""Files to annotate → documents, in a stream.

The formats of `spacy_angel.corpora` that hold whole documents. A fault in a file is counted and
costs only the document that it spoils, unless everything is to be strict.
"""

import os
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..corpora.documents import CorpusDocument, CorpusReport
from ..corpora.registry import FORMATS, read_corpus
from ..errors import AngelError, AngelWarning, cannot_read, unknown_name
from .folder import is_bookkeeping
from .source import Input

# What a folder of PubMed's holds beside the articles.
_NO_DOCUMENTS = (".md5",)
# Folders that a warning names.
_SHOWN = 5


def plan_inputs(
    paths: Sequence[str | Path], format: str | None = None, options: Collection[str] = ()
) -> list[Input]:
    """Tell what is to be read.

    paths (Sequence[str | Path]): files; a folder stands for its files by name, hidden ones and
        checksums left out, and of the output of a run what it records; of folders in it a warning
        tells. Plain texts of a folder become one input.
    format (str | None): one of `input_formats()`; None to tell it from each file.
    options (Collection[str]): names of the options that the reading will get.
    RETURNS (list[Input]): in the order given.
    RAISES (AngelError): there is no such file, an empty folder or one with a link to nothing or
        a pipe, a folder that is one corpus, an unknown format or option.
    """
    if format is not None and format not in input_formats():
        raise AngelError(unknown_name("input format", format, ", ".join(input_formats())))
    inputs: list[Input] = []
    for path in map(Path, paths):
        if not path.exists():
            raise AngelError(cannot_read(path, "there is no such file"))
        if path.is_dir() and (whole := FORMATS.recognised(path)) is not None and whole.is_folder:
            raise AngelError(
                f"{path} is a {whole.name} corpus. Convert it first: "
                f"`spacy-angel corpus {path} -o documents.json`."
            )
        files = _files(path) if path.is_dir() else [path]
        if not files:
            raise AngelError(f"The folder {path} holds no files.")
        formats = [format or infer_format(file) for file in files]
        if path.is_dir() and set(formats) == {"text"}:
            inputs.append(_input(path, files, "text"))
        else:
            inputs += [_input(file, [file], f) for file, f in zip(files, formats, strict=True)]
    for source in inputs:
        known = FORMATS[source.format]
        # Texts alone have no identifiers that a prefix could complete.
        prefix = () if known.holds == "texts" else ("prefix",)
        known.check_names({*options} - {*prefix}, common=prefix)
    return inputs


def input_formats() -> tuple[str, ...]:
    """RETURNS (tuple[str, ...]): names of the formats that hold whole documents."""
    return tuple(name for name, format in FORMATS.items() if format.holds != "mentions")


def infer_format(path: Path) -> str:
    """Tell the format of a file from its first lines and its name.

    path (Path): file, plain or gzip.
    RETURNS (str): one of `input_formats()`; `text` for `*.txt` that is nothing else.
    RAISES (AngelError): where it looks like none of them.
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
        f"Cannot tell the format of {path}. Give --format with one of {', '.join(input_formats())}."
    )


def read_input(
    source: Input, *, strict: bool, report: CorpusReport, options: Mapping[str, Any]
) -> Iterator[CorpusDocument]:
    """Stream the documents of an input.

    source (Input): from `plan_inputs`.
    strict (bool): raise at the first fault; otherwise leave out what it spoils and count it.
    report (CorpusReport): gets counts, faults and the position in the file.
    options (Mapping[str, Any]): of the format: `prefix` of identifiers without vocabulary (all
        but text and PubMed); `id_field`, `text_field` (JSONL and Parquet).
    RETURNS (Iterator[CorpusDocument]): in the order of the file, repeats included.
    RAISES (AngelError): where a file cannot be read (on), naming file and line.
    """
    for path in source.paths:
        yield from read_corpus(
            path, source.format, keep_duplicates=True, strict=strict, report=report, **options
        )


def fingerprint(source: Input) -> str:
    """RETURNS (str): SHA-256 of the content, for a folder of its names and contents."""
    state = sha256()
    for path in source.paths:
        if str(path) != source.name:
            state.update(os.fsencode(path.name) + f"\0{path.stat().st_size}\0".encode())
        with open(path, "rb") as file:
            while block := file.read(2**20):
                state.update(block)
    return state.hexdigest()


def _files(folder: Path) -> list[Path]:
    """A folder's files by name; what should be one and cannot be read is an error."""
    entries = sorted(
        path
        for path in folder.iterdir()
        if not path.name.startswith(".")
        and not is_bookkeeping(path)
        and path.suffix not in _NO_DOCUMENTS
    )
    if folders := [path.name for path in entries if path.is_dir()]:
        warnings.warn(
            f"{folder} contains {len(folders)} folders that are not read "
            f"({', '.join(folders[:_SHOWN])}).",
            AngelWarning,
            stacklevel=3,
        )
    files = [path for path in entries if not path.is_dir()]
    for path in files:
        if not path.exists():
            raise AngelError(cannot_read(path, "it is a link to nothing"))
        if not path.is_file():
            raise AngelError(cannot_read(path, "it is no file but a pipe or a device"))
    return files


def _input(path: Path, files: Sequence[Path], format: str) -> Input:
    return Input(str(path), tuple(files), format, sum(file.stat().st_size for file in files))
