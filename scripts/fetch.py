"""Get the files of datasets into assets/NAME/, from a folder with copies or from the web.

python scripts/fetch.py ncbi
python scripts/fetch.py ncbi bc5cdr --mirror ../copies

The files, addresses and checksums are listed in project.yml. Files with a wrong checksum and
truncated files are rejected.
"""

import shutil
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import srsly
import typer
from command import plain_errors
from pooch import file_hash
from pydantic import TypeAdapter
from recipes import needs, read_recipe

from spacy_angel.errors import AngelError
from spacy_angel.files.atomic import replacing_path
from spacy_angel.files.download import download

ASSETS = Path("assets")


@dataclass(frozen=True)
class Asset:
    """An entry of `assets` in project.yml.

    dest (Path): where to download it to; without an address, where to put it by hand.
    url (str): its address; empty if it cannot be downloaded.
    checksum (str): MD5 checksum of the download, as in spaCy projects; may be empty.
    sha256 (str): SHA-256 checksum of the download; may be empty.
    mirror (str): folder inside a mirror that has copies of its files; empty if there is none.
    unpack (dict[str, str]): files of a zip archive, and the SHA-256 checksums of their copies in a
        mirror.
    description (str): how to get it if it cannot be downloaded.
    """

    dest: Path
    url: str = ""
    checksum: str = ""
    sha256: str = ""
    mirror: str = ""
    unpack: dict[str, str] = field(default_factory=dict)
    description: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): names of the files it provides."""
        return tuple(self.unpack) or (self.dest.name,)


def read_assets(project: Path) -> dict[str, Asset]:
    """RETURNS (dict[str, Asset]): file name → the asset that provides it."""
    assets = TypeAdapter(list[Asset]).validate_python(srsly.read_yaml(project)["assets"])
    return {name: asset for asset in assets for name in asset.names}


def fetch(name: str, mirror: Path | None, project: Path) -> list[str]:
    """Get the files of a dataset into its folder.

    name (str): name of the dataset.
    mirror (Path | None): folder with copies; if given, nothing is downloaded.
    project (Path): path of project.yml.
    RETURNS (list[str]): files of the test split that are not available.
    RAISES (AngelError): a required file is missing, truncated, or has a wrong checksum.
    """
    recipe = read_recipe(name)
    store = _Store(ASSETS / name, mirror, read_assets(project))
    wanted = [file for part in recipe.parts("train", "dev") for file in part.needs]
    if recipe.vocabulary:
        choices = [needs(choice) for choice in recipe.vocabulary]
        wanted += next((c for c in choices if all(map(store.can_be_had, c))), choices[0])
    tests = [file for part in recipe.parts("test") for file in part.needs]
    wanted += [file for file in tests if store.can_be_had(file)]
    for file in dict.fromkeys(wanted):
        store.bring(file)
    return [file for file in dict.fromkeys(tests) if not (store.folder / file).exists()]


@dataclass(frozen=True)
class _Store:
    """The folder of a dataset, and the sources of its files."""

    folder: Path
    mirror: Path | None
    assets: dict[str, Asset]

    def can_be_had(self, name: str) -> bool:
        if (self.folder / name).exists():
            return True
        if (asset := self.assets.get(name)) is None:
            return False
        if self.mirror is None:
            return bool(asset.url)
        return self._copy(asset, name) is not None

    def bring(self, name: str) -> None:
        """Get a file; an existing file with the right checksum is kept."""
        target = self.folder / name
        asset = self.assets.get(name)
        if asset is None:
            raise AngelError(f"{target} is missing. project.yml does not list it.")
        sums = _sums_of(asset, name)
        if self.mirror is None and asset.url:
            self._bring_from_address(asset, name, target)
        elif (copy := self._copy(asset, name)) is not None:
            if not (_is_right(target, sums) or (copy.is_dir() and target.is_dir())):
                _place(copy, target, sums, str(copy))
        elif target.exists():
            _check(target, sums, str(target))
        else:
            where = asset.description
            if self.mirror is not None:
                where = f"It is not in {self.mirror / asset.mirror}. {where}"
                if asset.url:
                    where += f"; at {asset.url}, but with a mirror nothing is downloaded"
            raise AngelError(f"{target} is missing. {where}")

    def _copy(self, asset: Asset, name: str) -> Path | None:
        """Return the file in the mirror, or None if it is not there."""
        if self.mirror is None or not asset.mirror:
            return None
        copy = self.mirror / asset.mirror / name
        return copy if copy.exists() else None

    def _bring_from_address(self, asset: Asset, name: str, target: Path) -> None:
        sums = {"sha256": asset.sha256, "md5": asset.checksum}
        if not asset.dest.exists():
            known = [f"{algorithm}:{expected}" for algorithm, expected in sums.items() if expected]
            download(asset.url, asset.dest, checksum=known[0] if known else None)
            if not known:
                digest = file_hash(str(asset.dest), alg="sha256")
                print(f"{asset.dest}: no checksum is known; SHA-256 {digest}")
        _check(asset.dest, sums, asset.url)
        if asset.unpack:
            unpack(asset.dest, name, target)
        else:
            _place(asset.dest, target, sums, asset.url)


def _sums_of(asset: Asset, name: str) -> dict[str, str]:
    """Return the checksums of a file in the folder of a dataset."""
    if asset.unpack:
        return {"sha256": asset.unpack[name]}
    return {"sha256": asset.sha256, "md5": asset.checksum}


def unpack(archive: Path, name: str, target: Path) -> None:
    """Extract a file from a zip archive, whatever folder of the archive it is in.

    archive (Path): the archive.
    name (str): name of the file, without folders.
    target (Path): where to write it, independent of the path in the archive.
    RAISES (AngelError): the archive is damaged, or has no such file, or several.
    """
    try:
        with zipfile.ZipFile(archive) as file, replacing_path(target) as part:
            (found,) = (
                info
                for info in file.infolist()
                if info.filename.split("/")[-1] == name and "__MACOSX" not in info.filename
            )
            with file.open(found) as member, open(part, "wb") as to:
                shutil.copyfileobj(member, to)
    except (zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        raise AngelError(
            f"{archive} must be an archive with one file {name}: {error}. Remove it and download "
            "it again."
        ) from error


def _place(source: Path, target: Path, sums: dict[str, str], address: str) -> None:
    """Copy a file or folder atomically."""
    with replacing_path(target) as part:
        if source.is_dir():
            shutil.copytree(source, part)
        else:
            shutil.copyfile(source, part)
            _check(part, sums, address, target)


def _is_right(path: Path, sums: dict[str, str]) -> bool:
    """Whether the file exists and matches a known checksum."""
    known = {algorithm: expected for algorithm, expected in sums.items() if expected}
    return (
        path.is_file()
        and bool(known)
        and all(file_hash(str(path), alg=key) == expected for key, expected in known.items())
    )


def _check(path: Path, sums: dict[str, str], address: str, name: Path | None = None) -> None:
    """Compare a file with its checksums; folders have none and are not checked."""
    for algorithm, expected in sums.items() if path.is_file() else ():
        if expected and (found := file_hash(str(path), alg=algorithm)) != expected:
            raise AngelError(
                f"{name or path} from {address} has the {algorithm.upper()} checksum {found}, "
                f"expected {expected}."
            )


def main(
    names: Annotated[list[str], typer.Argument(help="Datasets of configs/datasets.yml.")],
    mirror: Annotated[
        str, typer.Option(help="Folder with copies of the files; empty: from their addresses.")
    ] = "",
    project: Annotated[Path, typer.Option(help="Lists the assets.")] = Path("project.yml"),
) -> None:
    """Get the files of datasets into assets/NAME/."""
    with plain_errors():
        for name in dict.fromkeys(names):
            without = fetch(name, Path(mirror) if mirror else None, project)
            print(f"{ASSETS / name}: complete" + ("" if not without else " but for its test split"))


if __name__ == "__main__":
    typer.run(main)
