"""BigBIO's schema."""

import json

import pytest
from support.helpers import ROOT

from spacy_angel.corpora.documents import GoldMention
from spacy_angel.corpora.registry import infer_format, read_corpus
from spacy_angel.errors import AngelError

FILE = ROOT / "tests/fixtures/corpora/bigbio.jsonl"
TEXT = "Aspirin in angina. Breast and ovarian cancer was absent."


def test_json_lines_are_read():
    assert infer_format(FILE) == "bigbio"
    (document,) = read_corpus(FILE)
    assert (document.doc_id, document.text) == ("1", TEXT)
    cancer = "Breast and ovarian cancer"
    assert document.mentions == (
        GoldMention(0, 7, "Aspirin", "Chemical", "MESH:D001241"),
        GoldMention(11, 17, "angina", "Disease"),
        GoldMention(19, 44, cancer, "Disease", "MESH:D001943", read_as="Breast cancer"),
    )


def test_a_damaged_line_is_named(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(json.loads(FILE.read_text()) | {"passages": None}) + "\n")
    with pytest.raises(AngelError, match=r"item 1.*passages"):
        list(read_corpus(path, "bigbio"))
