"""Loading of pipelines: shipped and saved ones, optionally with another model or vocabulary."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language

from ..about import SHIPPED_NAME, SHIPPED_NAMES, shipped_folder
from ..errors import AngelError
from ..linking.linker import AngelLinker
from ..linking.mentions.labels import check_types
from ..linking.settings.linker_settings import PUBLISHED, LinkerSettings, types_of
from ..vocabulary.kb import ConceptKB
from ..vocabulary.sources.installed import load_vocabulary

LINKER = "angel_linker"
RECOGNISER = "angel_recogniser"


def load(
    model: Path | str | None = None,
    kb: ConceptKB | Path | str | None = None,
    *,
    tokenizer: Path | str | None = None,
    preset: str | None = None,
    device: str | None = None,
    dtype: str | None = None,
    candidates: Mapping[str, Any] | None = None,
    reranker: Mapping[str, Any] | None = None,
    decision: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    runtime: Mapping[str, Any] | None = None,
) -> Language:
    """Load a pipeline that finds mentions, expands abbreviations, and links.

    model (Path | str | None): None for `en_angel_mini` (diseases and chemicals); `en_angel_bio`
        (six types); a saved pipeline (a folder, or the name of an installed package); or an
        encoder-decoder (a folder or hub name), which replaces the model of `en_angel_mini` and is
        used as it was published, see `preset`.
    kb (ConceptKB | Path | str | None): another vocabulary: a loaded one, a folder, a file, or a
        name. No training is needed: the reranker and its threshold work with any vocabulary.
    tokenizer (Path | str | None): folder or hub name; required if the model's folder has no
        tokenizer.
    preset (str | None): `published` for the published method: the model alone decides, and every
        mention is linked. For an encoder-decoder also the settings of its training, if they cannot
        be inferred from its files or name; see `model.presets`.
    device (str | None), dtype (str | None): for the models of linker and recognizer.
    candidates (Mapping[str, Any] | None), reranker (Mapping[str, Any] | None), decision
        (Mapping[str, Any] | None), outputs (Mapping[str, Any] | None), runtime (Mapping[str, Any] |
        None): settings of the linker that override those of the pipeline, e.g.
        `decision={"threshold": 0.8}`; see `LinkerSettings`.
    RETURNS (Language): the pipeline.
    RAISES (AngelError): the model or vocabulary does not exist, a setting is unknown or has an
        invalid value, or a tokenizer or preset was given for a pipeline, which has its own.
    """
    blocks = {"candidates": candidates, "reranker": reranker, "decision": decision}
    blocks |= {"outputs": outputs, "runtime": runtime}
    settings: dict[str, Any] = {name: dict(block) for name, block in blocks.items() if block}
    for name, value in (("device", device), ("dtype", dtype)):
        if value is not None:
            settings.setdefault("runtime", {})[name] = value
    LinkerSettings(**settings)
    model = SHIPPED_NAME if model is None else model
    is_shipped = str(model) in SHIPPED_NAMES
    folder = shipped_folder(str(model)) if is_shipped else _pipeline_folder(model)
    if preset == "published" or folder is None:
        preset = None if preset == "published" else preset
        settings = {n: PUBLISHED.get(n, {}) | settings.get(n, {}) for n in LinkerSettings.blocks()}
    # A config would add labels to those of the pipeline, whose types are of its own vocabulary.
    types = settings.get("candidates", {}).pop("types_by_label", None)
    if folder is None:
        nlp = spacy.load(shipped_folder(SHIPPED_NAME), exclude=[LINKER])
        linker: Any = nlp.add_pipe(LINKER, config={"model": str(model), **settings})
        linker.generator = linker.load_model(model, tokenizer=tokenizer, preset=preset)
    elif tokenizer is not None or preset is not None:
        raise AngelError(
            f"The pipeline {model} has its own tokenizer and preset (given: {tokenizer}, {preset})."
        )
    else:
        kb = None if isinstance(kb, str | Path) and str(kb) == str(model) else kb
        nlp = load_folder(folder, settings)
    linker = find_linker(nlp)
    if kb is not None or types is not None:
        _use_vocabulary(linker, kb, types or {})
    linker.initialize(nlp=nlp)
    return nlp


def open_pipeline(
    pipeline: str | Path | Language, kb: Path | None = None
) -> tuple[Language, AngelLinker]:
    """Load a pipeline with its saved settings, and find its linker. Nothing is downloaded.

    pipeline (str | Path | Language): a folder, an installed package, `en_angel_mini`,
        `en_angel_bio`, or a loaded pipeline.
    kb (Path | None): vocabulary that replaces the linker's own, including the types for its labels.
    RETURNS (tuple[Language, AngelLinker]): the pipeline, and the first linker in it.
    RAISES (AngelError): it cannot be loaded, or has no linker.
    """
    if isinstance(pipeline, Language):
        nlp = pipeline
    elif str(pipeline) in SHIPPED_NAMES:
        nlp = load(pipeline)
    else:
        nlp = load_folder(_pipeline_folder(pipeline) or pipeline)
    linker = find_linker(nlp)
    if kb is not None:
        _use_vocabulary(linker, kb, types_of(kb))
    return nlp, linker


def load_folder(
    pipeline: Path | str,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    exclude: Sequence[str] = (),
) -> Language:
    """Load a saved pipeline.

    pipeline (Path | str): its folder, or the name of a package.
    settings (Mapping[str, Mapping[str, Any]] | None): blocks that override those of its first
        linker; the `device` and `dtype` of `runtime` apply to all linkers and to
        `angel_recogniser`.
    exclude (Sequence[str]): components that are not loaded.
    RETURNS (Language): the pipeline.
    RAISES (AngelError): it cannot be loaded.
    """
    overrides: dict[str, Any] = {}
    try:
        if settings:
            config = spacy.util.load_config(Path(pipeline) / "config.cfg", interpolate=False)
            factories = {n: config["components"][n]["factory"] for n in config["nlp"]["pipeline"]}
            runtime = settings.get("runtime", {})
            running = {key: runtime[key] for key in ("device", "dtype") if key in runtime}
            shared = {LINKER: {"runtime": running}, RECOGNISER: running}
            overrides = {name: shared[f] for name, f in factories.items() if f in shared}
            linkers = [name for name, factory in factories.items() if factory == LINKER]
            overrides |= dict.fromkeys(linkers[:1], settings)
        return spacy.load(pipeline, exclude=list(exclude), config={"components": overrides})
    except AngelError:
        raise
    # Whatever spaCy, its components and their libraries raise for a damaged file.
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".: ")
        raise AngelError(f"{str(pipeline)!r} cannot be loaded as a pipeline: {reason}.") from error


def find_linker(nlp: Language) -> AngelLinker:
    """nlp (Language): a pipeline. RETURNS (AngelLinker): the first linker in it.
    RAISES (AngelError): it has none."""
    for _, component in nlp.pipeline:
        if isinstance(component, AngelLinker):
            return component
    raise AngelError(f"The pipeline has no angel_linker. Its components: {nlp.pipe_names}.")


def _use_vocabulary(linker: Any, kb: ConceptKB | Path | str | None, types: Any) -> None:
    """Give a linker another vocabulary, unless it is None, and the types of its labels."""
    linker.settings.candidates.types_by_label = {}
    if kb is not None:
        linker.kb = load_vocabulary(kb) if isinstance(kb, str | Path) else kb
    linker.settings.candidates.types_by_label = types
    check_types(linker.settings, linker.kb)


def _pipeline_folder(pipeline: str | Path) -> Path | None:
    """RETURNS (Path | None): the folder of a saved pipeline; as in `spacy.load`, an installed
    package takes precedence over a folder. None if there is no config.cfg."""
    folder = Path(pipeline)
    if isinstance(pipeline, str) and spacy.util.is_package(pipeline):
        folder = next(spacy.util.get_package_path(pipeline).glob(f"{pipeline}-*"), folder)
    return folder if (folder / "config.cfg").is_file() else None
