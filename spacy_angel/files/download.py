"""Files from the web into a folder: what broke off goes on, what has not changed is not fetched."""

import gzip
import os
import re
import time
import zlib
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from ..errors import AngelError
from .atomic import write_json
from .json_values import parse_as

if TYPE_CHECKING:
    from requests import Response

CACHE_VARIABLE = "SPACY_ANGEL_CACHE"
_ATTEMPTS = 4
_PIECE_BYTES = 1 << 16
_KEY = re.compile(r"[?&](api_?key|key|token)=[^&]*", re.IGNORECASE)
_GZIP = b"\x1f\x8b"
_PAGE = (b"<!doctype html", b"<html")


class NoSuchFile(AngelError):
    """The server answers that it has no such file."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file as it came from the web.

    path (Path): where it is now.
    address (str): where it was asked for, without a key.
    modified (str): the day of its last change as the server tells it, e.g. `2026-03-01`; may be
        empty.
    sha256 (str): its checksum.
    """

    path: Path
    address: str
    modified: str
    sha256: str


def cache_folder() -> Path:
    """RETURNS (Path): where downloads and built vocabularies are kept: the folder that the
    environment variable SPACY_ANGEL_CACHE names, else the user's cache folder."""
    if named := os.environ.get(CACHE_VARIABLE):
        return Path(named).expanduser()
    from pooch import os_cache

    return Path(os_cache("spacy-angel"))


def download(
    address: str,
    path: Path,
    *,
    checksum: str | None = None,
    timeout: float = 60.0,
    pause: float = 1.0,
) -> Download:
    """Fetch a file by HTTP, with progress, by the proxy that the environment names.

    What has come so far stands beside `path` in `.part`: where the connection breaks, the rest is
    asked for, now and when called again. A file that has been fetched before is fetched again only
    if the server says that it has changed. Its length is compared, and its checksum where the
    server tells one or a gzip file has its own.

    address (str): `http://` or `https://`.
    path (Path): the file to write.
    checksum (str | None): what the file must have, `sha256:…` or `md5:…`.
    timeout (float): seconds without a byte after which the connection counts as broken.
    pause (float): seconds before the second attempt; each further one waits twice as long.
    RETURNS (Download): the file.
    RAISES (AngelError): the address cannot be reached, answers with an error or a web page, breaks
        off time and again, or the checksum is another one; a `NoSuchFile` where there is none.
        `path` is as it was before then.
    """
    from requests import ConnectionError, RequestException, Timeout
    from requests.exceptions import ChunkedEncodingError

    path.parent.mkdir(parents=True, exist_ok=True)
    part = _Part(path)
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        before = part.size
        try:
            state = _fetch(address, part, timeout)
            break
        except (ConnectionError, ChunkedEncodingError, Timeout) as error:
            # A server that was never reached is not there; one that broke off may go on.
            if attempt == _ATTEMPTS - 1 or (part.size == before and not part.has_answered):
                raise AngelError(_unreachable(address, part, error)) from error
        except RequestException as error:
            raise AngelError(_unreachable(address, part, error)) from error
    if state is not None:
        _check(part.file, address, checksum or state["checksum"] or None)
        os.replace(part.file, path)
        write_json(part.state_file, state)
        part.started.unlink(missing_ok=True)
    elif checksum is not None:
        _check(path, address, checksum)
    return _described(path, address, part)


