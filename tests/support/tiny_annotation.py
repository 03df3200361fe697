"""A saved pipeline with a tiny model, and documents for it."""

import json
from pathlib import Path

import spacy
from support import models

from spacy_angel.linking.settings.presets import PUBLISHED
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

CONCEPTS = models.DISEASES | models.DRUGS


def make_pipeline(folder: Path) -> Path:
    """folder (Path): folder for the model, vocabulary and pipeline.
    RETURNS (Path): the folder of the pipeline."""
    model = models.make_trained_model(folder / "model")
    concepts = (Concept(i, name, tuple(more), ("T",)) for i, (name, *more) in CONCEPTS.items())
    ConceptKB.build(concepts, folder / "kb")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    patterns = [
        {"label": "ENTITY", "pattern": [{"LOWER": word} for word in name.lower().split()]}
        for names in CONCEPTS.values()
        for name in names
    ]
    nlp.add_pipe("entity_ruler", config={"validate": False}).add_patterns(patterns)
    config = {"model": str(model), "vocabulary": str(folder / "kb")}
    nlp.add_pipe("angel_linker", config=config | PUBLISHED)
    nlp.to_disk(folder / "pipeline")
    return folder / "pipeline"


def texts(n: int) -> list[str]:
    """RETURNS (list[str]): n different documents with two names each."""
    names = [name.lower() for names in CONCEPTS.values() for name in names]
    pairs = [(names[i % len(names)], names[(i * 7 + 3) % len(names)]) for i in range(n)]
    return [f"the patient had {a}. history of {b}. {i}" for i, (a, b) in enumerate(pairs)]


def write_jsonl(path: Path, n: int) -> Path:
    """path (Path), n (int): file, and number of documents.
    RETURNS (Path): the file."""
    rows = (json.dumps({"doc_id": f"d{i}", "text": text}) for i, text in enumerate(texts(n)))
    path.write_text("".join(row + "\n" for row in rows), "utf8")
    return path
