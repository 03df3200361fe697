"""Downloads: a file is replaced once it is complete, and fetched again only if it has changed."""

import os
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tqdm import tqdm

from ..errors import AngelError
from .atomic import write_json
from .json_values import parse_as

if TYPE_CHECKING:
    from requests import Response

CACHE_VARIABLE = "SPACY_ANGEL_CACHE"
_PIECE_BYTES = 1 << 16
_KEY = re.compile(r"[?&](api_?key|key|token)=[^&]*", re.IGNORECASE)
_PAGE = (b"<!doctype html", b"<html")


class NoSuchFile(AngelError):
    """The server answers that it has no such file."""


@dataclass(frozen=True, slots=True)
class Download:
    """A downloaded file.

    path (Path): where it is now.
    address (str): where it came from, without a key.
    modified (str): day of the last change according to the server, e.g. `2026-03-01`; may be empty.
    sha256 (str): its checksum.
    """

    path: Path
    address: str
    modified: str
    sha256: str


def cache_folder() -> Path:
    """RETURNS (Path): where downloads and built vocabularies are stored: the environment variable
    SPACY_ANGEL_CACHE, else the user's cache folder."""
    from pooch import os_cache

    return Path(os.environ.get(CACHE_VARIABLE) or os_cache("spacy-angel")).expanduser()


def download(
    address: str, path: Path, *, checksum: str | None = None, timeout: float = 60.0
) -> Download:
    """Download a file over HTTP, with a progress bar, and with the proxy of the environment.

    A file that was downloaded before is downloaded again only if the server says that it has
    changed.

    address (str): `http://` or `https://`.
    path (Path): the file to write.
    checksum (str | None): expected checksum, `sha256:…` or `md5:…`.
    timeout (float): seconds without a byte before giving up.
    RETURNS (Download): the file.
    RAISES (AngelError): the address cannot be reached, answers with an error or a web page, the
        file is cut, or its checksum differs; a `NoSuchFile` if there is no such file. The old file
        is kept.
    """
    public, state_file = _KEY.sub("", address), path.with_name(f"{path.name}.json")
    state = _state(state_file)
    is_same = path.exists() and state.get("address") == public
    if not is_same or (checksum is not None and _hash(path, checksum) != checksum):
        state = {}
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent) as folder:
        new = Path(folder) / path.name
        response = _fetch(address, public, new, state, timeout)
        if response.status_code != 304:
            _check(new, public, response.headers.get("Content-Length"), checksum)
            os.replace(new, path)
            names = {"etag": "ETag", "last_modified": "Last-Modified"}
            state = {key: response.headers.get(name, "") for key, name in names.items()}
            write_json(state_file, state | {"address": public})
    try:
        day = parsedate_to_datetime(state.get("last_modified", "")).date().isoformat()
    except ValueError:
        day = ""
    return Download(path, public, day, _hash(path, "sha256:").partition(":")[2])


def _fetch(
    address: str, public: str, path: Path, state: dict[str, str], timeout: float
) -> "Response":
    """RETURNS (Response): the answer, of status 304 if the file has not changed."""
    from pooch import HTTPDownloader
    from requests import HTTPError, RequestException

    # The length is that of the stored file, so no compression on the way.
    headers = {"Accept-Encoding": "identity"}
    headers["If-None-Match"] = state.get("etag", "")
    headers["If-Modified-Since"] = state.get("last_modified", "")
    answers: list[Response] = []
    fetch = HTTPDownloader(
        progressbar=tqdm(desc=path.name, total=1, unit="B", unit_scale=True, disable=None),
        chunk_size=_PIECE_BYTES,
        headers={name: value for name, value in headers.items() if value},
        hooks={"response": lambda answer, *_, **__: answers.append(answer)},
        timeout=timeout,
    )
    kind: type[AngelError] = AngelError
    try:
        fetch(address, str(path), None)
        return answers[-1]
    except HTTPError:
        status, reason = answers[-1].status_code, answers[-1].reason
        kind = NoSuchFile if status in (404, 410) else AngelError
        problem = f"it answers {status} {reason}"
    except RequestException as error:
        # The library's text repeats the address with its key.
        problem = str(error) if public == address else type(error).__name__
    raise kind(f"Cannot download {public}: {problem}. Or give a copy with --file.")


def _state(file: Path) -> dict[str, str]:
    """RETURNS (dict[str, str]): what the server said about the file when it was downloaded."""
    try:
        return parse_as(file.read_bytes(), dict[str, str])
    except (OSError, ValueError):
        return {}


def _check(file: Path, address: str, length: str | None, checksum: str | None) -> None:
    """RAISES (AngelError): the file is not the expected one, or is cut."""
    with file.open("rb") as stream:
        head = stream.read(512).lstrip().lower()
    if head.startswith(_PAGE):
        raise AngelError(f"{address} answers with a web page. Use --file.")
    if length is not None and file.stat().st_size != int(length):
        size = f"{file.stat().st_size:,} of {int(length):,} bytes"
        raise AngelError(f"Cannot download {address}: it broke off after {size}.")
    if checksum is not None and (digest := _hash(file, checksum)) != checksum:
        algorithm, _, expected = checksum.partition(":")
        raise AngelError(
            f"{address} has the {algorithm} checksum {digest.partition(':')[2]}, expected "
            f"{expected}. Try again, or use --file."
        )


def _hash(file: Path, checksum: str) -> str:
    """RETURNS (str): of the file, by the same algorithm, which is also the prefix."""
    from pooch import file_hash

    algorithm = checksum.partition(":")[0]
    return f"{algorithm}:{file_hash(str(file), alg=algorithm)}"
