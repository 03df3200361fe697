"""Built vocabularies that are known by a name: those of the cache folder, and of packages."""

from importlib.metadata import entry_points
from pathlib import Path

from ...files.download import cache_folder
from ..storage.arrays import META

ENTRY_POINTS = "spacy_angel_vocabularies"


def built_folder(name: str) -> Path:
    """name (str): of a vocabulary. RETURNS (Path): where it is built, if it is."""
    return cache_folder() / "vocabularies" / name


def installed_vocabularies() -> dict[str, Path]:
    """RETURNS (dict[str, Path]): folders by name, those that packages bring first; one that was
    fetched goes before a package's of the same name."""
    folders: dict[str, Path] = {}
    for point in entry_points(group=ENTRY_POINTS):
        folders[point.name] = Path(str(point.load().FOLDER))
    folder = cache_folder() / "vocabularies"
    for meta in sorted(folder.glob(f"*/{META}")):
        folders[meta.parent.name] = meta.parent
    return folders


def find_vocabulary(name: str | Path) -> Path:
    """A vocabulary by its path, or by its name.

    name (str | Path): a file or folder, else a name that `installed_vocabularies` knows.
    RETURNS (Path): the file or folder; the name as it is where there is nothing of it.
    """
    path = Path(name)
    if path.exists() or path.name != str(name):
        return path
    return installed_vocabularies().get(str(name), path)
