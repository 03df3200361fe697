"""Clauses of a vocabulary and the pairs of names that are mined for them (ANGEL, section 3.3)."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from .batches import Example, PreferencePair
from .examples import vocabulary_examples, vocabulary_pairs
from .sources import TrainingData


def clauses(data: TrainingData) -> Iterator[Example]:
    """YIELDS (Example): every clause of the vocabulary, pass after pass."""
    settings = data.config.pretrain
    rng = np.random.default_rng(settings.positive.optimizer.seed)
    score = data.tfidf.pairwise if settings.vocabulary.mention == "nearest" else None
    copies = settings.vocabulary.copies
    for _ in range(settings.vocabulary.passes):
        yield from vocabulary_examples(data.pretraining_concepts(), rng, score, copies)


def n_clauses(data: TrainingData) -> int:
    """RETURNS (int): how many there are, but for names that two spellings of a concept share."""
    n_names = sum(len(concept.names) for concept in data.pretraining_concepts())
    return n_names * data.config.pretrain.vocabulary.passes


def clause_pairs(data: TrainingData) -> Iterator[PreferencePair]:
    """YIELDS (PreferencePair): of evenly spaced clauses as many as `max_pairs` allows."""
    settings = data.config.pretrain.vocabulary
    examples: Iterator[Example] = clauses(data)
    if settings.max_pairs:
        every = max(1, n_clauses(data) * settings.negatives // settings.max_pairs)
        examples = islice(examples, 0, None, every)
    pairs = vocabulary_pairs(
        examples, data.names, data.kb.concept_ids_of, settings.negatives, data.tfidf
    )
    return islice(pairs, settings.max_pairs or None)
