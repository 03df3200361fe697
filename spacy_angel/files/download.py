"""Downloads over HTTP. Files are moved into place once they are complete and verified."""

import os
from pathlib import Path

from tqdm import tqdm

from ..errors import AngelError
from .atomic import replacing_path

CACHE_VARIABLE = "SPACY_ANGEL_CACHE"
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
    path (Path): the file to write.
    key (str): API key that replaces `{key}` in the address. Error messages never include it.
    checksum (str | None): expected checksum, `sha256:…` or `md5:…`.
    timeout (float): maximum time in seconds to wait for data.
    RAISES (AngelError): if the server cannot be reached or returns an error or a web page, or if
        the file is truncated or has a different checksum; `NoSuchFile` if the server does not have
        the file. An existing file is kept.
    """
    from pooch import HTTPDownloader, file_hash
    from requests import RequestException

    # The total is set when it is known.
    bar = tqdm(desc=path.name, total=1, unit="B", unit_scale=True, disable=None)
    # Without compression, the size of the file is known.
    identity = {"Accept-Encoding": "identity"}
    fetch = HTTPDownloader(progressbar=bar, timeout=timeout, headers=identity)
    try:
        with replacing_path(path) as new:
            fetch(address.replace("{key}", key), str(new), None)
            with new.open("rb") as file:
                if file.read(512).lstrip().lower().startswith(_PAGE):
                    raise AngelError(f"{address} answers with a web page. Use --file.")
            if new.stat().st_size < bar.total:
                raise AngelError(_failed(address, f"it broke off before {bar.total:,} bytes"))
            algorithm, _, expected = (checksum or "").partition(":")
            if expected and (found := file_hash(str(new), alg=algorithm)) != expected:
                raise AngelError(
                    f"{address} has the {algorithm} checksum {found}, expected {expected}. Try "
                    "again, or use --file."
                )
    except RequestException as error:
        if (response := error.response) is not None:
            kind = NoSuchFile if response.status_code in (404, 410) else AngelError
            answer = f"the server answers {response.status_code} {response.reason}"
            raise kind(_failed(address, answer)) from error
        # The error message of requests contains the URL, including the key.
        problem = str(error) if not key else type(error).__name__
        raise AngelError(_failed(address, problem)) from error


def _failed(address: str, problem: str) -> str:
    return f"Cannot download {address}: {problem}. Or give a copy with --file."
