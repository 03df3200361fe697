"""`spacy.load(dir, config=...)` with another vocabulary or model has that one."""

from collections.abc import Callable
from pathlib import Path

import spacy
from spacy import Language

from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept


def test_vocabulary(make: Callable[..., Language], tmp_path: Path) -> None:
    make(types_by_label={"DRUG": ["T121"]}).to_disk(tmp_path / "saved")
    kb_cl = tmp_path / "kb_cl"
    ConceptKB.build([Concept("CL:1", "aspirin")], kb_cl)
    config = {"components": {"angel_linker": {"vocabulary": str(kb_cl)}}}
    nlp = spacy.load(tmp_path / "saved", config=config)
    assert nlp.config["components"]["angel_linker"]["vocabulary"] == str(kb_cl)
    assert len(nlp.get_pipe("angel_linker").kb) == 1
    assert nlp("aspirin").ents[0].kb_id_ == "CL:1"
    # and so once it was saved
    nlp.to_disk(tmp_path / "again")
    assert spacy.load(tmp_path / "again")("aspirin").ents[0].kb_id_ == "CL:1"