class _Part:
    """What has come of a file, and what the server said about it.

    path (Path): the file that it will be.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = path.with_name(f"{path.name}.part")
        self.started = path.with_name(f"{path.name}.part.json")
        self.state_file = path.with_name(f"{path.name}.json")
        self.has_answered = False

    @property
    def size(self) -> int:
        """RETURNS (int): bytes that are there."""
        return self.file.stat().st_size if self.file.exists() else 0

    def headers(self, address: str) -> dict[str, str]:
        """address (str): the file's. RETURNS (dict[str, str]): what to ask for: the rest of what
        was begun, or the file if it has changed, or all of it."""
        begun, done = _state(self.started), _state(self.state_file)
        # Ranges count bytes as they are stored, so that nothing may be packed on the way.
        headers = {"Accept-Encoding": "identity"}
        if begun.get("address") == _public(address) and self.size and _mark(begun):
            headers |= {"Range": f"bytes={self.size}-", "If-Range": _mark(begun)}
        elif done.get("address") == _public(address) and self.path.exists():
            if done.get("etag"):
                headers["If-None-Match"] = done["etag"]
            elif done.get("last_modified"):
                headers["If-Modified-Since"] = done["last_modified"]
        return headers


def _fetch(address: str, part: _Part, timeout: float) -> dict[str, str] | None:
    """Ask once. RETURNS: what the server said of the file; None where it has not changed."""
    import requests

    headers = part.headers(address)
    with requests.get(address, headers=headers, stream=True, timeout=timeout) as response:
        part.has_answered = True
        if response.status_code == 304:
            return None
        if response.status_code == 416:
            # What is there is not a beginning of what the server has now.
            part.file.unlink(missing_ok=True)
            raise requests.ConnectionError("the file has changed while it was fetched")
        if not response.ok:
            kind = NoSuchFile if response.status_code in (404, 410) else AngelError
            raise kind(_refused(address, response))
        offset = part.size if response.status_code == 206 else 0
        told = _checksum(response.headers, is_whole=not offset)
        state = {
            "address": _public(address),
            "etag": response.headers.get("ETag", ""),
            "last_modified": response.headers.get("Last-Modified", ""),
            "checksum": told or (_state(part.started).get("checksum", "") if offset else ""),
        }
        write_json(part.started, state)
        # Else the last piece before a break is lost; the length is compared below.
        response.raw.enforce_content_length = False
        length = response.headers.get("Content-Length")
        total = None if length is None else int(length) + offset
        _write(response, part, offset, total)
    if total is not None and part.size != total:
        raise requests.ConnectionError(f"broke off after {part.size:,} of {total:,} bytes")
    return state


def _checksum(headers: Mapping[str, str], *, is_whole: bool) -> str:
    """`md5:…` of the whole file; empty where the server does not tell it, as Azure's does, where
    the files of GitHub's releases lie, and Google's storage."""
    told = headers.get("x-ms-blob-content-md5", headers.get("Content-MD5", "") if is_whole else "")
    if headers.get("x-goog-stored-content-encoding", "identity") == "identity":
        hashes = (part.strip() for part in headers.get("x-goog-hash", "").split(","))
        told = told or next((h[4:] for h in hashes if h.startswith("md5=")), "")
    try:
        digest = b64decode(told, validate=True)
    except ValueError:
        return ""
    return f"md5:{digest.hex()}" if len(digest) == 16 else ""


def _write(response: "Response", part: _Part, offset: int, total: int | None) -> None:
    with (
        open(part.file, "ab" if offset else "wb") as file,
        tqdm(
            desc=part.path.name,
            initial=offset,
            total=total,
            unit="B",
            unit_scale=True,
            disable=None,
        ) as bar,
    ):
        for piece in response.iter_content(_PIECE_BYTES):
            file.write(piece)
            bar.update(len(piece))


def _check(file: Path, address: str, checksum: str | None) -> None:
    """Remove what is not the file that was meant, so that it is not taken up again."""
    from pooch import file_hash

    with file.open("rb") as stream:
        head = stream.read(512).lstrip().lower()
    if head.startswith(_PAGE):
        file.unlink()
        raise AngelError(f"{_public(address)} answers with a web page. Use --file.")
    if head.startswith(_GZIP) and (problem := _damage(file)):
        file.unlink()
        raise AngelError(f"{_public(address)} sent a broken gzip file ({problem}).")
    if checksum is None:
        return
    algorithm, _, expected = checksum.partition(":")
    digest = file_hash(str(file), alg=algorithm)
    if digest != expected:
        file.unlink()
        raise AngelError(
            f"{_public(address)} has the {algorithm} checksum {digest}, expected {expected}. Try "
            "again, or use --file."
        )


def _damage(file: Path) -> str:
    """What is wrong with a gzip file, whose own checksum stands at its end; empty: nothing."""
    try:
        with gzip.open(file) as stream:
            while stream.read(1 << 20):
                pass
    except (OSError, EOFError, zlib.error) as error:
        return str(error)
    return ""


def _described(path: Path, address: str, part: _Part) -> Download:
    from pooch import file_hash

    state = _state(part.state_file)
    modified = state.get("last_modified", "")
    try:
        day = parsedate_to_datetime(modified).date().isoformat() if modified else ""
    except ValueError:
        day = ""
    return Download(path, _public(address), day, file_hash(str(path)))


def _state(file: Path) -> dict[str, str]:
    try:
        return parse_as(file.read_bytes(), dict[str, str])
    except (OSError, ValueError):
        return {}


def _mark(state: dict[str, str]) -> str:
    """By which a server knows whether its file is still the same. A weak ETag does not do."""
    etag = state.get("etag", "")
    return etag if etag and not etag.startswith("W/") else state.get("last_modified", "")


def _public(address: str) -> str:
    """An address without what only its user may know."""
    return _KEY.sub("", address)


def _refused(address: str, response: "Response") -> str:
    answer = f"{response.status_code} {response.reason}"
    return f"Cannot download {_public(address)}: it answers {answer}. Or give a copy with --file."


def _unreachable(address: str, part: _Part, error: Exception) -> str:
    kept = f" ({part.size:,} bytes are kept: the next attempt goes on there)" if part.size else ""
    # The library's text repeats the address, with a key that it may hold.
    has_key = _public(address) != address
    reason = type(error).__name__ if has_key else str(error)
    return f"Cannot download {_public(address)}: {reason}{kept}. Or give a copy with --file."
