import pytest

from spacy_angel.evaluation.analyses import (
    Seen,
    Traits,
    bin_of,
    describe_mentions,
    group_accuracies,
    margin_bins,
    score_margins,
)
from spacy_angel.evaluation.counts import MentionResult, Ranking, count_result
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


def outcome(hit, lenient=None):
    concepts = (("D1", 0.9),) if hit else (("D9", 0.9),)
    ids = (("D1",),) if (hit if lenient is None else lenient) else (("D9",),)
    ranking = Ranking(("name",), ids, (0.0,), concepts)
    return count_result(
        MentionResult("doc", 0, 1, "m", gold=("D1",), known=(True,), ranking=ranking)
    )


def test_traits_of_mentions(kb, tfidf):
    seen = Seen(frozenset({"heart attack"}), frozenset({"D1"}))
    mentions = [("Heart-attack", ["D1"]), ("MI", ["D3"]), ("zzz", ["D1", "D2"]), ("x y", ["D7"])]
    exact, shared, unlike, unknown = describe_mentions(mentions, kb, tfidf, seen)
    assert exact == Traits(pytest.approx(1), 2, 1, True, True)
    assert (shared.ambiguity, shared.seen_mention, shared.seen_concept) == (2, False, False)
    assert (unlike.similarity, unlike.ambiguity, unlike.seen_concept) == (0, 0, False)
    assert (unknown.similarity, unknown.words) == (0, 2)
    assert describe_mentions(mentions[:1], kb, tfidf)[0].seen_mention is None


def test_similarity_is_to_the_nearest_name_of_the_concept(kb, tfidf):
    (traits,) = describe_mentions([("heart failures", ["D1", "D2"])], kb, tfidf)
    assert traits.similarity == pytest.approx(
        tfidf.pairwise(["heart failures"], ["heart failure"])[0]
    )


def test_bins_are_closed_at_one():
    assert [bin_of(v, 5) for v in (0.0, 0.19, 0.2, 0.79, 0.8, 1.0)] == [0, 0, 1, 3, 4, 4]


def test_groups_written_out():
    outcomes = [outcome(True), outcome(False), outcome(False, lenient=True)]
    traits = [Traits(1.0, 1, 1), Traits(0.1, 7, 0), Traits(0.9, 1, 3)]
    groups = group_accuracies(outcomes, traits)
    low, *_, high = groups["similarity"]
    assert (low.name, low.mentions, low.errors, low.lenient, low.strict) == ("0.0-0.2", 1, 1, 0, 0)
    # Figure 4 counts errors leniently: the second is right by its name.
    assert (high.name, high.mentions, high.errors, high.strict_errors) == ("0.8-1.0", 2, 0, 1)
    assert (high.lenient, high.strict) == (100, 50)
    assert groups["similarity"][2].strict is None
    assert [g.mentions for g in groups["words"]] == [0, 2, 0, 0, 0, 1]
    assert [g.mentions for g in groups["ambiguity"]] == [1, 1, 1]
    assert "seen_mention" not in groups


def test_groups_of_seen_and_unseen():
    traits = [Traits(1.0, 1, 1, True, True), Traits(1.0, 1, 1, False, True)]
    groups = group_accuracies([outcome(True), outcome(False)], traits)
    assert [(g.name, g.strict) for g in groups["seen_mention"]] == [("seen", 100), ("unseen", 0)]
    assert [g.mentions for g in groups["seen_concept"]] == [2, 0]


class Scorer:
    """Log-probability: minus the name's length."""

    def log_probs(self, mentions, names):
        assert len(mentions) == len(names)
        return [-float(len(name)) for name in names]


def test_margins_are_top_positive_minus_each_negative(kb, tfidf):
    pairs = score_margins([(Mention("heart failure"), ("D1",))], Scorer(), kb, tfidf, negatives=5)
    # The top positive is the shortest name of D1, `mi`; of the others only `heart failure` shares
    # a 3-gram with the mention, and `mi`, a name of D1 and D3, is no negative.
    assert pairs == [(pytest.approx(1), -2.0 + 13.0)]
    assert score_margins([], Scorer(), kb, tfidf) == []


def test_margin_bins_written_out():
    bins = margin_bins([(0.05, 2.0), (0.05, -1.0), (1.0, 3.0)])
    assert len(bins) == 10
    assert (bins[0].pairs, bins[0].mean, bins[0].below) == (2, 0.5, 50)
    assert (bins[9].pairs, bins[9].mean, bins[9].below) == (1, 3, 0)
    assert (bins[5].pairs, bins[5].mean, bins[5].below) == (0, None, None)
