"""Floors: what a pipeline is to reach, and what is told where it does not."""

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.evaluation.floors import Floor, hold_floors, read_floors


def line(mention: str, gold: str, links: str, label: str = "DISEASE") -> dict:
    return {
        "mention": mention,
        "label": label,
        "gold": [{"id": one, "known": True} for one in gold.split()],
        "kb_ids": links.split(),
        "linked": bool(links),
    }


LINES = [
    line("cold", "M:1", "M:1"),
    line("Cold", "M:1", "O:2"),
    line("cold", "M:1", "O:2"),
    line("flu", "O:3", ""),
    line("cough", "", "M:4"),
    line("both", "M:1 M:2", "M:2"),
    line("TP53", "N:1", "N:1", "Gene"),
    line("fever", "", ""),
]


def test_precision_and_recall_are_of_all_by_label_and_by_vocabulary() -> None:
    floors = [
        Floor("all", "", 0, 0),
        Floor("label", "disease", 0, 0),
        Floor("label", "GENE", 0, 0),
        Floor("vocabulary", "m", 0, 0),
        Floor("vocabulary", "O", 0, 0),
    ]
    counts = [(r.right, r.linked, r.gold) for r in hold_floors(floors, LINES, {})]
    assert counts == [(3, 6, 6), (2, 5, 5), (1, 1, 1), (2, 3, 4), (0, 2, 1)]


def test_the_most_frequent_wrong_strings_are_told() -> None:
    (result,) = hold_floors([Floor("all", "", 50.1, 50)], [*LINES, LINES[2]], {})
    assert result.precision == pytest.approx(100 * 3 / 7)
    assert result.below == ["precision", "recall"]
    assert result.wrong.most_common(1) == [(("cold", "O:2", "M:1"), 2)]
    assert result.wrong["flu", "NIL", "O:3"] == 1
    assert result.wrong["cough", "M:4", "NIL"] == 1


def test_a_figure_at_its_floor_is_not_below() -> None:
    (result,) = hold_floors([Floor("all", "", 50, 50)], LINES, {})
    assert (result.precision, result.recall, result.below) == (50, 50, [])


def test_links_of_mentions_that_the_corpus_does_not_have_lower_the_precision() -> None:
    floors = [Floor("all", "", 0, 0), Floor("label", "GENE", 0, 0), Floor("vocabulary", "N", 0, 0)]
    results = hold_floors(floors, LINES, {"GENE": 1})
    assert [result.linked for result in results] == [7, 2, 1]


def test_a_floor_without_mentions_is_not_held() -> None:
    (result,) = hold_floors([Floor("label", "SPECIES", None, 80)], LINES, {})
    assert result.below == ["recall"]


def test_floors_are_read_from_toml(tmp_path) -> None:
    path = tmp_path / "floors.toml"
    path.write_text(
        '[all]\nprecision = 85\n[label."Cell line"]\nrecall = 70.5\n[vocabulary.MESH]\nrecall = 1\n'
    )
    assert read_floors(path) == [
        Floor("all", "", 85, None),
        Floor("label", "Cell line", None, 70.5),
        Floor("vocabulary", "MESH", None, 1),
    ]


@pytest.mark.parametrize(
    "text", ["[all]\nprecision = 101", "[all]\nf1 = 80", "[everything]", "[all", "", "a\xff"]
)
def test_what_is_no_floor_is_told(text, tmp_path) -> None:
    path = tmp_path / "floors.toml"
    path.write_bytes(text.encode("latin1"))
    with pytest.raises(AngelError, match=r"Cannot read the floors.*floors\.toml"):
        read_floors(path)
    with pytest.raises(AngelError, match="Cannot read the floors"):
        read_floors(tmp_path / "missing.toml")
