"""A file of corrections is a corpus, too."""

import json
from pathlib import Path

import pytest

from spacy_angel.corpora.documents import CorpusReport
from spacy_angel.corpora.registry import infer_format, read_corpus
from spacy_angel.errors import AngelError

ROWS = [
    {
        **{"mention": "MLD", "left": "a gene for", "right": "was found"},
        **{"chosen_id": "MESH:D007966", "rejected_ids": ["MESH:D008209"]},
    },
    {"mention": "CAD", "chosen_id": "D003324", "label": "Disease"},
]


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines), "utf8")
    return path


def test_each_line_is_a_document_with_its_mention(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", json.dumps(ROWS[0]), "", json.dumps(ROWS[1]))
    assert infer_format(path) == "corrections"
    one, other = read_corpus(path)
    assert (one.doc_id, one.text) == ("c.jsonl:1", "a gene for MLD was found")
    (mention,) = one.mentions
    assert (mention.start, mention.end, mention.text, mention.label, mention.concept_ids) == (
        *(11, 14, "MLD", "", "MESH:D007966"),
    )
    (mention,) = other.mentions
    assert (other.doc_id, mention.label, mention.concept_ids) == (
        "c.jsonl:3",
        "Disease",
        "MESH:D003324",
    )
    plain = write(tmp_path / "d.jsonl", '{"text": "says \\"chosen_id\\" somewhere"}')
    assert [d.text for d in read_corpus(plain, "jsonl")] == ['says "chosen_id" somewhere']


def test_a_line_that_is_none_is_told_with_its_number_and_the_others_are_read(tmp_path) -> None:
    path = write(tmp_path / "c.jsonl", json.dumps(ROWS[1]), '{"mention": "x"}', json.dumps(ROWS[0]))
    with pytest.raises(AngelError, match=r"line 2: not a correction with .*chosen_id"):
        list(read_corpus(path))
    report = CorpusReport()
    found = list(read_corpus(path, strict=False, report=report))
    assert [d.mentions[0].text for d in found] == ["CAD", "MLD"]
