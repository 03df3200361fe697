"""Downloads over HTTP; a file is put in place once it is complete and right."""

import os
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path

from tqdm import tqdm

from ..errors import AngelError
from .atomic import replacing_path

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

    address (str): `http://` or `https://`.
    path (Path): the file to write.
    checksum (str | None): expected checksum, `sha256:…` or `md5:…`.
    timeout (float): seconds without a byte before giving up.
    RETURNS (Download): the file.
    RAISES (AngelError): the address cannot be reached, answers with an error or a web page, the
        file is cut, or its checksum differs; a `NoSuchFile` if there is no such file. The old file
        is kept.
    """
    from pooch import file_hash
    from requests import RequestException, get

    public = _KEY.sub("", address)
    try:
        with (
            # The length is that of the stored file, so no compression on the way.
            get(
                address, headers={"Accept-Encoding": "identity"}, stream=True, timeout=timeout
            ) as response,
            replacing_path(path) as new,
        ):
            if not response.ok:
                kind = NoSuchFile if response.status_code in (404, 410) else AngelError
                answer = f"{response.status_code} {response.reason}"
                raise kind(_failed(public, f"the server answers {answer}"))
            length = int(response.headers.get("Content-Length", 0))
            with new.open("wb") as file, _bar(path.name, length) as bar:
                for piece in response.iter_content(_PIECE_BYTES):
                    file.write(piece)
                    bar.update(len(piece))
            with new.open("rb") as file:
                if file.read(512).lstrip().lower().startswith(_PAGE):
                    raise AngelError(f"{public} answers with a web page. Use --file.")
            if new.stat().st_size < length:
                raise AngelError(_failed(public, f"it broke off before {length:,} bytes"))
            algorithm, _, expected = (checksum or "").partition(":")
            if expected and (found := file_hash(str(new), alg=algorithm)) != expected:
                raise AngelError(
                    f"{public} has the {algorithm} checksum {found}, expected {expected}. Try "
                    "again, or use --file."
                )
    except RequestException as error:
        # The library's text repeats the address with its key.
        problem = str(error) if public == address else type(error).__name__
        raise AngelError(_failed(public, problem)) from error
    try:
        changed = response.headers.get("Last-Modified", "")
        day = parsedate_to_datetime(changed).date().isoformat()
    except ValueError:
        day = ""
    return Download(path, public, day, file_hash(str(path), alg="sha256"))


def _failed(address: str, problem: str) -> str:
    return f"Cannot download {address}: {problem}. Or give a copy with --file."


def _bar(name: str, length: int) -> "tqdm[None]":
    return tqdm(desc=name, total=length or None, unit="B", unit_scale=True, disable=None)
