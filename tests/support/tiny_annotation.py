"""A saved pipeline with a tiny model, and documents for it."""

import json
from dataclasses import replace
from pathlib import Path

from support import models, tiny_linker

from spacy_angel.vocabulary.kb import ConceptKB

NAMES = [name.lower() for names in (models.DISEASES | models.DRUGS).values() for name in names]


def make_pipeline(folder: Path) -> Path:
    """Save a model, a vocabulary, and a pipeline; return the folder of the pipeline."""
    model = models.make_trained_model(folder / "model")
    concepts = (replace(concept, types=("T",)) for concept in tiny_linker.concepts())
    ConceptKB.build(concepts, folder / "kb")
    nlp = tiny_linker.make_pipeline(str(model), str(folder / "kb"))
    nlp.to_disk(folder / "pipeline")
    return folder / "pipeline"


def write_jsonl(path: Path, n: int) -> Path:
    """Write n different documents with two names each."""
    with path.open("w", encoding="utf8") as file:
        for i in range(n):
            one, other = NAMES[i % len(NAMES)], NAMES[(i * 7 + 3) % len(NAMES)]
            text = f"the patient had {one}. history of {other}. {i}"
            file.write(json.dumps({"doc_id": f"d{i}", "text": text}) + "\n")
    return path
