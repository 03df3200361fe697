"""Downloads over HTTP. Files are moved into place once they are complete and verified."""

import os
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path

from tqdm import tqdm

from ..errors import AngelError
from .atomic import replacing_path

CACHE_VARIABLE = "SPACY_ANGEL_CACHE"
_PIECE_BYTES = 1 << 16
_PAGE = (b"<!doctype html", b"<html")


class NoSuchFile(AngelError):
    """The server does not have the file (status 404 or 410)."""


def cache_folder() -> Path:
    """RETURNS (Path): the folder for downloads and built vocabularies, set by the environment
    variable SPACY_ANGEL_CACHE. Defaults to the user's cache folder."""
    from pooch import os_cache

    return Path(os.environ.get(CACHE_VARIABLE) or os_cache("spacy-angel")).expanduser()


def download(
    address: str,
    path: Path,
    *,
    key: str = "",
    checksum: str | None = None,
    timeout: float = 60.0,
) -> None:
    """Download a file over HTTP with a progress bar, using the proxy set in the environment.

    address (str): URL starting with `http://` or `https://`; may contain `{key}`.
    path (Path): the file to write. Its modification time is set to that of the file on the server.
    key (str): API key that replaces `{key}` in the address. Error messages never include it.
    checksum (str | None): expected checksum, `sha256:…` or `md5:…`.
    timeout (float): maximum time in seconds to wait for data.
    RAISES (AngelError): if the server cannot be reached or returns an error or a web page, or if
        the file is truncated or has a different checksum; `NoSuchFile` if the server does not have
        the file. An existing file is kept.
    """
    from pooch import file_hash
    from requests import RequestException, get

    asked = address.replace("{key}", key)
    try:
        with (
            # Disable compression, so that Content-Length is the size of the file.
            get(
                asked, headers={"Accept-Encoding": "identity"}, stream=True, timeout=timeout
            ) as response,
            replacing_path(path) as new,
        ):
            if not response.ok:
                kind = NoSuchFile if response.status_code in (404, 410) else AngelError
                answer = f"{response.status_code} {response.reason}"
                raise kind(_failed(address, f"the server answers {answer}"))
            length = int(response.headers.get("Content-Length", 0))
            with new.open("wb") as file, _bar(path.name, length) as bar:
                for piece in response.iter_content(_PIECE_BYTES):
                    file.write(piece)
                    bar.update(len(piece))
            with new.open("rb") as file:
                if file.read(512).lstrip().lower().startswith(_PAGE):
                    raise AngelError(f"{address} answers with a web page. Use --file.")
            if new.stat().st_size < length:
                raise AngelError(_failed(address, f"it broke off before {length:,} bytes"))
            algorithm, _, expected = (checksum or "").partition(":")
            if expected and (found := file_hash(str(new), alg=algorithm)) != expected:
                raise AngelError(
                    f"{address} has the {algorithm} checksum {found}, expected {expected}. Try "
                    "again, or use --file."
                )
    except RequestException as error:
        # The error message of requests contains the URL, including the key.
        problem = str(error) if not key else type(error).__name__
        raise AngelError(_failed(address, problem)) from error
    with suppress(ValueError):
        time = parsedate_to_datetime(response.headers.get("Last-Modified", "")).timestamp()
        os.utime(path, (time, time))


def _failed(address: str, problem: str) -> str:
    return f"Cannot download {address}: {problem}. Or give a copy with --file."


def _bar(name: str, length: int) -> "tqdm[None]":
    return tqdm(desc=name, total=length or None, unit="B", unit_scale=True, disable=None)
