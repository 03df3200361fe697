"""Load the component's model and vocabulary from a path or a name, or load the ones that ship with
the package."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ...about import SHIPPED_NAME, SHIPPED_NAMES, shipped_folder
from ...component.running import RunDtype
from ...errors import AngelError

if TYPE_CHECKING:
    from ...search.generator import Generator
    from ...vocabulary.kb import ConceptKB

_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")


def load_checkpoint(
    path: str | Path | None,
    *,
    device: str,
    dtype: RunDtype,
    local_files_only: bool,
    tokenizer: str | None = None,
    preset: str | None = None,
) -> "Generator":
    """Load a checkpoint.

    path (str | Path | None): a folder, or a hub name such as `dmis-lab/ANGEL_bc5cdr`; None,
        `en_angel_mini` and `en_angel_bio` load the shipped model.
    device (str), dtype (str): see `RuntimeSettings`.
    local_files_only (bool): only load folders; download nothing.
    tokenizer (str | None): folder or hub name of the tokenizer, if the checkpoint has none.
    preset (str | None): key in `model.presets.PRESETS` that describes how the model was trained, if
        this cannot be inferred from its files or name.
    RETURNS (Generator): the model.
    RAISES (AngelError): the path is the folder of a vocabulary; or, with `local_files_only`, it is
        not a folder.
    """
    from ...search.generator import Generator
    from ...vocabulary.storage.arrays import is_folder_of
    from ...vocabulary.storage.table import VOCABULARY

    if path is None or str(path) in SHIPPED_NAMES:
        path = shipped_folder() / "angel_linker" / "model"
    if is_folder_of(Path(path), VOCABULARY):
        raise AngelError(f"{path} is a vocabulary; expected a model. Use load(kb=...) or --kb.")
    folders = [Path(source).is_dir() for source in (path, tokenizer) if source is not None]
    if local_files_only and not all(folders):
        raise AngelError(
            f"{path!r} is not a folder. Call `initialize` first to download a model from the hub."
        )
    return Generator.from_pretrained(
        str(path),
        device=device,
        dtype=dtype,
        tokenizer=tokenizer,
        preset=preset,
        local_files_only=all(folders),
    )


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


def check_sources(
    model: str | Path | None = None, vocabulary: str | Path | None = None
) -> None:
    """Check that the model and the vocabulary exist, without loading them. A string that could be a
    hub name is accepted as a model.

    model (str | Path | None), vocabulary (str | Path | None): see `AngelLinker`.
    RAISES (AngelError): one of them does not exist.
    """
    if model is not None and str(model) not in SHIPPED_NAMES:
        is_hub_name = _HUB_NAME.fullmatch(str(model)) and not isinstance(model, Path)
        if not Path(model).is_dir() and not is_hub_name:
            raise AngelError(f"There is no model in {model}. Use null for the shipped one.")
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
