"""A component's block in the config of its pipeline."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language


def is_saved_in(nlp: "Language", name: str) -> bool:
    """Whether a component is made for a saved pipeline, which spaCy fills from its folder later:
    it hands the meta.json of a saved pipeline to the `Language` before it adds the components.

    nlp (Language): the pipeline. name (str): of the component. RETURNS (bool): whether it is.
    """
    # Not `nlp.meta`, which tells of the components that were added by now.
    saved: Mapping[str, Any] = getattr(nlp, "_meta", {})
    return name in saved.get("components", ())


def require_spans(nlp: "Language", name: str) -> None:
    """Have `nlp.analyze_pipes` know that a component reads a span group in place of entities. The
    requirements of a factory are those of all components that it makes; if spaCy has them
    elsewhere, they stay as they are.

    nlp (Language): the pipeline, changed in place. name (str): the component's.
    """
    metas: Any = getattr(nlp, "_pipe_meta", None)
    if isinstance(metas, dict):
        metas[name] = replace(nlp.get_pipe_meta(name), requires=["doc.spans"])


def read_block(folder: Path, keys: Collection[str]) -> dict[str, Any]:
    """What the config.cfg of a saved pipeline says of a component.

    folder (Path): the component's, in that of the pipeline.
    keys (Collection[str]): arguments that may be blocks of their own, read as they stand.
    RETURNS (dict[str, Any]): its block without variables; empty if there is none.
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
