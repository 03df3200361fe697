from types import SimpleNamespace

import numpy as np
import pytest

from spacy_angel import Concept, ConceptKB
from spacy_angel.linking.gathering import Gathering, Wanted, speak_for
from spacy_angel.linking.weights import NAME_FEATURES
from spacy_angel.model.mention import Mention
from spacy_angel.search.search import Hypothesis

KB = ConceptKB.build(
    [
        Concept("D:1", "Pneumonia", ("lung inflammation",)),
        Concept("D:2", "Insomnia", ("pneumonitis",)),
        Concept("D:3", "Heart attack"),
    ]
)


def searched(text, document, *found, allowed=None):
    hypotheses = [Hypothesis(KB.name_index(name), lp, lp, 2) for name, lp in found]
    return Wanted(Mention(text), document, KB.concept_ids_of, allowed), hypotheses


def gather(*items, n_near=2):
    """Every name that the model is asked for has -9 nats."""
    gathering = Gathering([wanted for wanted, _ in items], KB, n_near)
    asked = []
    for i, (wanted, hypotheses) in enumerate(items):
        names = gathering.add(i, hypotheses)
        if names:
            asked.append((wanted.mention.text, names))
            gathering.answer(i, [-9.0] * len(names))
    evidence = gathering.finish()
    names = [[(KB.name(c.name), c.log_prob) for c in e.candidates] for e in evidence]
    return SimpleNamespace(evidence=evidence, names=names, asked=asked)


def test_names_by_letters_join_those_of_the_search():
    found = gather(searched("pnuemonia", 0, ("insomnia", -6.0)))
    assert found.names == [[("insomnia", -6.0), ("pneumonia", -9.0), ("pneumonitis", -9.0)]]
    assert found.asked == [("pnuemonia", ["pneumonia", "pneumonitis"])]


def test_names_that_stand_in_other_words_around_the_mention_are_said():
    mention = Mention("it", "Inflamed lungs, lung inflammations:", "and insomnia")
    hypotheses = [Hypothesis(KB.name_index("insomnia"), -1.0, -1.0, 2)]
    gathering = Gathering([Wanted(mention, 0, KB.concept_ids_of, None)], KB, 0)
    gathering.add(0, [*hypotheses, Hypothesis(KB.name_index("pneumonia"), -2.0, -2.0, 2)])
    [evidence] = gathering.finish()
    said = evidence.features[:, NAME_FEATURES.index("said_around")]
    told = dict(zip([c.concept_id for c in evidence.candidates], said, strict=True))
    # `insomnia` weighs less than 1, as abstracts have it, but is all of its name.
    assert 0 < told["D:2"] < 1
    assert 0 < told["D:1"] < 1


def test_the_model_is_not_asked_where_it_has_decided():
    found = gather(
        searched("Pneumonia", 0, ("pneumonia", -0.5)), searched("pneumoni", 1, ("insomnia", -1.5))
    )
    assert found.names[0] == [("pneumonia", -0.5)]
    # Where it is sure of another name, the others are not above the last that it found.
    assert found.names[1][:2] == [("insomnia", -1.5), ("pneumonia", -1.5)]
    assert found.asked == []


def test_without_letters_the_search_stands_alone():
    assert gather(searched("pnuemonia", 0, ("insomnia", -6.0)), n_near=0).names == [
        [("insomnia", -6.0)]
    ]


def test_a_subset_limits_both_sides():
    allowed = np.ones(KB.n_names, dtype=bool)
    allowed[KB.name_index("pneumonia")] = False
    (names,) = gather(searched("pnuemonia", 0, allowed=allowed), n_near=1).names
    assert names == [("pneumonitis", -9.0)]


def test_a_document_agrees_with_itself_in_other_words():
    items = [
        searched("lung inflammation", 0, ("lung inflammation", -0.1)),
        searched("pnuemonia", 0),
        searched("pnuemonia", 1),
    ]
    column = NAME_FEATURES.index("agrees")
    agrees = [e.features[:, column].tolist() for e in gather(*items, n_near=1).evidence]
    assert agrees == [[0.0], [1.0], [0.0]]


@pytest.mark.parametrize(
    ("concept_id", "others", "mention", "agrees"),
    [
        ("MESH:D011014", {"lung fever"}, "pneumonia", True),
        ("MESH:D011014", {"pneumonia"}, "pneumonia", False),
        ("NCBITaxon:9606", {"patients"}, "mice", False),
        ("NCBITaxon:562", {"escherichia coli", "patients"}, "e coli", True),
    ],
)
def test_species_agree_where_they_share_a_word(concept_id, others, mention, agrees):
    assert speak_for(concept_id, others, mention) == agrees
