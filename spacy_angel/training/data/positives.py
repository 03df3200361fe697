"""What each stage is trained on: the mentions of a corpus with the names they lead to, and the
clauses of a vocabulary with pairs of names (ANGEL, section 3.3)."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import chain, count, islice

import numpy as np

from ...model.mention import Mention
from ..settings.config_tables import ExampleSettings
from .batches import Example, PreferencePair, chunks
from .corpus import TrainingData
from .examples import (
    PairScorer,
    embedding_scorer,
    in_contexts,
    nearest_names,
    nearest_wrong_names,
    random_scorer,
    shortest_first,
    vocabulary_examples,
    with_noise,
)
from .preferences import gold_names


def positive_examples(
    data: TrainingData, settings: ExampleSettings, seed: int = 0
) -> list[Example]:
    """Each training mention with its k positives (equation 3).

    data (TrainingData): mentions, vocabulary.
    settings (ExampleSettings): k and the way names are chosen.
    seed (int): of the selector `random`.
    RETURNS (list[Example]): mention after mention, nearest name first; then the substitutes; noise
        as asked for.
    """
    scorers: dict[str, Callable[[], PairScorer]] = {
        "tfidf": lambda: data.tfidf.pairwise,
        "shortest": lambda: shortest_first,
        "random": lambda: random_scorer(seed),
        "embedding": lambda: embedding_scorer(settings.embedding_model),
    }
    names_of = cache(partial(gold_names, kb=data.kb))
    written = [names_of(labelled.concept_ids) for labelled in data.train]
    nearest = nearest_names(
        [labelled.mention.text for labelled in data.train],
        [list(names) for names in written],
        settings.positives,
        scorers[settings.select](),
    )
    examples = [
        Example(labelled.mention, own[name])
        for labelled, names, own in zip(data.train, nearest, written, strict=True)
        for name in names
    ]
    clean = chain(examples * settings.passes, _substitutes(data, settings, seed))
    return [*with_noise(clean, settings.noise, seed)]


def _substitutes(data: TrainingData, settings: ExampleSettings, seed: int) -> Iterator[Example]:
    """A name serves again only when all others of its type have served."""
    rng = np.random.default_rng(seed)
    contexts: dict[str, list[Mention]] = {}
    for labelled in data.train:
        types = data.kb[labelled.concept_ids[0]].types
        contexts.setdefault(min(types, default=""), []).append(labelled.mention)
    concept_ids: dict[str, list[str]] = {semantic_type: [] for semantic_type in contexts}
    for concept in data.kb:
        for semantic_type in concept.types or ("",):
            if semantic_type in concept_ids:
                concept_ids[semantic_type].append(concept.concept_id)
    for semantic_type, mentions in contexts.items():
        own = concept_ids[semantic_type]
        shuffled = (data.kb[own[i]] for _ in count() for i in rng.permutation(len(own)))
        examples = vocabulary_examples(
            shuffled, rng, data.tfidf.pairwise, settings.copies, data.written
        )
        wanted = round(len(mentions) * settings.passes * settings.substitutes)
        yield from in_contexts(islice(examples, wanted), mentions, rng)


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
    """Preference pairs of the second stage of pre-training: the rejected names are those of other
    concepts that are nearest to the mention (ANGEL, section 3.3).

    data (TrainingData): vocabulary, settings.
    RETURNS (Iterator[PreferencePair]): of evenly spaced clauses as many as `max_pairs` allows.
    """
    return islice(_clause_pairs(data), data.config.pretrain.vocabulary.max_pairs or None)


def _clause_pairs(data: TrainingData) -> Iterator[PreferencePair]:
    settings = data.config.pretrain.vocabulary
    index = {name: i for i, name in enumerate(data.names)}
    every = 1
    if settings.max_pairs:
        every = max(1, n_clauses(data) * settings.negatives // settings.max_pairs)
    for chunk in chunks(islice(clauses(data), 0, None, every), 256):
        rejected = nearest_wrong_names(
            [example.mention.text for example in chunk],
            [set(data.kb.concept_ids_of(index[example.name])) for example in chunk],
            data.names,
            data.kb.concept_ids_of,
            settings.negatives,
            data.tfidf,
        )
        for example, wrong in zip(chunk, rejected, strict=True):
            yield from (PreferencePair(example.mention, example.name, name) for name in wrong)
