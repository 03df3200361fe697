"""Pipelines with a linker in them, by folder or name."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..about import SHIPPED_NAMES
from .lazy import load_folder
from .opening import opening
from .saved import find_linker, loading, saved_folder
from .shipped import load

if TYPE_CHECKING:
    from spacy.language import Language

    from ..linking.linker import AngelLinker


@opening()
def open_pipeline(pipeline: "str | Path | Language") -> "tuple[Language, AngelLinker]":
    """Load a pipeline and find its linker.

    pipeline (str | Path | Language): a folder, an installed package, `en_angel_mini` or
        `en_angel_bio` for what ships in this one, or a loaded pipeline.
    RETURNS (tuple[Language, AngelLinker]): the pipeline, and the first linker in it.
    RAISES (AngelError): it cannot be loaded, or has no linker.
    """
    import spacy

    if pipeline in SHIPPED_NAMES:
        nlp = load(pipeline)
    elif isinstance(pipeline, str | Path):
        with loading(pipeline):
            folder = saved_folder(pipeline)
            nlp = spacy.load(pipeline) if folder is None else load_folder(folder)
    else:
        nlp = pipeline
    return nlp, find_linker(nlp)
