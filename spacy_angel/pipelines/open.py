"""Saved pipelines with a linker in them: opening, and calibrating on a corpus."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import AngelError, Errors
from .opening import opening

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

    from ..about import SHIPPED_NAMES
    from ..linking.linker import AngelLinker
    from .lazy import load_folder
    from .shipped import load

    if pipeline in SHIPPED_NAMES:
        nlp = load(pipeline)
    elif isinstance(pipeline, str | Path):
        try:
            # As in spacy.load, a package goes before a folder.
            is_package = isinstance(pipeline, str) and spacy.util.is_package(pipeline)
            is_folder = not is_package and Path(pipeline).is_dir()
            nlp = load_folder(Path(pipeline)) if is_folder else spacy.load(pipeline)
        except OSError as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise AngelError(Errors.E706.format(pipeline=str(pipeline), reason=reason)) from error
    else:
        nlp = pipeline
    for _, component in nlp.pipeline:
        if isinstance(component, AngelLinker):
            return nlp, component
    raise AngelError(Errors.E707.format(names=", ".join(nlp.pipe_names) or "none"))
