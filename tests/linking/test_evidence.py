import math
from dataclasses import replace

import numpy as np
import pytest

from spacy_angel.linking.evidence import FoundName, rank_by_evidence, weigh
from spacy_angel.linking.evidence_fit import evidence_loss, fit_weights
from spacy_angel.linking.ranking import NIL, choose_link, rank_concepts
from spacy_angel.linking.weights import DEFAULT_WEIGHTS, FEATURES, NAME_FEATURES, NOTHING_FEATURES
from spacy_angel.vocabulary.letters import Alike

NONE = dict.fromkeys(FEATURES, 0.0)


def found(name, text, log_prob, cosine, edits, *concepts, canonical=()):
    alike = Alike(cosine, edits)
    return FoundName(name, text, log_prob, log_prob, alike, concepts, frozenset(canonical))


ATTACK = found(0, "heart attack", -15.0, 0.8, 11 / 12, "MI")
ARREST = found(1, "heart arrest", -5.0, 0.4, 0.5, "CA", "MI")


def row(evidence, i):
    return dict(zip(NAME_FEATURES, evidence.features[i].tolist(), strict=True))


def test_the_evidence_in_numbers():
    evidence = weigh("heart atack", [ATTACK, ARREST], {"CA"})
    assert [c.concept_id for c in evidence.candidates] == ["MI", "CA", "MI"]
    assert evidence.shares.tolist() == [1, 2, 2]
    # The best name has -5 nats: the model is half lost.
    assert row(evidence, 0) == pytest.approx(
        dict.fromkeys(NAME_FEATURES, 0.0)
        | {
            "log_prob": -1.5,
            "sure_log_prob": -0.75,
            "cosine": 0.8,
            "lost_cosine": 0.4,
            "lost_edits": (11 / 12) ** 2 / 2,
            "one_letter": 1.0,
            # `heart`, of two words each
            "mention_words": 0.5,
            "name_words": 0.5,
        }
    )
    assert row(evidence, 1)["agrees"] == 1.0
    assert dict(zip(NOTHING_FEATURES, evidence.nothing.tolist(), strict=True)) == pytest.approx(
        {
            "nothing": 1.0,
            "nothing_edits": 11 / 12,
            "nothing_cosine": 0.8,
            "nothing_name": 0.0,
            "nothing_short_name": 0.0,
            "nothing_short": 0.0,
            "nothing_lost": 0.5,
            "nothing_respelled": 0.0,
        }
    )
    assert evidence.own is None


def test_a_respelled_mention_is_no_name():
    name = found(0, "gout", -1.0, 1, 1, "A", canonical=["A"])
    assert weigh("gout", [name]).own == "A"
    evidence = weigh("gout", [name], respelled=True)
    assert evidence.own is None
    assert evidence.nothing[NOTHING_FEATURES.index("nothing_respelled")] == 1.0


def test_a_short_mention_has_weights_of_its_own():
    name = found(0, "myotonic dystrophy", -2.0, 0.1, 0.1, "A")
    short = row(weigh("dm", [name], {"A"}), 0)
    assert (short["short_log_prob"], short["short_agrees"]) == (-0.2, 1.0)
    longer = row(weigh("dystrophy", [name], {"A"}), 0)
    assert (longer["short_log_prob"], longer["short_agrees"], longer["agrees"]) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("mention", "name", "other", "lost"),
    [
        ("type 2 diabetes", "diabetes type 1", 1.0, 0.0),
        ("type 2 diabetes", "diabetes mellitus type ii", 0.0, 0.0),
        ("type 2 diabetes", "diabetes", 0.0, 1.0),
        ("fgfr2c", "fibroblast growth factor receptor 02", 0.0, 0.0),
        ("bone marrow", "marrow iv", 0.0, 1.0),
        ("vitamin i", "vitamin v", 1.0, 0.0),
        ("vitamin x", "vitamin v", 0.0, 1.0),
    ],
)
def test_numbers_that_are_others_or_missing(mention, name, other, lost):
    one = row(weigh(mention, [found(0, name, -1.0, 0.5, 0.5, "A")]), 0)
    assert (one["other_number"], one["lost_number"]) == (other, lost)


@pytest.mark.parametrize(
    ("mention", "name", "expected"),
    [
        ("il 6 receptors", "interleukin 6 receptor", (2 / 3, 2 / 3, 0)),
        ("collagen type xvii", "type 17 collagen", (1, 1, 1)),
        ("tgf beta", "transforming growth factor b", (1 / 2, 1 / 4, 0)),
        # The mention itself is no likeness.
        ("il 6", "il 6", (0, 0, 0)),
    ],
)
def test_words_that_mention_and_name_share(mention, name, expected):
    one = row(weigh(mention, [found(0, name, -1.0, 0.5, 0.5, "A")]), 0)
    told = (one["mention_words"], one["name_words"], one["same_words"])
    assert told == pytest.approx(expected)


