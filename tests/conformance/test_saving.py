"""A pipeline that was saved is opened as it was saved, whichever function opens it."""

import pytest
import spacy
from support.tiny_linker import pipeline

import spacy_angel
from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept


def test_load_opens_a_folder_with_settings_and_another_vocabulary(make, tmp_path):
    make().to_disk(tmp_path / "mine")
    nlp = spacy_angel.load(tmp_path / "mine")
    assert nlp.pipe_names == ["sentencizer", "entity_ruler", "angel_linker"]
    assert nlp("aspirin").ents[0].kb_id_ == "MESH:D001241"
    kb = ConceptKB.build([Concept("X:1", "aspirin")])
    nlp = spacy_angel.load(str(tmp_path / "mine"), kb, candidates={"num_beams": 2})
    assert nlp.get_pipe("angel_linker").settings.candidates.num_beams == 2
    assert nlp("aspirin").ents[0].kb_id_ == "X:1"


def test_load_opens_an_installed_package(make, tmp_path, monkeypatch):
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


def test_spacy_load_with_another_vocabulary(make, tmp_path):
    make(types_by_label={"DRUG": ["T121"]}).to_disk(tmp_path / "saved")
    kb_cl = tmp_path / "kb_cl"
    ConceptKB.build([Concept("CL:1", "aspirin")], kb_cl)
    config = {"components": {"angel_linker": {"vocabulary": str(kb_cl)}}}
    nlp = spacy.load(tmp_path / "saved", config=config)
    assert nlp.config["components"]["angel_linker"]["vocabulary"] == str(kb_cl)
    assert len(nlp.get_pipe("angel_linker").kb) == 1
    nlp.to_disk(tmp_path / "again")
    for each in (nlp, spacy.load(tmp_path / "again")):
        assert each("aspirin").ents[0].kb_id_ == "CL:1"


def test_a_linker_that_was_sourced_twice(make, tmp_path):
    other, nlp = make(), pipeline()
    nlp.add_pipe("angel_linker", source=other)
    nlp.add_pipe("angel_linker", name="second", source=other)
    expected = nlp("aspirin").ents[0].kb_id_
    nlp.to_disk(tmp_path / "saved")
    with pytest.warns(UserWarning, match="'angel_linker' and 'second' both write"):
        loaded = spacy.load(tmp_path / "saved")
    assert loaded("aspirin").ents[0].kb_id_ == expected == "MESH:D001241"


@pytest.mark.parametrize("name", ["meta.json", "config.cfg", "sentencizer.json"])
@pytest.mark.parametrize("content", [b"", b'{"a": ', b"\xff\xfe{}", b"[" * 100_000, b"9" * 5000])
def test_a_damaged_file_is_told(make, tmp_path, name, content):
    make().to_disk(tmp_path / "saved")
    (tmp_path / "saved" / name).write_bytes(content)
    with pytest.raises(AngelError):
        spacy_angel.load(tmp_path / "saved")
