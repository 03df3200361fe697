import pytest

from spacy_angel.corpora.documents import GoldMention
from spacy_angel.errors import AngelError
from spacy_angel.evaluation.counts import (
    Answer,
    MentionResult,
    Ranking,
    accuracy_interval,
    biosyn_rank,
    calibration_error,
    composite_rank,
    count_result,
    lenient_rank,
    linking_scores,
    rank_figures,
    strict_rank,
    summarize,
    whole_rank,
)


def ranking(*concepts):
    name_ids = [[c] for c, _ in concepts]
    n = len(name_ids)
    return Ranking(("name",) * n, tuple(map(tuple, name_ids)), (0.0,) * n, concepts)


def outcome(gold, answer=None, known=None, **values):
    known = (True,) * len(gold) if known is None else known
    answer = Answer(answer or Ranking(), **values)
    return count_result(
        MentionResult("doc", GoldMention(0, 4, "text"), tuple(gold), known, answer, ())
    )


ONE, TWO = [("D1", 0.9), ("D2", 0.1)], [("D2", 0.8), ("D3", 0.2)]
TIED = [("D1", 0.4), ("D2", 0.4), ("D3", 0.1)]


@pytest.mark.parametrize(
    ("count", "answer", "gold", "rank"),
    [
        # A shared name counts for all its concepts, and any part of a composite is enough.
        (lenient_rank, [["D1", "D2"], ["D3"]], ["D2"], 1),
        (lenient_rank, [["D1"], ["D2", "D3"]], ["D3"], 2),
        (lenient_rank, [["D1"]], ["D10"], None),
        (lenient_rank, [], ["D1"], None),
        (lenient_rank, [["D1"]], [], None),
        # Every part has to be right; any gold identifier will do.
        (biosyn_rank, [[["D1"]], [["D9"], ["D2"]]], ["D1", "D2"], 2),
        (biosyn_rank, [[["D1"]], [["D9"]]], ["D1", "D2"], None),
        (biosyn_rank, [[["D1"]], [["D1"]]], ["D1", "D2"], 1),
        (biosyn_rank, [[["D9"], ["D2", "D3"]]], ["D3"], 2),
        (biosyn_rank, [[]], ["D1"], None),
        # Ties take their worst rank.
        (strict_rank, TIED, "D1", 2),
        (strict_rank, TIED, "D3", 3),
        (strict_rank, TIED, "D4", None),
        (strict_rank, [("D1", 0.1 + 0.2), ("D2", 0.3)], "D1", 2),
        # Each part answers for one concept, in any order.
        (composite_rank, [ONE, TWO], ["D1", "D2"], 1),
        (composite_rank, [ONE, TWO], ["D2", "D1"], 1),
        (composite_rank, [ONE, TWO], ["D2", "D3"], 2),
        (composite_rank, [ONE, [("D3", 1.0)]], ["D1", "D2"], None),
        (composite_rank, [ONE], ["D1", "D2"], None),
        (composite_rank, [], [], None),
        # All concepts of a composite that was not split are in its one ranking.
        (whole_rank, [("D1", 0.6), ("D3", 0.3), ("D2", 0.1)], ["D1", "D2"], 2),
        (whole_rank, [("D1", 0.5), ("D2", 0.5)], ["D2", "D1"], 1),
        (whole_rank, [("D1", 0.5), ("D2", 0.5), ("D3", 0.5)], ["D1", "D2"], 2),
        (whole_rank, [("D1", 0.5)], ["D1", "D2"], None),
    ],
)
def test_ranks(count, answer, gold, rank):
    assert count(answer, gold) == rank


def test_accuracy_and_reciprocal_rank():
    figures = rank_figures([1, 2, None, 5])
    assert [figures[f"acc@{k}"] for k in (1, 2, 4, 5)] == [25, 50, 50, 75]
    assert figures["mrr"] == pytest.approx(100 * (1 + 0.5 + 0 + 0.2) / 4)


