"""Find the component's model and vocabulary by their paths or names."""

from pathlib import Path
from typing import TYPE_CHECKING

from ...about import SHIPPED_NAME, SHIPPED_NAMES, shipped_folder
from ...errors import AngelError

if TYPE_CHECKING:
    from ...vocabulary.kb import ConceptKB


def load_vocabulary(path: str | Path | None) -> "ConceptKB":
    """Load a vocabulary.

    path (str | Path | None): a folder written by `spacy-angel kb build`; a vocabulary file, which
        is built in memory; the name of a vocabulary downloaded with `spacy-angel kb fetch`; or
        `en_angel_mini` or `en_angel_bio` for a shipped vocabulary. None loads that of
        `en_angel_mini`.
    RETURNS (ConceptKB): the vocabulary.
    RAISES (AngelError): the vocabulary does not exist.
    """
    from ...vocabulary.kb import ConceptKB

    found = _find_vocabulary(path)
    if found.is_file():
        from ...vocabulary.sources.build import build_vocabulary

        return build_vocabulary([found], None)
    return ConceptKB.from_disk(found)


def check_sources(model: str | Path | None = None, vocabulary: str | Path | None = None) -> None:
    """Check that the model and the vocabulary exist, without loading them. A string that could be a
    hub name is accepted as a model.

    model (str | Path | None), vocabulary (str | Path | None): see `AngelLinker`.
    RAISES (AngelError): one of them does not exist.
    """
    if model is not None and str(model) not in SHIPPED_NAMES:
        from ...model.checkpoint import local_folder

        local_folder(model)
    # The shipped one is needed when it is opened.
    if vocabulary is not None and str(vocabulary) not in SHIPPED_NAMES:
        _find_vocabulary(vocabulary)


def _find_vocabulary(path: str | Path | None) -> Path:
    if path is None or str(path) in SHIPPED_NAMES:
        return shipped_folder(str(path or SHIPPED_NAME)) / "angel_linker" / "kb"
    from ...vocabulary.sources.installed import find_vocabulary

    found = find_vocabulary(path)
    if not found.exists():
        raise AngelError(f"The vocabulary {path} does not exist. See `spacy-angel kb fetch`.")
    return found
