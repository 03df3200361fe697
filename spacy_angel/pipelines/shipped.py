"""The pipelines in the package, as they are or with parts exchanged."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..about import DATA, SHIPPED_NAME, SHIPPED_NAMES
from ..errors import AngelError, Errors
from ..linking.settings import LinkerSettings
from .opening import opening

if TYPE_CHECKING:
    from spacy.language import Language

    from ..vocabulary.kb import ConceptKB

_LINKER = "angel_linker"
_PUBLISHED: dict[str, Any] = {"once_a_document": False}
_NO_LIMITS = _PUBLISHED | {"threshold": None, "min_log_prob": None}
# What the probabilities of the model alone were calibrated to with MeSH.
_WITHOUT_EVIDENCE = _PUBLISHED | {"threshold": 0.5955895082764113}


@opening()
def load(
    model: Path | str | None = None,
    kb: "ConceptKB | Path | str | None" = None,
    *,
    tokenizer: Path | str | None = None,
    preset: str | None = None,
    **settings: Any,
) -> "Language":
    """English with mentions, abbreviations, links.

    model (Path | str | None): `en_angel_bio` for mentions of six kinds and their vocabulary in
        place of diseases and chemicals in MeSH; or another encoder-decoder, a folder or hub name,
        in `en_angel_mini`: the limits and the weights of the evidence that the shipped one was
        calibrated to do not hold for it and are off.
    kb (ConceptKB | Path | str | None): another vocabulary, or its folder, file or name; nothing is
        trained for it. The weights of the evidence and their threshold hold for any; without
        `evidence`, the shipped limits are off with another.
    tokenizer (Path | str | None): folder or hub name, where the model's folder has none.
    preset (str | None): what the model was trained with, where neither its files nor its name tell;
        see `model.presets`.
    settings (Any): fields of `LinkerSettings` in place of the pipeline's own, e.g. `dtype="int8"`
        or `min_log_prob=None`.
    RETURNS (Language): recogniser, abbreviation_detector, angel_linker.
    RAISES (AngelError): no model or vocabulary there, an unknown setting or a wrong value; a
        tokenizer or preset for the shipped model, which has its own.
    """
    from ..linking.loaders import load_vocabulary
    from .lazy import load_folder

    LinkerSettings.from_dict(settings)
    name = str(model) if str(model) in SHIPPED_NAMES else SHIPPED_NAME
    model = None if str(model) in SHIPPED_NAMES else model
    kb = None if isinstance(kb, str | Path) and str(kb) == name else kb
    folder = DATA / name
    if not folder.is_dir():
        raise AngelError(Errors.E313.format(path=folder))
    if model is None and not (tokenizer is None and preset is None):
        raise AngelError(Errors.E321.format(tokenizer=tokenizer, preset=preset))
    linker: Any
    types: dict[str, Any] = {}
    if kb is not None or "types_by_label" in settings:
        # A config would add labels to its own; and another vocabulary has other types.
        types = {"types_by_label": settings.pop("types_by_label", {})}
    if not settings.get("evidence", model is None):
        settings = (_WITHOUT_EVIDENCE if kb is None and model is None else _NO_LIMITS) | settings
    if model is None:
        nlp = load_folder(folder, config={"components": {_LINKER: settings}})
        linker = nlp.get_pipe(_LINKER)
    else:
        nlp = load_folder(folder, exclude=[_LINKER])
        block = {
            "@architectures": "spacy_angel.Checkpoint.v1",
            "path": str(model),
            "tokenizer": None if tokenizer is None else str(tokenizer),
            "preset": preset,
        }
        given = tokenizer is not None or preset is not None
        source = block if given else str(model)
        linker = nlp.add_pipe(_LINKER, config={"model": source, **settings})
    if kb is not None:
        linker.kb = load_vocabulary(kb) if isinstance(kb, str | Path) else kb
    if types:
        linker.settings = replace(linker.settings, **types)
    linker.initialize(nlp=nlp)
    return nlp
