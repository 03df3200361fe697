"""`spacy_angel.load` opens what the user saved, not the shipped pipeline in its place."""

from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy import Language

import spacy_angel
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept


def test_a_folder_with_settings_and_a_vocabulary(
    make: Callable[..., Language], tmp_path: Path
) -> None:
    make().to_disk(tmp_path / "mine")
    nlp = spacy_angel.load(tmp_path / "mine")
    assert nlp.pipe_names == ["sentencizer", "entity_ruler", "angel_linker"]
    assert nlp("aspirin").ents[0].kb_id_ == "MESH:D001241"
    kb = ConceptKB.build([Concept("X:1", "aspirin")])
    nlp = spacy_angel.load(str(tmp_path / "mine"), kb, candidates={"num_beams": 2})
    assert nlp.get_pipe("angel_linker").settings.candidates.num_beams == 2
    assert nlp("aspirin").ents[0].kb_id_ == "X:1"


def test_an_installed_package(
    make: Callable[..., Language], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = make()
    nlp.meta.update(name="mine", version="1.0.0")
    package = tmp_path / "site/en_mine"
    package.mkdir(parents=True)
    nlp.to_disk(package / "en_mine-1.0.0")
    (package / "meta.json").write_text((package / "en_mine-1.0.0/meta.json").read_text())
    (package / "__init__.py").write_text(
        "from spacy.util import load_model_from_init_py\n"
        "def load(**options):\n"
        "    return load_model_from_init_py(__file__, **options)\n"
    )
    info = tmp_path / "site/en_mine-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: en_mine\nVersion: 1.0.0\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    loaded = spacy_angel.load("en_mine", decision={"threshold": 0.25})
    assert loaded.get_pipe("angel_linker").settings.decision.threshold == 0.25
    assert loaded("aspirin").ents[0].kb_id_ == spacy.load("en_mine")("aspirin").ents[0].kb_id_
