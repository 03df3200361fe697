"""`tools/everyday_sentences.txt`: texts with every mention marked."""

import pytest
from build_everyday_text import OF_KIND, SENTENCES, marked_lines

LINES = SENTENCES.read_text("utf8").splitlines()
DOCUMENTS = list(marked_lines(SENTENCES))


def test_every_mark_is_read() -> None:
    left = [one.text for one in DOCUMENTS if not {*"{}|"}.isdisjoint(one.text)]
    assert left == []
    labels = {label for labels in OF_KIND.values() for label in labels}
    assert {m.label for one in DOCUMENTS for m in one.mentions} == labels


def test_a_line_is_a_text_of_its_own() -> None:
    assert len({*LINES}) == len(LINES) == len(DOCUMENTS)
    assert [line for line in LINES if line != line.strip()] == []


@pytest.mark.parametrize(
    ("number", "mentions"),
    [
        (1, [("chest pain", "DISEASE"), ("chest pain", "PHENOTYPE")]),
        (12378, [("Mounjaro", "CHEMICAL"), ("sulphur burps", "DISEASE")]),
    ],
)
def test_marks_become_mentions(number: int, mentions: list[tuple[str, str]]) -> None:
    document = DOCUMENTS[number]
    found = [(m.text, m.label) for m in document.mentions]
    assert [one for one in found if one in mentions] == mentions
    assert all(document.text[m.start : m.end] == m.text for m in document.mentions)
