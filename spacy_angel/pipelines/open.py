"""Pipelines with a linker in them, by folder or name."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..about import SHIPPED_NAMES
from ..linking.settings.loaders import load_vocabulary
from ..linking.settings.presets import types_of
from .lazy import load_folder
from .opening import opening
from .saved import find_linker, loading, saved_folder
from .shipped import load

if TYPE_CHECKING:
    from spacy.language import Language

    from ..linking.linker import AngelLinker


@opening()
def open_pipeline(
    pipeline: "str | Path | Language", kb: Path | None = None
) -> "tuple[Language, AngelLinker]":
    """Load a pipeline and find its linker.

    pipeline (str | Path | Language): a folder, an installed package, `en_angel_mini` or
        `en_angel_bio` for what ships in this one, or a loaded pipeline.
    kb (Path | None): vocabulary in the place of the linker's own, with the types that belong to it.
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
    linker = find_linker(nlp)
    if kb is not None:
        linker.settings = linker.settings.changed(types_by_label={})
        linker.kb = load_vocabulary(kb)
        types: Any = types_of(kb)
        linker.settings = linker.settings.changed(types_by_label=types)
    return nlp, linker
