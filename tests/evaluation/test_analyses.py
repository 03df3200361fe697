import pytest

from spacy_angel.corpora.documents import GoldMention
from spacy_angel.evaluation.analyses import (
    analyze,
    bin_of,
    margin_bins,
    name_similarities,
    score_margins,
)
from spacy_angel.evaluation.counts import Answer, MentionResult, Ranking, count_result
from spacy_angel.model.mention import Mention
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.lookup.tfidf import TrigramTfidf
from spacy_angel.vocabulary.names.concepts import Concept


@pytest.fixture(scope="module")
def kb():
    return ConceptKB.build(
        [
            Concept("D1", "heart attack", ("myocardial infarction", "MI")),
            Concept("D2", "heart failure"),
            Concept("D3", "mitral insufficiency", ("MI",)),
        ]
    )


@pytest.fixture(scope="module")
def tfidf(kb):
    return TrigramTfidf().fit(kb.name(i) for i in range(kb.n_names))


def result(text, *gold, name=None, concept=None, label="Disease"):
    """The best name belongs to one concept, the first concept is another."""
    ids = (((name,),) if name else ()), (((concept, 0.9),) if concept else ())
    ranking = Ranking(("name",) * len(ids[0]), ids[0], (0.0,) * len(ids[0]), ids[1])
    mention = GoldMention(0, len(text), text, label)
    return MentionResult("doc", mention, gold, (True,) * len(gold), Answer(Mention(text), ranking))


def test_similarity_is_to_the_nearest_name_of_a_gold_concept(kb, tfidf):
    results = [
        result("Heart-attack", "D1"),
        result("heart failures", "D1", "D2"),
        result("zzz", "D1"),
        result("x y", "D7"),
    ]
    nearest = tfidf.pairwise(["heart failures"], ["heart failure"])[0]
    assert name_similarities(results, kb, tfidf) == pytest.approx([1, nearest, 0, 0])


def test_bins_are_closed_at_one():
    assert [bin_of(v, 5) for v in (0.0, 0.19, 0.2, 0.79, 0.8, 1.0)] == [0, 0, 1, 3, 4, 4]


def test_groups_written_out():
    outcomes = [
        count_result(result("m", "D1", name="D1", concept="D1"), 1.0, (True, True)),
        count_result(result("m", "D1", name="D9", concept="D9"), 0.1, (False, True)),
        count_result(result("m", "D1", name="D1", concept="D9", label="Gene"), 0.9, (True, True)),
        count_result(result("m"), 0.9, (True, True)),  # no identifier: does not count
    ]
    groups = analyze(outcomes)
    low, _, middle, _, high = groups["similarity"]
    expected = {"name": "0.0-0.2", "mentions": 1, "errors": 1, "lenient": 0, "strict": 0}
    assert low == expected
    # Figure 4 counts errors leniently: the third is right by its name.
    expected = {"name": "0.8-1.0", "mentions": 2, "errors": 0, "lenient": 100, "strict": 50}
    assert high == expected
    assert middle["strict"] is None
    assert [(g["name"], g["mentions"]) for g in groups["type"]] == [("DISEASE", 2), ("GENE", 1)]
    assert [(g["name"], g["strict"]) for g in groups["seen_mention"]] == [
        ("seen", 50),
        ("unseen", 0),
    ]
    assert [g["mentions"] for g in groups["seen_concept"]] == [3, 0]
    assert set(analyze([count_result(result("m", "D1"))])) == {"similarity", "type"}


class Scorer:
    """Log-probability: minus the name's length."""

    def log_probs(self, mentions, names):
        assert len(mentions) == len(names)
        return [-float(len(name)) for name in names]


def test_margins_are_top_positive_minus_each_negative(kb, tfidf):
    pairs = score_margins([result("heart failure", "D1")], Scorer(), kb, tfidf, negatives=5)
    # The top positive is the shortest name of D1, `mi`; of the others only `heart failure` shares
    # a 3-gram with the mention, and `mi`, a name of D1 and D3, is no negative.
    assert pairs == [(pytest.approx(1), -2.0 + 13.0)]
    assert score_margins([], Scorer(), kb, tfidf) == []


def test_margin_bins_written_out():
    bins = margin_bins([(0.05, 2.0), (0.05, -1.0), (1.0, 3.0)])
    assert len(bins) == 10
    assert (bins[0]["mentions"], bins[0]["mean"], bins[0]["below"]) == (2, 0.5, 50)
    assert (bins[9]["mentions"], bins[9]["mean"], bins[9]["below"]) == (1, 3, 0)
    assert (bins[5]["mentions"], bins[5]["mean"], bins[5]["below"]) == (0, None, None)
