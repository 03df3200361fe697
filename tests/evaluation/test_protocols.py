"""The three protocols, their numbers written out."""

import pytest

from spacy_angel.corpora.documents import GoldMention
from spacy_angel.errors import AngelError
from spacy_angel.evaluation.counts import Answer, MentionResult, Ranking, count_result
from spacy_angel.evaluation.protocols import (
    PROTOCOLS,
    LinkedSpan,
    belb_figures,
    check_protocols,
    document_figures,
    hunflair2_counts,
    protocol_figures,
)


def span(start, end, *ids, label="Disease"):
    return LinkedSpan(start, end, label, ids)


def outcome(gold, kb_ids=(), names=(), known=True):
    ranking = Ranking(("name",) * len(names), tuple(map(tuple, names)), (0.0,) * len(names))
    answer = Answer(ranking, kb_ids=kb_ids)
    known = (known,) * len(gold)
    return count_result(MentionResult("d", GoldMention(0, 4, "text"), gold, known, answer))


def test_belb_wants_exactly_one_identifier_and_counts_every_gold_mention():
    outcomes = [
        outcome(("D1",), ("D1",), [["D1"]]),  # both
        outcome(("D1",), ("D1", "D2"), [["D1", "D2"]]),  # a name of two without a choice: lenient
        outcome(("D1",), ("D2",), [["D2", "D1"]]),  # the wrong choice: lenient
        outcome(("D1", "D3"), ("D3",), [["D3"]]),  # any of a composite: both
        outcome(("D1",), (), [["D1"]]),  # called NIL: lenient, for the name is right
        outcome(("D1",), ("D9",), [["D9"], ["D1"]]),  # right at the second rank: neither
        outcome(("X1",), ("D1",), [["D1"]], known=False),  # outside the vocabulary: counted
        outcome((), ("D1",), [["D1"]]),  # no identifier: not counted
    ]
    figures = belb_figures(outcomes)
    assert figures["mentions"] == 7
    assert figures["strict"] == pytest.approx(100 * 2 / 7)
    assert figures["lenient"] == pytest.approx(100 * 5 / 7)
    assert belb_figures([]) == {"mentions": 0, "strict": 0, "lenient": 0}


ONE_END = [(10, 20), (9, 20), (11, 20), (10, 19), (10, 21)]
OTHERS = [(9, 21), (11, 19), (8, 20), (10, 22)]
COMPOSITE = [span(0, 5, "D1", "D2"), span(10, 15, "D3")]
OPEN = [span(0, 5), span(10, 15, "D1")]
SHIFTED = [span(0, 5, "D1"), span(0, 6, "D2")]


@pytest.mark.parametrize(
    ("gold", "links", "counts"),
    [
        # one character may be missing or too many, at one end
        *(([span(10, 20, "D1")], [span(*found, "D1")], (1, 0, 0)) for found in ONE_END),
        *(([span(10, 20, "D1")], [span(*found, "D1")], (0, 1, 1)) for found in OTHERS),
        # any identifier of a composite
        (COMPOSITE, [span(0, 5, "D2"), span(10, 15, "D4")], (1, 1, 1)),
        (COMPOSITE, [span(0, 5, "D9", "D1")], (1, 0, 1)),
        # two gold rows on the same characters are one mention with both identifiers
        ([span(0, 5, "D1"), span(0, 5, "D2")], [span(0, 5, "D2")], (1, 0, 0)),
        # gold without an identifier is neither hit nor miss
        (OPEN, [span(0, 6, "D9"), span(10, 15, "D1")], (1, 0, 0)),
        (OPEN, [], (0, 0, 1)),
        ([], [span(0, 5, "D1")], (0, 1, 0)),
        # the same characters come first: D1 is one character off, and D2 is there
        (SHIFTED, [span(0, 6, "D1")], (0, 1, 1)),
        (SHIFTED, [span(0, 6, "D2")], (1, 0, 1)),
        # hits are counted on the predicted side: both links hit the one mention
        ([span(0, 5, "D1")], [span(0, 5, "D1"), span(0, 6, "D1")], (2, 0, 0)),
    ],
)
def test_hunflair2(gold, links, counts):
    found = hunflair2_counts(gold, links)
    assert (found.tp, found.fp, found.fn) == counts


def test_document_sets_written_out():
    figures = document_figures(
        [
            # precision 1/3, recall 1/2
            ([span(0, 5, "D1"), span(6, 9, "D2")], [span(0, 5, "D1", "D3"), span(6, 9, "D4")]),
            ([span(0, 5, "D1")], [span(6, 9, "D1")]),  # 1, 1
            ([span(0, 5, "D5")], []),  # 0, 0
            ([], [span(0, 5, "D6")]),  # counts in the micro figures only
        ]
    )
    assert figures["documents"] == 3
    averaged = figures["averaged"]
    assert averaged["precision"] == pytest.approx(100 * (1 / 3 + 1) / 3)
    assert averaged["recall"] == pytest.approx(100 * (1 / 2 + 1) / 3)
    assert averaged["f"] == pytest.approx(
        2 * averaged["precision"] * averaged["recall"] / (400 / 9 + 50)
    )
    micro = figures["micro"]
    assert (micro["hits"], micro["wrong"], micro["missed"]) == (2, 3, 2)
    assert micro["precision"] == pytest.approx(100 * 2 / 5)
    assert micro["recall"] == pytest.approx(100 * 2 / 4)
    assert micro["f"] == pytest.approx(100 * 4 / 9)
    assert document_figures([])["averaged"]["f"] == 0


def test_only_types_of_the_corpus_count():
    found_disease = span(0, 5, "D1", label="DISEASE")
    found_drug = span(8, 12, "C1", label="CHEMICAL")
    documents = [([span(0, 5, "D1")], [found_disease, found_drug]), ([span(0, 5, "D2")], [])]
    figures = protocol_figures(["hunflair2", "document"], documents, [])
    mentions = figures["hunflair2"]
    assert (mentions["hits"], mentions["wrong"], mentions["missed"]) == (1, 0, 1)
    assert set(mentions["types"]) == {"DISEASE"}
    assert figures["document"]["micro"]["wrong"] == 0
    # With a drug in the corpus, drugs count.
    documents.append(([span(0, 5, "C9", label="Chemical")], []))
    figures = protocol_figures(["hunflair2", "document"], documents, [])
    assert figures["hunflair2"]["wrong"] == figures["document"]["micro"]["wrong"] == 1
    assert figures["hunflair2"]["types"]["CHEMICAL"]["missed"] == 1
    assert figures["document"]["types"]["CHEMICAL"]["documents"] == 1


def test_what_cannot_be_counted_is_named():
    with pytest.raises(AngelError, match=r"'bleb'.*belb, hunflair2, document"):
        check_protocols(["bleb"], predicted=False)
    with pytest.raises(AngelError, match="belb needs gold mentions"):
        check_protocols(PROTOCOLS, predicted=True)
    check_protocols(PROTOCOLS, predicted=False)
    documents = [([span(0, 5, "D1")], [span(0, 5, "D1", label="ENTITY")])]
    with pytest.raises(AngelError, match="finds ENTITY, but the corpus has mentions of DISEASE"):
        protocol_figures(["hunflair2"], documents, [])