def test_what_is_a_second_name_and_what_is_said_around():
    name = replace(
        found(0, "esp1", -1.0, 1, 1, "G:1", "G:2"), second=frozenset({"G:2"}), said=(0.25, 0.0)
    )
    evidence = weigh("esp1", [name])
    told = [(row(evidence, i)["second_name"], row(evidence, i)["said_around"]) for i in range(2)]
    assert told == [(0.0, 0.25), (1.0, 0.0)]


def test_concepts_of_which_the_document_does_not_speak_first():
    name = replace(found(0, "tp53", -1.0, 1, 1, "G:1", "G:2", "G:3", "S:1"), places=(1, 2, 3, 0))
    evidence = weigh("tp53", [name])
    names = ("said_ending", "other_ending", "unsaid_ending")
    told = [tuple(row(evidence, i)[name] for name in names) for i in range(4)]
    assert told == [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)]


@pytest.mark.parametrize(("place", "own"), [(0, "G:1"), (1, "G:1"), (2, "G:1"), (3, None)])
def test_a_name_of_a_species_of_which_the_document_is_silent_is_not_obeyed(place, own):
    name = replace(found(0, "armadillo", -1.0, 1, 1, "G:1"), places=(place,))
    assert weigh("armadillo", [name]).own == own


@pytest.mark.parametrize(
    ("mention", "names", "own"),
    [
        ("abnormal ribs", [("abnormality of the ribs", "H:1"), ("abnormal limbs", "H:2")], "H:1"),
        ("mild ataxia", [("ataxia", "H:1"), ("limb ataxia", "H:2")], "H:1"),
        # What is severe by name is no other's mild form.
        ("ataxia", [("severe ataxia", "H:1")], None),
        ("skin tag", [("skin tags", "H:1"), ("tag of the skin", "H:1")], "H:1"),
        ("skin tag", [("skin tags", "H:1"), ("tag of the skin", "H:2")], None),
        # Of a few letters one more makes another word.
        ("tccs", [("tcc", "H:1")], None),
        # A name of one's own goes first, and of several concepts there is none.
        ("ribs", [("ribs", "H:2"), ("rib", "H:1")], None),
        ("thoracic ribs", [("thoracic ribs", "H:2"), ("thoracic rib", "H:1")], "H:2"),
        ("of the", [("of", "H:1")], None),
    ],
)
def test_a_name_that_says_the_same_is_as_good_as_one_s_own(mention, names, own):
    some = [found(i, name, -9.0, 0.5, 0.5, c) for i, (name, c) in enumerate(names)]
    if mention == "ribs":
        some[0] = found(0, "ribs", -9.0, 1, 1, "H:2", "H:3")
    assert weigh(mention, some).own == own
    assert weigh(mention, some, respelled=True).own is None


def test_a_document_speaks_for_no_other_number_than_that_of_a_name():
    one, any_ = found(0, "hiv 1", -1.0, 1, 1, "V:1"), found(1, "hiv", -1.0, 0.8, 0.6, "V:0")
    evidence = weigh("hiv 1", [one, any_], {"V:0", "V:1"})
    assert [row(evidence, i)["agrees"] for i in range(2)] == [1.0, 0.0]
    # Without a name of its own the mention may be anything.
    assert row(weigh("hiv 1", [any_], {"V:0"}), 0)["agrees"] == 1.0


def test_a_concept_whose_canonical_name_is_written_so():
    name = replace(found(0, "trp53", -1.0, 1, 1, "G:1", "G:2"), same_case=frozenset({"G:2"}))
    evidence = weigh("trp53", [name])
    assert [row(evidence, i)["same_case"] for i in range(2)] == [0.0, 1.0]


def test_letters_tell_nothing_of_a_short_mention():
    evidence = weigh("mi", [found(0, "mi", -4.0, 1, 1, "A", canonical=["A"]), ATTACK])
    assert row(evidence, 0)["short_name"] == row(evidence, 0)["canonical"] == 1.0
    assert row(evidence, 0)["name"] == 0.0
    assert row(evidence, 1)["cosine"] == row(evidence, 1)["one_letter"] == 0.0
    assert evidence.own == "A"


