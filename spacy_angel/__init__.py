"""Biomedical entity linking in spaCy by constrained generation of concept names."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language

__version__ = "0.1.0"


def load(**settings: Any) -> "Language":
    """`en_angel_mini`, the pipeline that ships; see `spacy_angel.shipped.load`.

    settings (Any): its arguments, e.g. `kb`, another vocabulary's folder, or `dtype`.
    RETURNS (Language): finds mentions, resolves abbreviations, links.
    """
    from .shipped import load

    return load(**settings)


def annotate(inputs: Any, pipeline: Any = None, **settings: Any) -> dict[str, Any]:
    """Annotate files of documents; see `spacy_angel.annotation.annotate`.

    inputs (str | Path | Sequence[str | Path]): files and folders.
    pipeline (str | Path | Language | None): None is the one of `load`.
    settings (Any): its arguments, at least `output`.
    RETURNS (dict[str, Any]): the manifest.
    """
    from .annotation import annotate

    return annotate(inputs, pipeline, **settings)
