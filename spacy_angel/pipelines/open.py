"""Saved pipelines with a linker in them: opening, and calibrating on a corpus."""

from collections.abc import Iterator
from contextlib import contextmanager
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
        with loading(pipeline):
            # As in spacy.load, a package goes before a folder.
            is_package = isinstance(pipeline, str) and spacy.util.is_package(pipeline)
            is_folder = not is_package and Path(pipeline).is_dir()
            nlp = load_folder(Path(pipeline)) if is_folder else spacy.load(pipeline)
    else:
        nlp = pipeline
    for _, component in nlp.pipeline:
        if isinstance(component, AngelLinker):
            return nlp, component
    raise AngelError(Errors.E707.format(names=", ".join(nlp.pipe_names) or "none"))


@contextmanager
def loading(pipeline: str | Path) -> Iterator[None]:
    """pipeline (str | Path): what is loaded in this block. RAISES (AngelError): it cannot be."""
    try:
        yield
    except AngelError:
        raise
    # Whatever spaCy, its components and the libraries under them make of a damaged file.
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        is_known = isinstance(error, OSError) and lines
        reason = lines[0] if is_known else f"{type(error).__name__}: {' '.join(lines)}"
        raise AngelError(
            Errors.E706.format(pipeline=str(pipeline), reason=reason.rstrip(".: "))
        ) from error
