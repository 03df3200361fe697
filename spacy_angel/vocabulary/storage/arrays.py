"""Folders of flat arrays: one `.npy` file per column and a `meta.json`, opened by memory mapping.

The name trie and the vocabulary are both such folders. Nothing is pickled.
"""

import io
import json
import lzma
import zipfile
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import AngelError
from ...files.atomic import replacing, replacing_folder

META = "meta.json"
TRIES = "tries"
PACKED = "columns.npz.xz"
"""Replaces the `.npy` files in folders of shipped vocabularies, at a fifth of their size."""
# Folders up to this size are compared with their checksums when they are opened. For larger ones
# that would take long and make all their pages resident, so only sizes and headers are checked.
HASHED_AT_OPENING = 48 * 2**20

Columns = dict[str, np.ndarray]


class Layout(NamedTuple):
    """The format of a folder of arrays.

    kind (str): kind of content, e.g. `spacy-angel name trie`.
    version (int): version of the layout.
    columns (tuple[str, ...]): names of the arrays; a folder may have others.
    """

    kind: str
    version: int
    columns: tuple[str, ...]


def write_folder(
    path: Path, layout: Layout, columns: Mapping[str, np.ndarray], meta: Mapping[str, Any]
) -> None:
    """Write columns to a temporary folder, then move it into place.

    path (Path): folder to write. An existing folder of the same kind is replaced; other files in it
        are kept. If it is a symbolic link, its target is written.
    layout (Layout): kind of content, and version.
    columns (Mapping[str, np.ndarray]): arrays by name.
    meta (Mapping[str, Any]): plain values to store with them; kind, version and checksums are
        added.
    RAISES (AngelError): `path` has other content.
    """
    before = _read_meta(path)
    is_empty = path.is_dir() and not any(path.iterdir())
    if path.exists() and not is_empty and before.get("kind") != layout.kind:
        raise AngelError(f"{path} contains something other than a {layout.kind}. Use a new folder.")
    stored = _described(layout, columns, meta)
    ours = {META, TRIES, PACKED, *(f"{name}.npy" for name in before.get("columns", ()))}
    with replacing_folder(path, lambda entry: entry.name in ours) as new:
        for name, column in columns.items():
            np.save(new / f"{name}.npy", column, allow_pickle=False)
        (new / META).write_text(json.dumps(stored, indent=1, ensure_ascii=False), encoding="utf8")


def open_folder(path: Path, layout: Layout) -> tuple[Columns, dict[str, Any]]:
    """Open a folder written by `write_folder`.

    path (Path): the folder.
    layout (Layout): expected kind, version and columns.
    RETURNS (tuple[Columns, dict[str, Any]]): the mapped arrays and the metadata. Writing to an
        array does not change its file.
    RAISES (AngelError): the folder is missing, of another kind or version, or damaged.
    """
    meta = read_meta(path, layout)
    columns = {name: _map_column(path, name, meta) for name in meta["columns"]}
    if sum(column.nbytes for column in columns.values()) <= HASHED_AT_OPENING:
        _compare(path, columns, meta)
    return columns, meta


def read_meta(path: Path, layout: Layout) -> dict[str, Any]:
    """path (Path), layout (Layout): see `open_folder`. RETURNS (dict[str, Any]): the metadata.
    RAISES (AngelError): see `open_folder`."""
    try:
        return _check_meta(path, (path / META).read_bytes(), layout)
    except OSError as error:
        raise _other_kind(path, layout, error) from error


def is_folder_of(path: Path, layout: Layout) -> bool:
    """path (Path): any path.
    layout (Layout): see `write_folder`.
    RETURNS (bool): whether it is a folder of that kind, according to its metadata."""
    return _read_meta(path).get("kind") == layout.kind


