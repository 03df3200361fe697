"""Folders of flat arrays: one `.npy` file a column and a `meta.json`, read by memory mapping.

The name trie and the vocabulary are both such folders. Nothing is pickled.
"""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import AngelError
from ...files.atomic import replacing_folder

META = "meta.json"
TRIES = "tries"
# Folders up to this size are hashed whole at opening; beyond it that would take seconds, so that
# only sizes and headers are looked at and `verify_folder` does the rest on demand.
HASHED_AT_OPENING = 64 * 2**20

Columns = dict[str, np.ndarray]


def write_folder(
    path: Path, kind: str, version: int, columns: Mapping[str, np.ndarray], meta: Mapping[str, Any]
) -> dict[str, Any]:
    """Write columns under a temporary name, then put the folder in its place.

    path (Path): folder to write; one of the same kind that stands there is replaced, other files
        in it stay. Of a symbolic link its target is written.
    kind (str): what the folder holds, e.g. `spacy-angel vocabulary`.
    version (int): version of the layout.
    columns (Mapping[str, np.ndarray]): arrays by name.
    meta (Mapping[str, Any]): plain values to keep beside them.
    RETURNS (dict[str, Any]): the metadata as stored, with kind, version and checksums.
    RAISES (AngelError): where something else stands at `path`.
    """
    if path.exists() and not _is_replaceable(path, kind):
        raise AngelError(f"{path} contains something other than a {kind}. Use a new folder.")
    stored = {**meta, "kind": kind, "version": version, "columns": _describe(columns)}
    ours = {META, TRIES, *_stored_files(path)}
    with replacing_folder(path, lambda entry: entry.name in ours) as new:
        for name, column in columns.items():
            np.save(new / f"{name}.npy", column, allow_pickle=False)
        (new / META).write_text(json.dumps(stored, indent=1, ensure_ascii=False), encoding="utf8")
    return stored


def open_folder(
    path: Path,
    kind: str,
    version: int,
    names: Sequence[str],
    optional: Sequence[str] = (),
) -> tuple[Columns, dict[str, Any]]:
    """Open a folder that `write_folder` wrote.

    path (Path): the folder.
    kind (str), version (int): what it must be.
    names (Sequence[str]): the columns it must have.
    optional (Sequence[str]): columns that it may have.
    RETURNS (tuple[Columns, dict[str, Any]]): the arrays and the metadata; what is
        written into a mapped array never reaches its file.
    RAISES (AngelError): where the folder is missing, foreign, newer or damaged.
    """
    meta = _read_meta(path, kind, version, names)
    names = [*names, *_present(meta, optional)]
    columns = {name: _read_column(path, name, meta) for name in names}
    if sum(column.nbytes for column in columns.values()) <= HASHED_AT_OPENING:
        _compare(path, columns, meta)
    return columns, meta


def is_folder_of(path: Path, kind: str) -> bool:
    """path (Path): any. kind (str): see `write_folder`. RETURNS (bool): whether it is a folder of
    that kind, as far as its metadata tell."""
    return path.is_dir() and (path / META).is_file() and _is_replaceable(path, kind)


def verify_folder(
    path: Path, kind: str, version: int, names: Sequence[str], optional: Sequence[str] = ()
) -> None:
    """Compare every byte with the checksums.

    path (Path), kind (str), version (int), names (Sequence[str]), optional (Sequence[str]): as for
        `open_folder`.
    RAISES (AngelError): names the file that differs.
    """
    meta = _read_meta(path, kind, version, names)
    names = [*names, *_present(meta, optional)]
    _compare(path, {name: _read_column(path, name, meta) for name in names}, meta)


def verify_one_of(path: Path, kinds: Mapping[str, tuple[int, Sequence[str]]]) -> None:
    """As `verify_folder`, of a folder of one of several kinds.

    path (Path): the folder.
    kinds (Mapping[str, tuple[int, Sequence[str]]]): version and columns by kind.
    RAISES (AngelError): it is of none of them, or a file differs.
    """
    for kind, (version, names) in kinds.items():
        if _is_replaceable(path, kind):
            verify_folder(path, kind, version, names)
            return
    raise AngelError(f"{path} is not a {' or '.join(kinds)} folder: it is of another kind.")


