"""A pipeline with a tiny trained linker, made in code: two drugs and some diseases."""

from collections.abc import Iterator
from pathlib import Path

import spacy
from spacy import Language
from support import models

from spacy_angel.vocabulary.concepts import Concept
from spacy_angel.vocabulary.kb import ConceptKB

TEXT = "the patient had heart attack. history of migraine. Then aspirin."
PATTERNS = [
    {"label": label, "pattern": [{"LOWER": word} for word in name.lower().split()]}
    for label, concepts in (("DISEASE", models.DISEASES), ("DRUG", models.DRUGS))
    for names in concepts.values()
    for name in names
]


def concepts() -> Iterator[Concept]:
    for concept_id, (name, *aliases) in models.DISEASES.items():
        yield Concept(concept_id, name, tuple(aliases), ("T047",))
    for concept_id, (name, *aliases) in models.DRUGS.items():
        yield Concept(concept_id, name, tuple(aliases), ("T121",))
    # shares two names with concepts above
    yield Concept("MESH:D000001", "Heart attack", ("migraine",), ("T047",))


def build_vocabulary(folder: Path) -> str:
    """folder (Path): to write. RETURNS (str): it."""
    ConceptKB.build(concepts(), folder)
    return str(folder)


def pipeline() -> Language:
    """RETURNS (Language): sentences and mentions, no linker."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("entity_ruler", config={"validate": False}).add_patterns(PATTERNS)
    return nlp
