"""Find and load vocabularies by path or name."""

from pathlib import Path
from typing import TYPE_CHECKING

from ...about import SHIPPED_NAME, SHIPPED_NAMES, shipped_folder
from ...errors import AngelError
from ...files.download import cache_folder
from ..storage.arrays import META

if TYPE_CHECKING:
    from ..kb import ConceptKB


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


def vocabulary_path(name: str | Path | None) -> Path:
    """Find a vocabulary that a linker can use.

    name (str | Path | None): see `load_vocabulary`.
    RETURNS (Path): the file or folder.
    RAISES (AngelError): the vocabulary does not exist.
    """
    if name is None or str(name) in SHIPPED_NAMES:
        return shipped_folder(str(name or SHIPPED_NAME)) / "angel_linker" / "kb"
    found = find_vocabulary(name)
    if not found.exists():
        raise AngelError(f"The vocabulary {name} does not exist. See `spacy-angel kb fetch`.")
    return found


def load_vocabulary(name: str | Path | None) -> "ConceptKB":
    """Load a vocabulary.

    name (str | Path | None): a folder written by `spacy-angel kb build`; a vocabulary file, which
        is built in memory; the name of a vocabulary downloaded with `spacy-angel kb fetch`; or
        `en_angel_mini` or `en_angel_bio` for a shipped vocabulary. None loads that of
        `en_angel_mini`.
    RETURNS (ConceptKB): the vocabulary.
    RAISES (AngelError): the vocabulary does not exist.
    """
    from ..kb import ConceptKB

    found = vocabulary_path(name)
    if found.is_file():
        from .build import build_vocabulary

        return build_vocabulary([found], None)
    return ConceptKB.from_disk(found)
