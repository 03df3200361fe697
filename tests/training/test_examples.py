import numpy as np
import pytest

from spacy_angel.model.mention import Mention
from spacy_angel.training.data.batches import Example
from spacy_angel.training.data.examples import (
    clause,
    vocabulary_examples,
    with_noise,
)
from spacy_angel.training.settings.config_tables import NoiseSettings
from spacy_angel.vocabulary.names.concepts import Concept


class Fixed:
    """Stands in for a random generator: takes the n-th choice, keeps every order."""

    def __init__(self, n=0):
        self.n = n

    def integers(self, high):
        return self.n % high

    def permutation(self, n):
        return np.arange(n)


@pytest.mark.parametrize(
    ("n", "definition", "others", "left", "right"),
    [
        (0, "a pain", ["b"], "", "is defined as a pain"),
        (1, "a pain", ["b"], "", "is described as a pain"),
        (2, "a pain", ["b"], "a pain are the definitions of", ""),
        (3, "a pain", ["b"], "a pain describe", ""),
        (4, "a pain", ["b"], "a pain define", ""),
        (0, None, ["b", "c", "d", "e"], "", "has synonyms such as b, c, d"),
        (1, None, ["b", "c"], "", "refers to the same concept as b, c"),
        (2, None, ["b"], "b are the synonyms of", ""),
        (3, None, ["b"], "b indicate the same concept as", ""),
    ],
)
def test_clauses_of_genbioel(n, definition, others, left, right):
    assert clause("colic", definition, others, Fixed(n)) == Mention("colic", left, right)


def test_target_stays_out_of_the_clause():
    three = Concept("T:1", "alpha", ("beta", "gamma"))
    two = Concept("T:2", "delta", ("epsilon",))
    one = Concept("T:3", "zeta")
    found = list(vocabulary_examples([three, two, one], Fixed()))
    assert found == [
        Example(Mention("beta", right="has synonyms such as gamma"), "alpha"),
        Example(Mention("alpha", right="has synonyms such as gamma"), "beta"),
        Example(Mention("alpha", right="has synonyms such as beta"), "gamma"),
        Example(Mention("epsilon", right="is epsilon"), "delta"),
        Example(Mention("delta", right="is delta"), "epsilon"),
        Example(Mention("zeta", right="is zeta"), "zeta"),
    ]


def test_noise_strikes_a_share_of_the_mentions_and_leaves_the_names():
    clean = [Example(Mention("heart attack", "had a", "in May"), "myocardial infarction")] * 400
    settings = NoiseSettings(share=0.5, max_edits=1)
    noisy = [*with_noise(clean, settings)]
    assert 170 < sum(example != clean[0] for example in noisy) < 230
    assert {(e.mention.left, e.mention.right, e.name) for e in noisy} == {
        ("had a", "in May", "myocardial infarction")
    }
    assert [*with_noise(clean, settings)] == noisy
    assert [*with_noise(clean, settings, seed=1)] != noisy