def test_the_interval_is_wilsons():
    """The textbook example: 8 of 10."""
    assert accuracy_interval([True] * 8 + [False] * 2) == pytest.approx([49.0, 94.3], abs=0.1)
    assert accuracy_interval([True] * 3)[1] == 100


def test_linking_precision_recall_f_written_out():
    right = outcome(["D1"], ranking(("D1", 0.9)))
    wrong = outcome(["D1"], ranking(("D2", 0.9)))
    missed = outcome(["D1"], found=False)
    called_nil = outcome(["D1"], ranking(("D1", 0.1)), linked=False)
    nil_right = outcome([])
    nil_linked = outcome([], ranking(("D1", 0.9)))
    outside = outcome(["X1"], known=(False,))
    scores = linking_scores(
        [right, wrong, missed, called_nil, nil_right, nil_linked, outside],
        spurious_linked=1,
        spurious_nil=1,
    )
    # links: right, wrong, nil_linked and one spurious; gold with identifiers: five
    assert scores["linking"]["precision"] == pytest.approx(100 / 4)
    assert scores["linking"]["recall"] == pytest.approx(100 / 5)
    assert scores["linking"]["f"] == pytest.approx(200 / 9)
    assert scores["detection"]["precision"] == pytest.approx(100 * 6 / 8)
    assert scores["detection"]["recall"] == pytest.approx(100 * 6 / 7)


def test_the_identifier_that_is_given():
    right = outcome(["D1", "D2"], ranking(("D2", 0.9)), kb_ids=("D2",))
    both = outcome(["D1"], ranking(("D1", 0.5), ("D2", 0.5)), kb_ids=("D1", "D2"))
    none = outcome(["D1"], ranking(("D1", 0.9)))
    outside = outcome(["X1"], known=(False,), kb_ids=("D1",))
    figures = summarize([right, both, none, outside, outcome([], kb_ids=("D1",))])["kb_id"]
    assert (figures["mentions"], figures["acc@1"]) == (4, 25)
    assert figures["in_vocabulary"] == pytest.approx(100 / 3)


def test_what_is_linked_to_nothing_although_the_right_concept_came_first():
    first = outcome(["D1"], ranking(("D1", 0.4)), linked=False)
    second = outcome(["D1"], ranking(("D2", 0.4), ("D1", 0.2)), linked=False)
    linked = outcome(["D1"], ranking(("D1", 0.9)))
    outside = outcome(["X1"], known=(False,), linked=False)
    figures = summarize([first, second, linked, outside])["kb_id"]
    assert (figures["nil"], figures["nil_right_first"]) == (2, 1)


def test_concept_outside_vocabulary_is_a_strict_miss_only():
    inside = outcome(["D1"], ranking(("D1", 1.0)))
    outside = outcome(["X1"], ranking(("D1", 1.0)), known=(False,))
    figures = summarize([inside, outside, outcome([])])
    assert (figures["mentions"], figures["nil"], figures["coverage"]) == (2, 1, 50)
    assert figures["lenient"]["acc@1"] == 100
    assert figures["lenient"]["mentions"] == 1
    assert figures["strict"]["acc@1"] == 50
    assert figures["strict"]["mentions"] == 2


def test_unusable_input_is_named():
    with pytest.raises(AngelError, match="has a gold identifier"):
        summarize([outcome([])])
    with pytest.raises(AngelError, match="MESH:D1"):
        summarize([outcome(["MESH:D1"], known=(False,))])


@pytest.mark.parametrize(
    ("confidences", "right", "error"),
    [
        ([0.8, 0.8], [True, False], 30),
        ([0.05, 0.9], [True, True], (95 + 10) / 2),
        # Bins 0.2 (20 said, 0 right), 0.7 (70, 50: two mentions), 0.8 (80, 0), 0.9 (90, 100)
        ([0.9, 0.8, 0.7, 0.7, 0.2], [True, False, True, False, False], (20 + 40 + 80 + 10) / 5),
        ([1.0, 0.95], [True, True], 2.5),
        ([], [], 0),
    ],
)
def test_calibration_error_written_out(confidences, right, error):
    assert calibration_error(confidences, right) == pytest.approx(error)
