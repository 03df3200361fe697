"""Downloads published vocabularies and builds them."""

import os
import re
import shutil
import tarfile
import zipfile
from collections.abc import Mapping
from datetime import date
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pooch import file_hash

from ...errors import AngelError, cannot_read
from ...files.download import NoSuchFile, cache_folder, download
from ...files.formats import read_head
from ..kb import ConceptKB
from .build import build_vocabulary
from .catalogue import Source
from .installed import built_folder

_OBO_RELEASE = re.compile(r"^(?:data-version|date):\s*(\S.*?)\s*$", re.MULTILINE)


def fetch_vocabulary(
    source: Source,
    output: Path | None = None,
    *,
    release: str | None = None,
    copy: Path | None = None,
    options: Mapping[str, Any] | None = None,
) -> ConceptKB:
    """Download a source and build it.

    source (Source): an entry of the catalog.
    output (Path | None): folder to write; None for the folder in which `load(kb=NAME)` looks.
    release (str | None): name of a release; None: the newest.
    copy (Path | None): a file, archive, or unpacked folder to use instead of a download.
    options (Mapping[str, Any] | None): options of the reader; they override those of the catalog.
    RETURNS (ConceptKB): the vocabulary; its metadata contain its source and license.
    RAISES (AngelError): it cannot be downloaded, unpacked, or read. The folder is unchanged then.
    """
    if copy is not None and not copy.exists():
        raise AngelError(cannot_read(copy, "there is no such file or folder"))
    record: dict[str, Any] = {"source": source.name, "asked_release": release}
    record |= {"title": source.title, "licence": source.licence, "terms": source.terms}
    record |= {"fetched": date.today().isoformat(), "path": str(copy)}
    if copy is None:
        record["address"], copy = _download(source, release)
        release = release or source.year
        record |= {"path": copy.name, "sha256": file_hash(str(copy), alg="sha256")}
    with TemporaryDirectory(prefix="spacy-angel-") as temporary:
        part = _unpack(source, copy, Path(temporary))
        head = _OBO_RELEASE.search(read_head(part)) if source.format == "obo" else None
        day = date.fromtimestamp(copy.stat().st_mtime).isoformat() if "address" in record else ""
        record["release"] = release or (head[1] if head else day)
        return build_vocabulary(
            [part],
            output or built_folder(source.name),
            format=source.format,
            options={**source.options, **(options or {})},
            about=[record],
        )


def fetch_record(kb: ConceptKB) -> dict[str, Any] | None:
    """kb (ConceptKB): a vocabulary.
    RETURNS (dict[str, Any] | None): the `source` it was fetched from, with `asked_release` and
    `options`; None if it was not fetched."""
    sources = kb.meta["sources"]
    return next((one for one in sources if "source" in one and "address" in one), None)


def _download(source: Source, release: str | None) -> tuple[str, Path]:
    """RETURNS (tuple[str, Path]): address of the file, and path of the downloaded copy."""
    key = os.environ.get(source.key or "", "")
    if source.key is not None and not key:
        raise AngelError(f"{source.name} cannot be downloaded automatically: {source.steps}")
    addresses = source.addresses(release)
    for address in addresses:
        name = address.partition("&")[0].rstrip("/").rpartition("/")[2]
        path = cache_folder() / "downloads" / source.name / name
        try:
            download(address, path, key=key)
            break
        except NoSuchFile:
            if address == addresses[-1]:
                raise
    return address, path


def _unpack(source: Source, file: Path, folder: Path) -> Path:
    """RETURNS: the input of the reader: the file itself, a file from the archive, or a folder with
    several files."""
    is_zip = file.is_file() and zipfile.is_zipfile(file)
    if not source.unpack or not (is_zip or (file.is_file() and tarfile.is_tarfile(file))):
        return file
    files: list[Path] = []
    try:
        opened: Any = zipfile.ZipFile if is_zip else tarfile.open
        with opened(file) as archive:
            for name in archive.namelist() if is_zip else archive.getnames():
                if any(fnmatch(f"/{name}", f"*/{pattern}") for pattern in source.unpack):
                    files.append(folder / Path(name).name)
                    packed = archive.open(name) if is_zip else archive.extractfile(name)
                    with packed, files[-1].open("wb") as target:
                        shutil.copyfileobj(packed, target)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise AngelError(cannot_read(file, error)) from error
    # Only the file of the first pattern is required.
    if not any(fnmatch(path.name, Path(source.unpack[0]).name) for path in files):
        raise AngelError(f"{file} does not contain {source.unpack[0]}, which {source.name} needs.")
    return files[0] if len(source.unpack) == 1 else folder