def pack(
    kind: str, version: int, columns: Mapping[str, np.ndarray], meta: Mapping[str, Any]
) -> bytes:
    """Columns and metadata as one byte string (an uncompressed `.npz`), the twin of
    `write_folder`."""
    stored = {**meta, "kind": kind, "version": version, "columns": _describe(columns)}
    text = np.frombuffer(json.dumps(stored).encode("utf8"), dtype=np.uint8)
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {**columns, META: text}
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def unpack(
    data: bytes, kind: str, version: int, names: Sequence[str], optional: Sequence[str] = ()
) -> tuple[Columns, dict[str, Any]]:
    """Read what `pack` made.

    data (bytes): the byte string.
    kind (str), version (int), names (Sequence[str]), optional (Sequence[str]): as for
        `open_folder`.
    RETURNS (tuple[Columns, dict[str, Any]]): the arrays and the metadata.
    RAISES (AngelError): where the bytes are cut, damaged or something else.
    """
    where = Path("<bytes>")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            text = archive[META].tobytes()
            meta = _checked_meta(where, text, kind, version, names)
            columns = {name: archive[name] for name in (*names, *_present(meta, optional))}
    except AngelError:
        raise
    except (OSError, EOFError, KeyError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        raise AngelError(f"{where} is damaged: {error}. Build it again.") from error
    _compare(where, columns, meta)
    return columns, meta


def digest(*arrays: np.ndarray) -> str:
    """RETURNS (str): hexadecimal digest of the arrays' types, shapes and bytes, in order."""
    state = blake2b(digest_size=16)
    for array in arrays:
        state.update(repr((array.dtype.str, array.shape)).encode())
        state.update(np.ascontiguousarray(array).data if array.size else b"")
    return state.hexdigest()


def _describe(columns: Mapping[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    return {
        name: {"dtype": column.dtype.str, "shape": list(column.shape), "blake2b": digest(column)}
        for name, column in columns.items()
    }


def _stored_files(path: Path) -> list[str]:
    """The files of the columns that a folder has, as far as its metadata tell."""
    try:
        meta = json.loads((path / META).read_text(encoding="utf8"))
        return [f"{name}.npy" for name in meta["columns"]]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def _is_replaceable(path: Path, kind: str) -> bool:
    """Never delete what is not ours: only an empty folder or one of the same kind."""
    if not path.is_dir():
        return False
    try:
        return bool(json.loads((path / META).read_text(encoding="utf8"))["kind"] == kind)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return not any(path.iterdir())


def _read_meta(path: Path, kind: str, version: int, names: Sequence[str]) -> dict[str, Any]:
    try:
        text = (path / META).read_bytes()
    except OSError as error:
        raise AngelError(
            f"{path} is not a {kind} folder: {error}. See `spacy-angel kb build`."
        ) from error
    return _checked_meta(path, text, kind, version, names)


def _checked_meta(
    path: Path, text: bytes, kind: str, version: int, names: Sequence[str]
) -> dict[str, Any]:
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AngelError(f"{path / META} is damaged: {error}. Build it again.") from error
    written_kind = meta.get("kind") if isinstance(meta, dict) else None
    if written_kind != kind:
        raise AngelError(f"{path} is not a {kind} folder: its kind is {written_kind!r}.")
    if meta.get("version") != version:
        raise AngelError(
            f"{path} has {kind} version {meta.get('version')}; expected {version}. Build it again."
        )
    described = meta.get("columns")
    columns = described if isinstance(described, dict) else {}
    if missing := [name for name in names if not _is_description(columns.get(name))]:
        problem = f"the columns {sorted(missing)} are missing or lack their dtype or shape"
        raise AngelError(f"{path / META} is damaged: {problem}. Build it again.")
    return meta


def _present(meta: dict[str, Any], optional: Sequence[str]) -> list[str]:
    return [name for name in optional if _is_description(meta["columns"].get(name))]


def _is_description(value: Any) -> bool:
    return isinstance(value, dict) and {"dtype", "shape"} <= value.keys()


def _read_column(path: Path, name: str, meta: dict[str, Any]) -> np.ndarray:
    file = path / f"{name}.npy"
    expected = meta["columns"][name]
    try:
        # a file without elements cannot be mapped
        mapped = 0 not in expected["shape"]
        # "c", and not "r": torch warns of memory that it could not write to
        column = np.load(file, mmap_mode="c" if mapped else None, allow_pickle=False)
    except (OSError, ValueError, EOFError, KeyError, TypeError) as error:
        raise AngelError(f"{file} is damaged: {error}. Build it again.") from error
    if [column.dtype.str, list(column.shape)] != [expected["dtype"], expected["shape"]]:
        problem = (
            f"it holds {column.dtype.str}{list(column.shape)}, {META} says "
            f"{expected['dtype']}{expected['shape']}"
        )
        raise AngelError(f"{file} is damaged: {problem}. Build it again.")
    return column.view(np.ndarray)


def _compare(path: Path, columns: Mapping[str, np.ndarray], meta: dict[str, Any]) -> None:
    for name, column in columns.items():
        if digest(column) != meta["columns"][name].get("blake2b"):
            raise AngelError(
                f"{path / f'{name}.npy'} is damaged: its bytes do not match the checksum. Build it "
                "again."
            )
