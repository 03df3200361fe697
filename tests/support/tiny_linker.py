"""A pipeline with a linker that is created in seconds: rule-based mentions, a tiny model, and a
vocabulary."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import spacy
from spacy import Language

from spacy_angel.linking.settings.linker_settings import PUBLISHED, LinkerSettings
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

from . import models

BLOCK_OF = {
    entry: name
    for name, block in LinkerSettings.blocks().items()
    if name != "outputs"
    for entry in block.model_fields
} | {"rerank": "reranker"}
TEXT = "the patient had heart attack. history of migraine. Then aspirin."
PATTERNS = [
    {"label": label, "pattern": [{"LOWER": word} for word in name.lower().split()]}
    for label, concepts in (("DISEASE", models.DISEASES), ("DRUG", models.DRUGS))
    for names in concepts.values()
    for name in names
]
NAMESAKE = Concept("MESH:D000001", "Heart attack", ("migraine",), ("T047",))
"""Shares two names with `concepts`."""


def concepts() -> list[Concept]:
    """List the diseases and drugs whose names the tiny model has learned."""
    kinds = ((models.DISEASES, "T047"), (models.DRUGS, "T121"))
    return [
        Concept(concept_id, name, tuple(aliases), (kind,))
        for group, kind in kinds
        for concept_id, (name, *aliases) in group.items()
    ]


def make_vocabulary(path: Path, *more: Concept) -> str:
    """Build a vocabulary of `concepts` and more in a folder, and return its path."""
    ConceptKB.build([*concepts(), *more], path)
    return str(path)


def pipeline() -> Language:
    """Make a pipeline with rule-based sentences and mentions, without a linker."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    ruler: Any = nlp.add_pipe("entity_ruler", config={"validate": False})
    ruler.add_patterns(PATTERNS)
    return nlp


def make_pipeline(model: str, vocabulary: str, *before: str, **config: Any) -> Language:
    """Make a pipeline with rules that find all names, the components `before`, and a linker."""
    nlp = pipeline()
    for name in before:
        nlp.add_pipe(name)
    sources = {"model": model, "vocabulary": vocabulary}
    nlp.add_pipe("angel_linker", config=sources | blocks(**config))
    return nlp


def blocks(*, published: bool = True, **entries: Any) -> dict[str, Any]:
    """Group settings by block.

    published (bool): use the settings of the published method for the rest, otherwise the defaults.
    entries (Any): settings without their block, `rerank` for `reranker.enabled`, or whole blocks.
    """
    found: dict[str, Any] = deepcopy(PUBLISHED) if published else {}
    for name, value in entries.items():
        if block := BLOCK_OF.get(name):
            found.setdefault(block, {})["enabled" if name == "rerank" else name] = value
        else:
            found[name] = {**found.get(name, {}), **value} if isinstance(value, dict) else value
    return found


def settings_of(**entries: Any) -> LinkerSettings:
    """Make linker settings; `entries` as in `blocks`."""
    return LinkerSettings(**blocks(**entries))
