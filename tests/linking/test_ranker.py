"""The ranker: two models by hand, what is fitted, and what is told of it."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from spacy_angel.errors import AngelError
from spacy_angel.linking.decision.calibration import (
    CalibrationItem,
    fit_weights,
    mean_loss,
    no_weights,
)
from spacy_angel.linking.ranking.ranker import (
    CONCEPT_TERMS,
    LINK_TERMS,
    Ranker,
    Weights,
    rank,
    shipped_ranker,
    tables_of,
)
from spacy_angel.linking.types import Candidate, Query
from spacy_angel.model.mention import Mention


def name(i, log_prob, *concepts, **values):
    given = {"log_prob": log_prob, "prior": 1 / len(concepts), "cosine": 0.5, "edits": 0.5}
    given |= {"missing": 0.5, "added": 0.5}
    return [Candidate(c, i, f"name {i}", **given | values) for c in concepts]


def found(*names, label=""):
    candidates = [candidate for name in names for candidate in name]
    return Query(Mention("long mention"), label, candidates=candidates, is_searched=True)


def ranked(query, weights):
    return tables_of([query])[0].rank(weights)


def some(concept=None, link=None):
    none = no_weights()
    return Weights({**none.concept, **(concept or {})}, {**none.link, **(link or {})})


def ranker_of(weights, by_type):
    return Ranker(weights.concept, weights.link, by_type, {"ALL": 0.2})


TWO = found(name(0, -5.0, "A"), name(1, -10.0, "B", "C"), label="DISEASE")


def test_among_the_candidates_and_whether_the_best_is_right():
    # The best name has -5 nats: the model is half sure.
    weights = some(
        {"confidence": 2.0, "confidence_unsure": 2.0}, {"bias": 1.0, "confidence": 2.0, "lead": 3.0}
    )
    utilities = [-0.5 * 2 - 0.25 * 2, *[-1.0 * 2 - 0.5 * 2 - math.log(2)] * 2]
    shares = np.exp(utilities) / np.exp(utilities).sum()
    lead = math.log(shares[0] / shares[1]) / 10
    q = 1 / (1 + math.exp(-(1.0 - 0.5 * 2 + 3 * lead)))
    ranking = ranked(TWO, weights)
    assert [c for c, _ in ranking.concepts] == ["A", "B", "C"]
    others = ((1 - q) * shares[1:]).tolist()
    assert [p for _, p in ranking.concepts] == pytest.approx([q, *others])
    # If the likeliest one is wrong, NIL has its share.
    nil = 1 - sum(p for _, p in ranking.concepts)
    assert nil == pytest.approx((1 - q) * shares[0])
    assert [(c.concept_id, p) for c, p in ranking.candidates] == [
        (c, pytest.approx(p)) for c, p in ranking.concepts
    ]


def test_names_of_a_concept_join_and_stand_together():
    ranking = ranked(found(name(0, -1.0, "A"), name(1, -1.0, "B"), name(2, -1.0, "B")), some())
    assert [c for c, _ in ranking.concepts] == ["B", "A"]
    assert [c.name for c, _ in ranking.candidates] == [1, 2, 0]
    # Two of three parts, and whether it is right is anybody's guess.
    assert [p for _, p in ranking.concepts] == pytest.approx([1 / 2, 1 / 6])
    assert [p for _, p in ranking.candidates] == pytest.approx([1 / 4, 1 / 4, 1 / 6])


def test_what_ships_fits_and_tells_its_contributions():
    ranker = shipped_ranker()
    assert ranker.by_type.keys() == {"CHEMICAL", "DISEASE", "GENE"}
    assert ranker.type_of("Protein") == "GENE"
    assert ranker.type_of("Disease") == "DISEASE"
    assert ranker.type_of("Anatomy") == "ALL"
    concepts, link = ranker.explain(TWO)
    weights = ranker.weights_of("DISEASE")
    [table] = tables_of([TWO])
    by_hand = table.utilities(weights)[2]
    assert sum(concepts["C"].values()) == pytest.approx(by_hand)
    first = rank([TWO], ranker)[0].concepts[0][1]
    assert 1 / (1 + math.exp(-sum(link.values()))) == pytest.approx(first)


def test_weights_are_read_as_they_were_written_and_others_are_refused(tmp_path):
    path = tmp_path / "ranker.json"
    ranker = ranker_of(some({"exact": 1.5}), {"GENE": some(link={"bias": -1.0})})
    path.write_text(ranker.to_json())
    assert Ranker.from_disk(path) == ranker
    plain = json.loads(path.read_text())
    del plain["concept"]["exact"]
    for text in (
        json.dumps(plain),
        "[]",
        "{",
        json.dumps({**json.loads(ranker.to_json()), "version": 0}),
    ):
        path.write_text(text)
        with pytest.raises(AngelError, match="is not a ranker of this version"):
            Ranker.from_disk(path)
    with pytest.raises(AngelError, match="is not a ranker of this version"):
        Ranker.from_disk(tmp_path / "none.json")


def items(n):
    """The exact name is right where it is canonical; without one nothing is."""
    rng = np.random.default_rng(0)
    result = []
    for i in range(n):
        is_exact, is_canonical = rng.random(2) < 0.5
        first = name(0, -3.0, "A", "B", is_query=bool(is_exact))
        first[0 if is_canonical else 1].scope = int(is_exact)
        gold = ({"A"} if is_canonical else {"B"}) if is_exact else set()
        result.append(CalibrationItem(found(first, name(1, -4.0, "C")), gold, 1 + i % 2))
    return result


def test_weights_are_fitted_by_likelihood():
    data = items(200)
    start = no_weights()
    fitted = fit_weights(data, start)
    assert fitted.concept["scope"] > 2
    assert fitted.link["exact"] > 2
    assert mean_loss([(data, fitted)]) < 0.1 < mean_loss([(data, start)])
    held = fit_weights(data, start, penalty=1e6)
    both = (*held.concept.items(), *held.link.items())
    assert max(abs(value) for term, value in both if term != "spelled") < 0.01
    assert set(fitted.concept) == set(CONCEPT_TERMS)
    assert set(fitted.link) == set(LINK_TERMS)


def test_an_expected_share_of_nil_multiplies_the_odds_of_a_link():
    ranker = ranker_of(some({}, {"bias": 1.0}), {"GENE": some({}, {"bias": 2.0})})
    # odds of the fit 4 : 1, of the texts 1 : 1, so that those of a link fall to a fourth
    for label, bias in (("DISEASE", 1.0), ("GENE", 2.0)):
        best = rank([replace(TWO, label=label)], ranker.expecting(0.5))[0].concepts[0][1]
        odds = best / (1 - best)
        assert odds == pytest.approx(math.exp(bias) / 4)
    assert ranker.expecting(0.2).weights_of("DISEASE").link["bias"] == pytest.approx(1.0)
    assert shipped_ranker().nil_shares.keys() == {"ALL", "CHEMICAL", "DISEASE", "GENE"}
