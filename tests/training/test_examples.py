import numpy as np

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


def test_clauses_with_a_definition():
    assert [clause("colic", "pain in a flank", ["a"], Fixed(n)) for n in range(5)] == [
        Mention("colic", right="is defined as pain in a flank"),
        Mention("colic", right="is described as pain in a flank"),
        Mention("colic", left="pain in a flank are the definitions of"),
        Mention("colic", left="pain in a flank describe"),
        Mention("colic", left="pain in a flank define"),
    ]


def test_clauses_with_up_to_three_other_names():
    assert [clause("a", None, ["b", "c", "d", "e"], Fixed(n)) for n in range(4)] == [
        Mention("a", right="has synonyms such as b, c, d"),
        Mention("a", right="refers to the same concept as b, c, d"),
        Mention("a", left="b, c, d are the synonyms of"),
        Mention("a", left="b, c, d indicate the same concept as"),
    ]


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
