"""A component's block in the config of its pipeline."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language


def is_saved_in(nlp: "Language", name: str) -> bool:
    """Check whether a component is created for a saved pipeline, which spaCy loads from its folder
    afterwards. spaCy passes the meta.json of a saved pipeline to `Language` before it adds the
    components.

    nlp (Language): the pipeline. name (str): name of the component.
    RETURNS (bool): whether the pipeline is a saved one.
    """
    # Not `nlp.meta`, which only lists the components that have already been added.
    saved: Mapping[str, Any] = getattr(nlp, "_meta", {})
    return name in saved.get("components", ())


def require_spans(nlp: "Language", name: str) -> None:
    """Tell `nlp.analyze_pipes` that a component reads a span group instead of entities. The
    requirements of a factory apply to all components that it creates. If spaCy stores them
    elsewhere, nothing is changed.

    nlp (Language): the pipeline, changed in place. name (str): name of the component.
    """
    metas: Any = getattr(nlp, "_pipe_meta", None)
    if isinstance(metas, dict):
        metas[name] = replace(nlp.get_pipe_meta(name), requires=["doc.spans"])


def read_block(folder: Path, keys: Collection[str]) -> dict[str, Any]:
    """Read a component's block from the config.cfg of a saved pipeline.

    folder (Path): folder of the component, inside that of the pipeline.
    keys (Collection[str]): arguments that may be blocks of their own; they are not resolved.
    RETURNS (dict[str, Any]): the block, with variables interpolated; empty if there is none.
    """
    from spacy import util

    path = folder.parent / "config.cfg"
    if not path.is_file():
        return {}
    raw = util.load_config(path, interpolate=False).get("components", {}).get(folder.name)
    if raw is None:
        return {}
    block = util.load_config(path, interpolate=True)["components"][folder.name]
    return {**block, **{key: raw.get(key) for key in keys}}
