"""What `annotate` has written, read again."""

import json
from pathlib import Path

import pytest

from spacy_angel.annotation.documents import AnnotatedDocument, AnnotatedMention, ScoredConcept
from spacy_angel.annotation.inputs import plan_inputs
from spacy_angel.annotation.outputs import OUTPUT_FORMATS
from spacy_angel.annotation.stored import read_stored
from spacy_angel.errors import AngelError

CANDIDATES = (ScoredConcept("A:1", "a", 0.75), ScoredConcept("A:2", "b", 0.25))


def documents(is_share: bool) -> list[AnnotatedDocument]:
    mention = AnnotatedMention(
        0, 8, "migraine", "D", "A:1", "a", 0.75, CANDIDATES, is_share=is_share
    )
    nil = AnnotatedMention(0, 8, "migraine", candidates=CANDIDATES, is_share=is_share)
    return [AnnotatedDocument("d", "migraine", (mention, nil))]


def stored(path: Path) -> list[AnnotatedDocument]:
    formats = {".jsonl": "jsonl", ".csv": "csv", ".tsv": "csv"}
    return list(read_stored(plan_inputs([path], formats[path.suffix])[0]))


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv"])
@pytest.mark.parametrize("is_share", [False, True])
def test_probabilities_and_shares_come_back_as_such(tmp_path, format, is_share) -> None:
    kind = OUTPUT_FORMATS[format]
    pieces = [kind.encode(document, None, True) for document in documents(is_share)]
    path = tmp_path / f"out{kind.suffix}"
    path.write_bytes(kind.join(pieces, True))
    (found,) = stored(path)
    mention, nil = found.mentions
    assert (mention.score, nil.score) == (0.75, None)
    for one in (mention, nil):
        assert (one.is_share, one.candidates) == (is_share, CANDIDATES)


def test_a_row_that_lacks_cells_is_told(tmp_path) -> None:
    names = "start,end,text,label,concept_id,name,probability,share,doc_id"
    (tmp_path / "short.csv").write_text(f"{names}\n0,8,migraine,D\n", "utf8")
    with pytest.raises(AngelError, match=r"not a document.*9 columns were expected, not 4"):
        stored(tmp_path / "short.csv")


def test_what_an_older_version_called_a_score_is_read(tmp_path) -> None:
    old = {"concept_id": "A:1", "name": "a", "score": 0.75}
    place = {"start": 0, "end": 8, "text": "migraine", "label": "D"}
    row = {"doc_id": "d", "title_end": None, "text": "migraine"}
    line = json.dumps(row | {"mentions": [place | old | {"candidates": [old]}]})
    (tmp_path / "old.jsonl").write_text(line + "\n", "utf8")
    table = "doc_id,start,end,text,label,concept_id,name,score\nd,0,8,migraine,D,A:1,a,0.75\n"
    (tmp_path / "old.csv").write_text(table, "utf8")
    for name in ("old.jsonl", "old.csv"):
        (mention,) = stored(tmp_path / name)[0].mentions
        # which of the two it was nobody knows: the weaker is taken
        assert (mention.score, mention.is_share) == (0.75, True)
