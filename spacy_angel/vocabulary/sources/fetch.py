"""Published vocabularies, from their publishers' addresses to stored vocabularies."""

import fnmatch
import os
import shutil
import tarfile
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from ...about import __version__
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
    RETURNS (ConceptKB): the vocabulary; where it comes from and its terms stand in its metadata. If
        it was built there from the same files before, and not changed since, it is not built anew.
    RAISES (AngelError): it cannot be fetched, unpacked or read. What stood in the folder stays
        then.
    """
    if copy is not None and not copy.exists():
        raise AngelError(cannot_read(copy, "there is no such file or folder"))
    release, fetched = (request.release, []) if copy is not None else _download(source, request)
    files = [copy] if copy is not None else [one.path for one in fetched]
    given = {**source.options, **(options or {})}
    if request.taxa and [one.address for one in fetched] in ([], [source.other_taxa]):
        given["taxa"] = ",".join(request.taxa)
    folder = output or built_folder(source.name)
    if fetched and (built := _built_before(folder, source, request, fetched, given)) is not None:
        return built
    with _unpacked(source, files) as parts:
        about = [
            _about(source, request, part, file, fetched[number] if fetched else None, release)
            for number, (part, file) in enumerate(zip(parts, files, strict=True))
        ]
        return build_vocabulary(parts, folder, format=source.format, options=given, about=about)


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


def _download(source: Source, request: Request) -> tuple[str | None, list[Download]]:
    """RETURNS: the release, as far as the addresses tell, and its files."""
    *places, last = source.places(request.release, request.taxa, date.today())
    for release, addresses in places:
        with suppress(NoSuchFile):
            return release, [_download_file(source, address) for address in addresses]
    return last[0], [_download_file(source, address) for address in last[1]]


def _built_before(
    folder: Path,
    source: Source,
    request: Request,
    fetched: Sequence[Download],
    options: Mapping[str, Any],
) -> ConceptKB | None:
    """The vocabulary of a folder, if this version has made it of just these files."""
    try:
        kb = ConceptKB.from_disk(folder, rules=False)
    except AngelError:
        return None
    wanted = [
        {
            "source": source.name,
            "address": one.address,
            "sha256": one.sha256,
            "asked_release": request.release,
            "taxa": list(request.taxa),
            "options": dict(options),
            "built_with": __version__,
        }
        for one in fetched
    ]
    sources = kb.meta["sources"]
    is_same = len(sources) == len(wanted) and all(
        stored.get(key) == value
        for stored, one in zip(sources, wanted, strict=True)
        for key, value in one.items()
    )
    return ConceptKB.from_disk(folder) if is_same and not kb.meta["steps"] else None


def _download_file(source: Source, address: str) -> Download:
    folder = cache_folder() / "downloads" / source.name
    name = address.partition("&")[0].rstrip("/").rpartition("/")[2]
    checksum = source.checksum
    if source.checksum_address is not None:
        digest = download(source.checksum_address, folder / f"{name}.md5").path
        checksum = f"md5:{digest.read_text('ascii').split()[0]}"
    if source.key is not None:
        key = os.environ.get(source.key)
        if not key:
            raise AngelError(f"{source.name} cannot be downloaded automatically: {source.steps}")
        address = address.replace("{key}", key)
    return download(address, folder / name, checksum=checksum)


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
    files: list[Path] = []
    for name, stream in _members(file, source.unpack):
        with stream, (folder / Path(name).name).open("wb") as target:
            shutil.copyfileobj(stream, target)
        files.append(folder / Path(name).name)
    # The first pattern names what cannot be missing; a publisher may leave out the others.
    if not any(fnmatch.fnmatch(path.name, Path(source.unpack[0]).name) for path in files):
        raise AngelError(f"{file} does not contain {source.unpack[0]}, which {source.name} needs.")
    return files[0] if len(source.unpack) == 1 else folder


def _members(file: Path, patterns: Collection[str]) -> Iterator[tuple[str, IO[bytes]]]:
    """Name and content of what is wanted of an archive."""

    def is_wanted(name: str) -> bool:
        return any(fnmatch.fnmatch(name, p) or fnmatch.fnmatch(name, f"*/{p}") for p in patterns)

    try:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                for name in filter(is_wanted, archive.namelist()):
                    yield name, archive.open(name)
            return
        with tarfile.open(file) as packed:
            for member in packed:
                stream = packed.extractfile(member) if is_wanted(member.name) else None
                if stream is not None:
                    yield member.name, stream
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError) as error:
        raise AngelError(cannot_read(file, error)) from error


def _about(
    source: Source,
    request: Request,
    read: Path,
    origin: Path,
    fetched: Download | None,
    release: str | None,
) -> dict[str, Any]:
    """What the metadata keep of a file: `read`, out of `origin`, which was perhaps fetched, of a
    `release` that was asked for or found."""
    about: dict[str, Any] = {
        "source": source.name,
        "title": source.title,
        "licence": source.licence,
        "terms": source.terms,
        "path": str(origin),
        "fetched": date.today().isoformat(),
        "release": release or _release(source, read, fetched),
        "asked_release": request.release,
        "taxa": list(request.taxa),
    }
    if fetched is not None:
        about |= {"path": origin.name, "address": fetched.address, "sha256": fetched.sha256}
        about["built_with"] = __version__
    return about


def _release(source: Source, file: Path, fetched: Download | None) -> str:
    """The release that the file names, or the day of the file."""
    if source.format == "obo" and file.suffix != ".gz":
        with file.open(encoding="utf8", errors="replace") as lines:
            for line in islice(lines, _OBO_HEAD_LINES):
                tag, _, value = line.partition(":")
                if tag in ("data-version", "date") and value.strip():
                    return value.strip()
    return fetched.modified if fetched is not None else ""
