"""Finds fetched vocabularies by name."""

from pathlib import Path

from ...files.download import cache_folder
from ..storage.arrays import META


def built_folder(name: str) -> Path:
    """name (str): name of a vocabulary. RETURNS (Path): the folder in which it is built; it may not
    exist."""
    return cache_folder() / "vocabularies" / name


def installed_vocabularies() -> dict[str, Path]:
    """RETURNS (dict[str, Path]): folders of the fetched vocabularies by name."""
    found = (path.parent for path in sorted(built_folder("").glob(f"*/{META}")))
    return {folder.name: folder for folder in found}


def find_vocabulary(name: str | Path) -> Path:
    """Find a vocabulary by its path or name.

    name (str | Path): a file or folder, or else the name of a fetched vocabulary.
    RETURNS (Path): the file or folder; the name itself if there is none.
    """
    path = Path(name)
    if path.exists() or path.name != str(name):
        return path
    return installed_vocabularies().get(str(name), path)
