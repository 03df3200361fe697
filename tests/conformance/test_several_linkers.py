"""Linkers with vocabularies and labels of their own share one pipeline and `ent._.kb_id`."""

import warnings

import pytest
import spacy
from support.tiny_linker import blocks, concepts

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept


@pytest.fixture
def two(make, model, tmp_path):
    cells = tmp_path / "cl"
    ConceptKB.build([Concept("CL:2", "T cell")], cells)
    nlp = make(types_by_label={"DISEASE": ["T047"], "DRUG": ["T121"]})
    ruler = nlp.get_pipe("entity_ruler")
    ruler.add_patterns([{"label": "CL", "pattern": "T cell"}, {"label": "ORG", "pattern": "WHO"}])
    config = blocks(model=model, vocabulary=str(cells), types_by_label={"CL": []})
    nlp.add_pipe("angel_linker", name="cells", config=config)
    return nlp


def test_each_links_its_labels_and_others_stay(two, tmp_path):
    two.to_disk(tmp_path / "saved")
    for nlp in (two, spacy.load(tmp_path / "saved")):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            doc = nlp("aspirin and a T cell at WHO")
            nlp("aspirin and WHO")
        assert [(e.text, e.kb_id_, e._.kb_id) for e in doc.ents] == [
            ("aspirin", "MESH:D001241", "MESH:D001241"),
            ("T cell", "CL:2", "CL:2"),
            ("WHO", "", ""),
        ]
        told = [str(w.message) for w in caught if "links no mention labelled" in str(w.message)]
        # once, and not of CL, which the other one links
        assert len(told) <= 1
        assert all("'ORG'" in message for message in told)


def test_overlapping_labels_are_warned_of(make, model, recwarn):
    config = blocks(model=model, types_by_label={"CL": []})
    make(labels_discard=["CL"]).add_pipe("angel_linker", name="cells", config=config)
    assert not [w for w in recwarn if "both write" in str(w.message)]
    with pytest.warns(UserWarning, match=r"both write span\._\.candidates"):
        make().add_pipe("angel_linker", name="cells", config=config)


def test_a_vocabulary_set_at_run_time_has_its_own_types(make):
    nlp = make(types_by_label={"DISEASE": ["T047"], "DRUG": ["T121"]})
    linker = nlp.get_pipe("angel_linker")
    with pytest.raises(AngelError, match="kb: expected a ConceptKB, got 'path'"):
        linker.kb = "path"
    with pytest.warns(
        UserWarning, match=r"the types \['T047', 'T121'\], which the vocabulary lacks.*empty"
    ):
        linker.kb = ConceptKB.build([Concept("X:1", "aspirin")])
    assert nlp("aspirin").ents[0].kb_id_ == "X:1"
    linker.settings.candidates.types_by_label = {"DRUG": ["T121"]}
    with pytest.raises(AngelError, match="T121"):
        nlp("aspirin")


def test_linkers_with_the_same_model_save_it_once(make, model, tmp_path):
    nlp = make(types_by_label={"DISEASE": []})
    config = blocks(model=model, vocabulary=None, types_by_label={"DRUG": []})
    drugs = nlp.add_pipe("angel_linker", name="drugs", config=config)
    drugs.kb = ConceptKB.build(c for c in concepts() if "T121" in c.types)
    for _ in range(2):
        nlp.to_disk(tmp_path / "saved")
        saved = sorted(p.parent.name for p in tmp_path.rglob("*") if p.name in ("model", "kb"))
        assert saved == ["angel_linker", "angel_linker", "drugs"]
        text = "migraine and aspirin"
        again = spacy.load(tmp_path / "saved")(text)
        assert [e.kb_id_ for e in again.ents] == [e.kb_id_ for e in nlp(text).ents]
    # Saved alone, it is complete.
    drugs.to_disk(tmp_path / "drugs")
    assert (tmp_path / "drugs/model").is_dir()
    (tmp_path / "saved/angel_linker/model/config.json").write_text("{}")
    with pytest.raises(AngelError, match="has changed since it was saved"):
        drugs.from_disk(tmp_path / "saved/drugs")
