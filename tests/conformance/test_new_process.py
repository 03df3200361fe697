"""Stored documents are read, and a pickled pipeline links, in a process that has made no linker."""

import pickle
import subprocess
import sys

import joblib
import pytest
import spacy
from spacy.tokens import DocBin
from support.tiny_linker import TEXT, make_pipeline

READ = """
ent = doc.ents[0]
assert ent._.kb_id == ent.kb_id_ == "MESH:D009203", ent._.kb_id
assert ent._.kb_ents[0][0] == "MESH:D009203"
assert ent._.candidates
assert (ent._.mention_probability, ent._.hgvs, doc._.abbreviations) == (None, "", [])
"""
DOCBIN = """
import spacy
import spacy_angel
from spacy.tokens import DocBin
(doc,) = DocBin().from_disk({path!r}).get_docs(spacy.vocab.Vocab())
"""
PICKLED = """
import pickle
doc = pickle.loads(open({path!r}, "rb").read())
"""
PIPELINE = """
import {module}
nlp = {module}.load(open({path!r}, "rb"))
doc = nlp({text!r})
found = [(ent.text, ent._.kb_id, ent._.mention_probability, ent._.hgvs) for ent in doc.ents]
assert found == {found!r}, found
"""


def run(code):
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_links_of_stored_documents_are_read(model, tiny_vocabulary, tmp_path):
    docbin, pickled = tmp_path / "docs.spacy", tmp_path / "doc.pickle"
    doc = make_pipeline(model, tiny_vocabulary)(TEXT)
    DocBin(docs=[doc], store_user_data=True).to_disk(docbin)
    pickled.write_bytes(pickle.dumps(doc))
    run(DOCBIN.format(path=str(docbin)) + READ + PICKLED.format(path=str(pickled)) + READ)


def links_when_unpickled(nlp, module, path):
    """Check that a pickled pipeline finds the same in a new process, and return what it finds."""
    with open(path, "wb") as file:
        module.dump(nlp, file)
    text = "A heart attack (HA), another HA, and the mutation V600E."
    found = [
        (ent.text, ent._.kb_id, ent._.mention_probability, ent._.hgvs) for ent in nlp(text).ents
    ]
    run(PIPELINE.format(module=module.__name__, path=str(path), text=text, found=found))
    return found


@pytest.mark.parametrize(("name", "module"), [("en_angel_mini", joblib), ("en_angel_bio", pickle)])
def test_a_shipped_pipeline(name, module, tmp_path):
    found = links_when_unpickled(spacy.load(name), module, tmp_path / "nlp")
    assert found[0][:2] == ("heart attack", "MESH:D009203")
    assert found[0][2] > 0.5


def test_a_pipeline_of_ones_own(model, tiny_vocabulary, tmp_path):
    others = ("angel_abbreviations", "angel_consistency", "angel_variants")
    nlp = make_pipeline(model, tiny_vocabulary, *others)
    assert links_when_unpickled(nlp, pickle, tmp_path / "nlp") == [
        ("heart attack", "MESH:D009203", None, ""),
        ("HA", "MESH:D009203", 1.0, ""),
        ("HA", "MESH:D009203", 1.0, ""),
        ("V600E", "p.Val600Glu", None, "p.Val600Glu"),
    ]
