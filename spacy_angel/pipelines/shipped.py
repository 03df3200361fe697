"""The pipelines in the package, as they are or with parts exchanged, and saved ones likewise."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..about import DATA, SHIPPED_NAME, SHIPPED_NAMES
from ..component.checked import nested
from ..errors import AngelError
from ..linking.settings.linker_settings import SETTINGS, LinkerSettings
from ..linking.settings.older import CONSTANT, RENAMED, as_of_now
from ..linking.settings.presets import as_published, model_alone
from ..linking.settings.unknown import unknown_settings
from .opening import opening
from .saved import find_linker, linker_names, loading, recogniser_names, saved_folder

if TYPE_CHECKING:
    from spacy.language import Language

    from ..vocabulary.kb import ConceptKB

_LINKER = "angel_linker"
_RUNNING = ("device", "dtype")


@opening()
def load(
    model: Path | str | None = None,
    kb: "ConceptKB | Path | str | None" = None,
    *,
    tokenizer: Path | str | None = None,
    preset: str | None = None,
    **settings: Any,
) -> "Language":
    """A pipeline with mentions, abbreviations, links.

    model (Path | str | None): `en_angel_bio` for mentions of six types and their vocabularies in
        place of diseases and chemicals in MeSH; or a saved pipeline, its folder or the name of an
        installed package; or another encoder-decoder, a folder or hub name, in `en_angel_mini`:
        the thresholds that the shipped one was calibrated to do not
        hold for it and are off.
    kb (ConceptKB | Path | str | None): another vocabulary, or its folder, file or name; nothing is
        trained for it. The ranker and its threshold hold for any; without
        `rerank`, the shipped thresholds are off with another.
    tokenizer (Path | str | None): folder or hub name, where the model's folder has none.
    preset (str | None): `published` for the method as published, the model alone and every mention
        linked; or, of an encoder-decoder, what it was trained with, where neither its files nor its
        name say so; see `model.presets`.
    settings (Any): fields of `LinkerSettings` in place of the pipeline's own, e.g. `dtype="int8"`
        or `search={"mode": "exact"}`. `device` and `dtype` hold for `angel_recogniser` as well.
    RETURNS (Language): recogniser, abbreviation_detector, angel_linker.
    RAISES (AngelError): no model or vocabulary there, an unknown setting or a wrong value; a
        tokenizer or preset for the shipped model, which has its own.
    """
    from ..linking.settings.loaders import load_vocabulary

    if unknown := set(settings) - SETTINGS - RENAMED.keys() - CONSTANT.keys():
        raise AngelError(unknown_settings(unknown))
    settings = as_of_now(settings)
    LinkerSettings.from_dict(settings)
    if preset in ("shipped", "published"):
        settings = (as_published() if preset == "published" else {}) | settings
        preset = None
    own = None if model is None or str(model) in SHIPPED_NAMES else model
    saved = None if own is None else saved_folder(own)
    if own is not None and saved is None:
        nlp = _with_model(own, tokenizer, preset, settings)
    elif tokenizer is not None or preset is not None:
        raise AngelError(
            f"The shipped model has its own tokenizer and preset (given: {tokenizer}, {preset})."
        )
    elif saved is not None:
        nlp = _load(saved, settings)
    else:
        name = SHIPPED_NAME if model is None else str(model)
        kb = None if isinstance(kb, str | Path) and str(kb) == name else kb
        if not settings.get("rerank", True):
            settings = model_alone(is_calibrated=kb is None) | settings
        nlp = _load(_shipped_folder(name), settings)
    linker: Any = find_linker(nlp)
    if kb is not None or "types_by_label" in settings:
        # A config would add labels to its own; and another vocabulary has other types.
        linker.types_by_label = {}
    if kb is not None:
        linker.kb = load_vocabulary(kb) if isinstance(kb, str | Path) else kb
    if "types_by_label" in settings:
        linker.types_by_label = settings["types_by_label"]
    linker.initialize(nlp=nlp)
    return nlp


def _shipped_folder(name: str) -> Path:
    folder = DATA / name
    if not folder.is_dir():
        raise AngelError(
            f"The shipped pipeline is not installed ({folder}). Install the package again."
        )
    return folder


def _load(folder: Path, settings: Mapping[str, Any]) -> "Language":
    """Load a pipeline with settings for its first linker; where that runs, recognisers run too."""
    from .lazy import load_folder

    values = nested({key: value for key, value in settings.items() if key != "types_by_label"})
    running = {key: value for key, value in settings.items() if key in _RUNNING}
    with loading(folder):
        components = dict.fromkeys(recogniser_names(folder), running)
        components |= dict.fromkeys(linker_names(folder)[:1], values)
        return load_folder(folder, config={"components": components})


def _with_model(
    model: Path | str, tokenizer: Path | str | None, preset: str | None, settings: dict[str, Any]
) -> "Language":
    """The shipped pipeline with a linker of another model."""
    from .lazy import load_folder

    nlp = load_folder(_shipped_folder(SHIPPED_NAME), exclude=[_LINKER])
    block = {
        "@architectures": "spacy_angel.Checkpoint.v1",
        "path": str(model),
        "tokenizer": None if tokenizer is None else str(tokenizer),
        "preset": preset,
    }
    given = tokenizer is not None or preset is not None
    values = nested({key: value for key, value in settings.items() if key != "types_by_label"})
    nlp.add_pipe(_LINKER, config={"model": block if given else str(model), **values})
    return nlp
