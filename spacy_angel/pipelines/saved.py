"""Saved pipelines: their folders, their linkers, and what loading one may raise."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import AngelError

if TYPE_CHECKING:
    from spacy.language import Language

    from ..linking.linker import AngelLinker


def find_linker(nlp: "Language") -> "AngelLinker":
    """nlp (Language): a pipeline. RETURNS (AngelLinker): the first linker in it.
    RAISES (AngelError): it has none."""
    from ..linking.linker import AngelLinker

    for _, component in nlp.pipeline:
        if isinstance(component, AngelLinker):
            return component
    raise AngelError(
        f"The pipeline has no angel_linker. Its components: {', '.join(nlp.pipe_names) or 'none'}."
    )


def saved_folder(pipeline: str | Path) -> Path | None:
    """The folder of a saved pipeline; as in `spacy.load`, a package goes before a folder.

    pipeline (str | Path): an installed package, or a folder.
    RETURNS (Path | None): the folder with its config.cfg; None where there is none.
    """
    from spacy import util

    folder = Path(pipeline)
    if isinstance(pipeline, str) and util.is_package(pipeline):
        package = util.get_package_path(pipeline)
        if (package / "meta.json").is_file():
            meta = util.get_model_meta(package)
            folder = package / f"{meta['lang']}_{meta['name']}-{meta['version']}"
    return folder if (folder / "config.cfg").is_file() else None


def linker_names(folder: Path) -> list[str]:
    """folder (Path): of a saved pipeline. RETURNS (list[str]): the names of its linkers."""
    return _names_of(folder, "angel_linker")


def recogniser_names(folder: Path) -> list[str]:
    """folder (Path): of a saved pipeline. RETURNS (list[str]): the names of its recognisers that
    have a device and a type of the weights as linkers have."""
    return _names_of(folder, "angel_recogniser")


def _names_of(folder: Path, factory: str) -> list[str]:
    from spacy import util

    config = util.load_config(folder / "config.cfg", interpolate=False)
    components = config.get("components", {})
    return [
        name
        for name in config["nlp"]["pipeline"]
        if components.get(name, {}).get("factory") == factory
    ]


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
            f"{str(pipeline)!r} cannot be loaded as a pipeline: {reason.rstrip('.: ')}."
        ) from error
