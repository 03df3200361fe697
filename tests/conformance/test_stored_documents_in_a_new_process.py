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
LATER = """
import spacy_angel
import spacy
from spacy.tokens import DocBin
(doc,) = DocBin().from_disk({path!r}).get_docs(spacy.blank("en").vocab)
"""
PIPELINE = """
import {module}
nlp = {module}.load(open({path!r}, "rb"))
doc = nlp({text!r})
found = [(ent.text, ent._.kb_id, ent._.mention_probability, ent._.hgvs) for ent in doc.ents]
assert found == {found!r}, found
"""


@pytest.fixture(scope="module")
def stored(model, tiny_vocabulary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    doc = make_pipeline(model, tiny_vocabulary)(TEXT)
    DocBin(docs=[doc], store_user_data=True).to_disk(folder / "docs.spacy")
    (folder / "doc.pickle").write_bytes(pickle.dumps(doc))
    return folder


@pytest.mark.parametrize(
    "parts", [[(DOCBIN, "docs.spacy"), (PICKLED, "doc.pickle")], [(LATER, "docs.spacy")]]
)
def test_its_links_are_read(stored, parts):
    code = "".join(code.format(path=str(stored / name)) + READ for code, name in parts)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def links_when_unpickled(nlp, module, path):
    """Dump a pipeline and link with it in a new process, which has to find the same.
    RETURNS (list[tuple]): what it finds here."""
    with open(path, "wb") as file:
        module.dump(nlp, file)
    text = "A heart attack (HA), another HA, and the mutation V600E."
    found = [
        (ent.text, ent._.kb_id, ent._.mention_probability, ent._.hgvs) for ent in nlp(text).ents
    ]
    code = PIPELINE.format(module=module.__name__, path=str(path), text=text, found=found)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
    return found


@pytest.mark.parametrize(("name", "module"), [("en_angel_mini", joblib), ("en_angel_bio", pickle)])
def test_a_shipped_pipeline(name, module, tmp_path):
    found = links_when_unpickled(spacy.load(name), module, tmp_path / "nlp")
    assert found[0][:2] == ("heart attack", "MESH:D009203")
    assert found[0][2] > 0.5


@pytest.mark.parametrize("module", [joblib, pickle])
def test_a_pipeline_of_ones_own(model, tiny_vocabulary, tmp_path, module):
    others = ("angel_abbreviations", "angel_consistency", "angel_variants")
    nlp = make_pipeline(model, tiny_vocabulary, *others)
    found = links_when_unpickled(nlp, module, tmp_path / "nlp")
    assert found == [
        ("heart attack", "MESH:D009203", None, ""),
        ("HA", "MESH:D009203", 1.0, ""),
        ("HA", "MESH:D009203", 1.0, ""),
        ("V600E", "p.Val600Glu", None, "p.Val600Glu"),
    ]
