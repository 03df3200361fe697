"""A DocBin or a pickled document is read in a process that has no linker."""

import pickle
import subprocess
import sys

import pytest
from spacy.tokens import DocBin
from support.tiny_linker import TEXT, make_pipeline

READ = """
ent = doc.ents[0]
assert ent._.kb_id == ent.kb_id_ == "MESH:D009203", ent._.kb_id
assert ent._.kb_ents[0][0] == "MESH:D009203"
assert ent._.candidates
assert doc._.abbreviations == []
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


@pytest.fixture(scope="module")
def stored(tiny_model, tiny_vocabulary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    doc = make_pipeline(tiny_model, tiny_vocabulary)(TEXT)
    DocBin(docs=[doc], store_user_data=True).to_disk(folder / "docs.spacy")
    (folder / "doc.pickle").write_bytes(pickle.dumps(doc))
    return folder


@pytest.mark.parametrize(
    "parts", [[(DOCBIN, "docs.spacy"), (PICKLED, "doc.pickle")], [(LATER, "docs.spacy")]]
)
def test_its_links_are_read(stored, parts):
    code = "".join(code.format(path=str(stored / name)) + READ for code, name in parts)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