def test_two_letters_count_from_eight():
    one = found(0, "pneumonia", -9.0, 0.5, 7 / 9, "P")
    assert row(weigh("pnuemnia", [one]), 0)["two_letters"] == 1.0
    assert row(weigh("pnumnia", [one]), 0)["two_letters"] == 0.0


def test_the_method_s_own_rule_is_a_special_case():
    names = [ATTACK, ARREST, found(2, "stroke", -4.0, 0, 0, "S")]
    evidence = weigh("heart atack", names)
    only_model = NONE | {"log_prob": 10 / 0.9, "nothing": -1e9}
    ranked, _ = rank_by_evidence(evidence, only_model)
    expected = rank_concepts(evidence.candidates, 0.9)
    assert [r.concept_id for r in ranked] == [r.concept_id for r in expected]
    assert [r.probability for r in ranked] == pytest.approx([r.probability for r in expected])
    assert [r.log_prob for r in ranked] == [r.log_prob for r in expected]


def test_probabilities_with_their_numbers():
    evidence = weigh("heart atack", [ATTACK, ARREST])
    ranked, found_names = rank_by_evidence(evidence, NONE | {"one_letter": 2.0, "nothing": 1.0})
    total = math.exp(2) + 0.5 + 0.5 + math.exp(1)
    assert [(r.concept_id, r.probability) for r in ranked] == [
        ("MI", pytest.approx((math.exp(2) + 0.5) / total)),
        ("CA", pytest.approx(0.5 / total)),
    ]
    assert [(c.name, c.concept_id) for c, _ in found_names] == [(0, "MI"), (1, "MI"), (1, "CA")]
    assert [p for _, p in found_names] == pytest.approx([math.exp(2) / total] + [0.5 / total] * 2)
    assert choose_link(ranked) == "MI"
    assert choose_link(ranked, threshold=0.75) == NIL


def test_nothing_is_linked_where_none_is_likelier():
    ranked, _ = rank_by_evidence(weigh("heart atack", [ATTACK]), NONE | {"nothing": 0.1})
    assert ranked[0].probability == pytest.approx(1 / (1 + math.exp(0.1)))
    assert choose_link(ranked) == NIL
    assert rank_by_evidence(weigh("x", []), DEFAULT_WEIGHTS) == ([], [])


@pytest.mark.parametrize(
    ("mention", "gap", "first"),
    [
        ("boojum fever", 3.9, "own"),
        ("boojum fever", 4.0, "other"),
        ("bf", 0.6, "own"),
        ("bf", 0.8, "other"),
    ],
)
def test_a_name_is_obeyed_unless_much_speaks_against_it(mention, gap, first):
    own = found(0, mention, -10 - gap, 1, 1, "own")
    evidence = weigh(mention, [own, found(1, "hyperuricemia", -10.0, 0, 0.1, "other")])
    weights = NONE | {"log_prob": 10.0}
    plain, _ = rank_by_evidence(evidence, weights)
    ranked, names = rank_by_evidence(evidence, weights, obey=True)
    assert plain[0].concept_id == "other"
    assert ranked[0].concept_id == first
    assert [r.probability for r in ranked] == pytest.approx([r.probability for r in plain])
    by_concept = {c.concept_id: p for c, p in names}
    assert by_concept == pytest.approx({r.concept_id: r.probability for r in ranked})


def test_the_gradient_is_that_of_the_loss_and_the_prior_draws():
    rng = np.random.default_rng(0)
    right = found(0, "pneumonia", -12.0, 0.5, 8 / 9, "P")
    wrong = found(1, "insomnia", -10.0, 0.1, 0.5, "I")
    items = [(weigh("pnuemonia", [right, wrong]), {"P"})] * 20
    items += [(weigh("carboplatin", [wrong]), set())] * 20
    before = evidence_loss(items, NONE)
    assert before == pytest.approx((math.log(3) + math.log(2)) / 2)
    loose, tight = (fit_weights(items, NONE, penalty=p) for p in (0.1, 1000.0))
    assert evidence_loss(items, loose) < evidence_loss(items, tight) < before
    assert loose["one_letter"] > tight["one_letter"] > 0
    assert max(map(abs, tight.values())) < 0.1

    # At the optimum every small change makes it worse.
    def penalised(weights):
        squares = sum(weight**2 for weight in weights.values())
        return len(items) * evidence_loss(items, weights) + 0.1 * squares / 2

    for _ in range(20):
        step = dict(zip(FEATURES, rng.normal(0, 0.05, len(FEATURES)), strict=True))
        assert penalised({n: loose[n] + step[n] for n in FEATURES}) > penalised(loose)