def pack(layout: Layout, columns: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> bytes:
    """Serialize columns and metadata to a byte string (an uncompressed `.npz`), the in-memory
    counterpart of `write_folder`."""
    text = json.dumps(_described(layout, columns, meta)).encode("utf8")
    arrays: dict[str, Any] = {**columns, META: np.frombuffer(text, dtype=np.uint8)}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def unpack(data: bytes, layout: Layout) -> tuple[Columns, dict[str, Any]]:
    """Deserialize the output of `pack`.

    data (bytes): the byte string.
    layout (Layout): see `open_folder`.
    RETURNS (tuple[Columns, dict[str, Any]]): the arrays and the metadata.
    RAISES (AngelError): the data is truncated, damaged or in another format.
    """
    where = Path("<bytes>")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            meta = _check_meta(where, archive[META].tobytes(), layout)
            columns = {name: archive[name] for name in meta["columns"]}
    except AngelError:
        raise
    except (OSError, EOFError, KeyError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        raise damaged(where, error) from error
    _compare(where, columns, meta)
    return columns, meta


def compress_folder(path: Path) -> None:
    """Replace the `.npy` files of a folder with one compressed file, for distribution.

    path (Path): a folder written by `write_folder`.
    """
    meta = _read_meta(path)
    columns = {name: _map_column(path, name, meta) for name in meta["columns"]}
    data = pack(_layout_of(meta), columns, {})
    with replacing(path / PACKED) as file:
        file.write(lzma.compress(data, preset=9))
    for name in columns:
        (path / f"{name}.npy").unlink()


def decompress(path: Path, meta: Mapping[str, Any]) -> Columns:
    """path (Path): a folder compressed by `compress_folder`.
    meta (Mapping[str, Any]): its metadata.
    RETURNS (Columns): its arrays, in memory.
    RAISES (AngelError): the file is damaged."""
    file = path / PACKED
    try:
        data = lzma.decompress(file.read_bytes())
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise damaged(file, error) from error
    columns, packed = unpack(data, _layout_of(meta))
    if packed["columns"] != meta["columns"]:
        raise damaged(file, f"it holds other arrays than {META} says")
    return columns


def digest(*arrays: np.ndarray) -> str:
    """RETURNS (str): hexadecimal digest of the arrays' types, shapes and bytes, in order."""
    state = blake2b(digest_size=16)
    for array in arrays:
        state.update(repr((array.dtype.str, array.shape)).encode())
        state.update(np.ascontiguousarray(array).data if array.size else b"")
    return state.hexdigest()


def damaged(path: Path, problem: object) -> AngelError:
    """path (Path): a file.
    problem (object): what is wrong with it.
    RETURNS (AngelError): the error to raise."""
    return AngelError(f"{path} is damaged: {problem}. Build it again.")


def _other_kind(path: Path, layout: Layout, problem: object) -> AngelError:
    kind = layout.kind
    return AngelError(f"{path} is not a {kind} folder: {problem}. See `spacy-angel kb build`.")


def _layout_of(meta: Mapping[str, Any]) -> Layout:
    return Layout(meta["kind"], meta["version"], tuple(meta["columns"]))


def _described(
    layout: Layout, columns: Mapping[str, np.ndarray], meta: Mapping[str, Any]
) -> dict[str, Any]:
    described = {
        name: {"dtype": column.dtype.str, "shape": list(column.shape), "blake2b": digest(column)}
        for name, column in columns.items()
    }
    return {**meta, "kind": layout.kind, "version": layout.version, "columns": described}


def _read_meta(path: Path) -> dict[str, Any]:
    """Read the metadata of a folder; empty if it is not a folder of arrays."""
    try:
        meta = json.loads((path / META).read_text(encoding="utf8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return meta if isinstance(meta, dict) and isinstance(meta.get("columns"), dict) else {}


def _check_meta(path: Path, text: bytes, layout: Layout) -> dict[str, Any]:
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise damaged(path / META, error) from error
    found = meta.get("kind") if isinstance(meta, dict) else None
    if found != layout.kind:
        raise _other_kind(path, layout, f"its kind is {found!r}")
    if meta.get("version") != layout.version:
        raise AngelError(
            f"{path} has {layout.kind} version {meta.get('version')}; expected {layout.version}. "
            "Build it again."
        )
    columns = meta.get("columns")
    known = columns if isinstance(columns, dict) else ()
    if missing := sorted(set(layout.columns).difference(known)):
        raise damaged(path / META, f"the columns {missing} are missing")
    return meta


def _map_column(path: Path, name: str, meta: dict[str, Any]) -> np.ndarray:
    file = path / f"{name}.npy"
    expected = meta["columns"][name]
    try:
        # an empty file cannot be mapped
        mapped = 0 not in expected["shape"]
        # "c" instead of "r", since torch warns about read-only memory
        column = np.load(file, mmap_mode="c" if mapped else None, allow_pickle=False)
        described = [expected["dtype"], expected["shape"]]
    except (OSError, ValueError, EOFError, KeyError, TypeError) as error:
        raise damaged(file, error) from error
    found = [column.dtype.str, list(column.shape)]
    if found != described:
        raise damaged(file, f"it holds {found}, {META} says {described}")
    return column.view(np.ndarray)


def _compare(path: Path, columns: Mapping[str, np.ndarray], meta: dict[str, Any]) -> None:
    for name, column in columns.items():
        if digest(column) != meta["columns"][name].get("blake2b"):
            raise damaged(path / f"{name}.npy", "its bytes do not match the checksum")
