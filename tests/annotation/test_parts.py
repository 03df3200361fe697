"""Finished batches of a shard: what was written for the same documents and settings is used."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.annotation.documents import AnnotatedDocument, AnnotatedMention, ScoredConcept
from spacy_angel.annotation.parts import PartFile
from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.errors import AngelError

DOCUMENTS = [CorpusDocument(f"d{i}", "migraine", title_end=i) for i in range(5)]


def linked(document: CorpusDocument, score: float = 0.1234) -> AnnotatedDocument:
    candidates = (ScoredConcept("A:1", "a", score), ScoredConcept("A:2", "b", 0.0))
    mentions = (
        AnnotatedMention(0, 8, "migraine", "D", "A:1", "a", score, candidates, ("x", "y")),
        AnnotatedMention(0, 3, "mig"),
    )
    return AnnotatedDocument(document.doc_id, document.text, mentions, title_end=document.title_end)


def opened(folder, key: str = "key") -> PartFile:
    return PartFile(folder, "00000-000000.jsonl", DOCUMENTS, 2, key)


def test_batches_come_back_as_they_were(tmp_path) -> None:
    batches = {2: [linked(DOCUMENTS[4])], 0: [linked(d) for d in DOCUMENTS[:2]]}
    with opened(tmp_path) as part:
        assert part.batches == {}
        for number, batch in batches.items():
            part.add(number, batch)
    with opened(tmp_path) as part:
        assert part.batches == batches
    with opened(tmp_path, "other") as part:
        assert part.batches == {}
    assert [path.name for path in tmp_path.iterdir()] == ["_00000-000000.jsonl.part"]


@given(st.floats(0, 1))
def test_scores_keep_every_digit(tmp_path_factory, score) -> None:
    folder = tmp_path_factory.mktemp("part")
    with opened(folder) as part:
        part.add(2, [linked(DOCUMENTS[4], score)])
    with opened(folder) as part:
        assert part.batches == {2: [linked(DOCUMENTS[4], score)]}


def test_what_was_cut_anywhere_is_left_out(tmp_path) -> None:
    with opened(tmp_path) as part:
        part.add(2, [linked(DOCUMENTS[4])])
        part.add(1, [linked(d) for d in DOCUMENTS[2:4]])
    path = tmp_path / "_00000-000000.jsonl.part"
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    for length in (*range(0, len(data), 9), first - 1, first, len(data) - 1):
        path.write_bytes(data[:length])
        with opened(tmp_path) as part:
            assert set(part.batches) == ({2} if length >= first else set())
            part.add(0, [linked(d) for d in DOCUMENTS[:2]])
        with opened(tmp_path) as part:
            assert set(part.batches) == ({2, 0} if length >= first else {0})


def test_a_disk_that_refuses_is_told(tmp_path) -> None:
    with pytest.raises(AngelError, match="cannot be written: No such file or directory"):
        opened(tmp_path / "not there")
