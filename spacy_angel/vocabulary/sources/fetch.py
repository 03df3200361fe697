"""Published vocabularies, from their publishers' addresses to stored vocabularies."""

import fnmatch
import os
import shutil
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...errors import AngelError, cannot_read
from ...files.download import Download, NoSuchFile, cache_folder, download
from ..kb import ConceptKB
from .build import build_vocabulary
from .catalogue import Source
from .installed import built_folder

_OBO_HEAD_LINES = 30


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a source; kept with the vocabulary, so that it can be asked again.

    release (str | None): a release; None: the newest.
    taxa (tuple[str, ...]): identifiers of NCBI Taxonomy.
    """

    release: str | None = None
    taxa: tuple[str, ...] = ()


def parse_taxa(text: str | None) -> tuple[str, ...]:
    """text (str | None): `9606,10090`. RETURNS (tuple[str, ...]): the identifiers. RAISES
    (AngelError): it is no such list."""
    taxa = tuple(part.strip() for part in (text or "").split(",") if part.strip())
    if not all(taxon.isascii() and taxon.isdecimal() for taxon in taxa):
        raise AngelError(
            "Expected identifiers of NCBI Taxonomy separated by commas, e.g. 9606,10090, not "
            f"{text!r}."
        )
    return taxa


def fetch_vocabulary(
    source: Source,
    output: Path | None = None,
    *,
    request: Request = Request(),
    copy: Path | None = None,
    options: Mapping[str, Any] | None = None,
) -> ConceptKB:
    """Fetch a source and build it.

    source (Source): of the catalogue.
    output (Path | None): folder to write; None: the one by which `load(kb=NAME)` finds it.
    request (Request): which release, which species.
    copy (Path | None): what was fetched elsewhere, in place of a download: the file or archive, or
        what it unpacks to.
    options (Mapping[str, Any] | None): of the reader, over those of the catalogue.
    RETURNS (ConceptKB): the vocabulary; where it comes from and its terms are in its metadata.
    RAISES (AngelError): it cannot be fetched, unpacked or read. What stood in the folder stays
        then.
    """
    if copy is not None and not copy.exists():
        raise AngelError(cannot_read(copy, "there is no such file or folder"))
    fetched = [] if copy is not None else _download(source, request)
    files = [copy] if copy is not None else [one.path for one in fetched]
    given = {**source.options, **(options or {})}
    if request.taxa and [one.address for one in fetched] in ([], [source.other_taxa]):
        given["taxa"] = ",".join(request.taxa)
    asked = {"source": source.name, "asked_release": request.release, "taxa": [*request.taxa]}
    records: list[dict[str, Any]] = [{**asked, "path": str(path)} for path in files]
    for record, one in zip(records, fetched, strict=False):
        record |= {"path": one.path.name, "address": one.address, "sha256": one.sha256}
    folder = output or built_folder(source.name)
    release = request.release or (source.year if fetched else None)
    with _unpacked(source, files) as parts:
        for i, (record, part) in enumerate(zip(records, parts, strict=True)):
            record |= {"title": source.title, "licence": source.licence, "terms": source.terms}
            modified = fetched[i].modified if fetched else ""
            record["fetched"] = date.today().isoformat()
            record["release"] = release or _release_in(source, part) or modified
        return build_vocabulary(parts, folder, format=source.format, options=given, about=records)


def fetched_as(kb: ConceptKB) -> tuple[str, Request] | None:
    """How a vocabulary was fetched.

    kb (ConceptKB): a vocabulary.
    RETURNS (tuple[str, Request] | None): name of the source and what was asked of it; None where it
        was not fetched.
    """
    for source in kb.meta["sources"]:
        if "source" in source and "address" in source:
            return source["source"], Request(source.get("asked_release"), tuple(source["taxa"]))
    return None


def _download(source: Source, request: Request) -> list[Download]:
    *others, last = source.alternatives(request.release, request.taxa)
    for addresses in others:
        with suppress(NoSuchFile):
            return [_download_file(source, address) for address in addresses]
    return [_download_file(source, address) for address in last]


def _download_file(source: Source, address: str) -> Download:
    folder = cache_folder() / "downloads" / source.name
    name = address.partition("&")[0].rstrip("/").rpartition("/")[2]
    if source.key is not None:
        key = os.environ.get(source.key)
        if not key:
            raise AngelError(f"{source.name} cannot be downloaded automatically: {source.steps}")
        address = address.replace("{key}", key)
    return download(address, folder / name)


@contextmanager
def _unpacked(source: Source, files: Sequence[Path]) -> Iterator[list[Path]]:
    """The files that the reader reads; those out of archives are gone at the end."""
    if not source.unpack:
        yield list(files)
        return
    with TemporaryDirectory(prefix="spacy-angel-") as temporary:
        yield [_unpack(source, file, Path(temporary)) for file in files]


def _unpack(source: Source, file: Path, folder: Path) -> Path:
    """RETURNS: a file, or a folder where several files of the archive are read."""
    if file.is_dir() or not (zipfile.is_zipfile(file) or tarfile.is_tarfile(file)):
        return file
    patterns = [p for pattern in source.unpack for p in (pattern, f"*/{pattern}")]
    files: list[Path] = []
    try:
        is_zip = zipfile.is_zipfile(file)
        opened: Any = zipfile.ZipFile if is_zip else tarfile.open
        with opened(file) as archive:
            for name in archive.namelist() if is_zip else archive.getnames():
                if any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
                    files.append(folder / Path(name).name)
                    packed = archive.open(name) if is_zip else archive.extractfile(name)
                    with packed, files[-1].open("wb") as target:
                        shutil.copyfileobj(packed, target)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise AngelError(cannot_read(file, error)) from error
    # The first pattern names what cannot be missing; a publisher may leave out the others.
    if not any(fnmatch.fnmatch(path.name, Path(source.unpack[0]).name) for path in files):
        raise AngelError(f"{file} does not contain {source.unpack[0]}, which {source.name} needs.")
    return files[0] if len(source.unpack) == 1 else folder


def _release_in(source: Source, file: Path) -> str:
    """The release that an ontology names in its head."""
    if source.format == "obo" and file.suffix != ".gz":
        with file.open(encoding="utf8", errors="replace") as lines:
            for line in islice(lines, _OBO_HEAD_LINES):
                tag, _, value = line.partition(":")
                if tag in ("data-version", "date") and value.strip():
                    return value.strip()
    return ""
