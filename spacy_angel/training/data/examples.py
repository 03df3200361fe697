"""Training examples: mentions with their names, and clauses made from the vocabulary.

ANGEL, sections 3.2 and 3.3; GenBioEL, sections 2.2, 2.3, and table 10.
"""

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain, count, islice

import numpy as np
from spacy.util import minibatch

from ...corpora.typos import add_typos
from ...model.mention import Mention
from ...vocabulary.names.concepts import Concept, normalize_name
from ..settings.config_tables import ExampleSettings, NoiseSettings
from .batches import Example, PreferencePair
from .corpus import TrainingData, gold_names

# Similarity of the pairs of two lists of texts: float[len(a)].
PairScorer = Callable[[Sequence[str], Sequence[str]], np.ndarray]

# Templates around a name M of a concept: with its definition, other names, or itself.
_WITH_DEFINITION = (
    "M is defined as {}",
    "M is described as {}",
    "{} are the definitions of M",
    "{} describe M",
    "{} define M",
)
_WITH_NAMES = (
    "M has synonyms such as {}",
    "M refers to the same concept as {}",
    "{} are the synonyms of M",
    "{} indicate the same concept as M",
)
_WITH_ITSELF = ("M is {}", "M is the same as {}")

# Some concepts have hundreds of names; comparing all of them would take too long.
_MAX_COMPARED = 32


def nearest_names(
    mentions: Sequence[str], names: Sequence[Sequence[str]], k: int, score: PairScorer
) -> list[list[str]]:
    """Find the k names with the highest scores for each mention (equation 3).

    mentions (Sequence[str]): texts.
    names (Sequence[Sequence[str]]): for each mention, the names of its gold concept.
    k (int): number of names to keep.
    score (PairScorer): e.g. `TrigramTfidf.pairwise`.
    RETURNS (list[list[str]]): at most k distinct names per mention, best first; ties in the given
        order.
    """
    distinct = [list(dict.fromkeys(options)) for options in names]
    scores = score(
        [m for m, options in zip(mentions, distinct, strict=True) for _ in options],
        list(chain.from_iterable(distinct)),
    )
    ends = np.cumsum([len(options) for options in distinct])
    return [
        [options[i] for i in np.argsort(-scores[end - len(options) : end], kind="stable")[:k]]
        for options, end in zip(distinct, ends, strict=True)
    ]


def clause(
    mention: str, definition: str | None, others: Sequence[str], rng: np.random.Generator
) -> Mention:
    """Make a clause around a name from the information on its concept (GenBioEL, table 10).

    With a definition: `renal colic is defined as pain of the kidney`, or the definition first.
    Otherwise, with up to three other names: `a has synonyms such as b, c`, or those first. Without
    other names, the name itself is used: `a is a`.

    mention (str): the name that is marked as the mention.
    definition (str | None): definition of the concept.
    others (Sequence[str]): other names of the concept, from which some are drawn.
    rng (np.random.Generator): chooses names and template.
    RETURNS (Mention): the mention between its left and right context.
    """
    if definition:
        return _spliced(mention, definition, _WITH_DEFINITION, rng)
    if not others:
        return _spliced(mention, mention, _WITH_ITSELF, rng)
    chosen = rng.permutation(len(others))[:3]
    names = ", ".join(others[i] for i in chosen)
    return _spliced(mention, names, _WITH_NAMES, rng)


def vocabulary_examples(
    concepts: Iterable[Concept],
    rng: np.random.Generator,
    score: PairScorer | None = None,
    copies: float = 0.0,
) -> Iterator[Example]:
    """Make an example for each name of each concept: the name is the target, another name of the
    concept the mention.

    The target is never among the names in the context, from which the model could copy it. A
    concept with the names a and b therefore gives `a is a` → b, and one with the name a only gives
    `a is a` → a. (GenBioEL, appendix E.2, can also be read as including the target:
    `a is the same as b` → b.)

    concepts (Iterable[Concept]): read once.
    rng (np.random.Generator): chooses names and templates.
    score (PairScorer | None): the mention is the other name with the highest score (ANGEL, section
        3.3); None: a random one (GenBioEL).
    copies (float): share of the examples whose mention is the target itself. Not in the papers,
        whose backbones can already copy; a small one has to learn it.
    RETURNS (Iterator[Example]): in the order of the concepts.
    """
    for chunk in minibatch(concepts, 512):
        spelled = [_spelled(concept) for concept in chunk]
        mentions = _mentions_for([list(names) for names in spelled], rng, score)
        for concept, names, by_target in zip(chunk, spelled, mentions, strict=True):
            for target, mention in by_target.items():
                if copies and rng.random() < copies:
                    mention = target
                others = [names[name] for name in names if name not in (target, mention)]
                source = clause(names[mention], concept.definition, others, rng)
                yield Example(source, target)


def with_noise(
    examples: Iterable[Example], settings: NoiseSettings, seed: int = 0
) -> Iterator[Example]:
    """Add typing errors to examples. Not in the papers; a model trained only
    on clean text takes a misspelled name for another one.

    examples (Iterable[Example]): examples of a corpus.
    settings (NoiseSettings): share of the examples, and number of typing errors.
    seed (int): random seed.
    RETURNS (Iterator[Example]): as many; `a [heart attack] today` → myocardial infarction may
        become `a [haert attack] today` → myocardial infarction.
    """
    chance = random.Random(seed)
    for example in examples:
        if chance.random() >= settings.share:
            yield example
            continue
        text = add_typos(example.mention.text, chance.randint(1, settings.max_edits), chance)
        yield replace(example, mention=replace(example.mention, text=text))


def _spliced(
    mention: str, context: str, templates: Sequence[str], rng: np.random.Generator
) -> Mention:
    template = templates[int(rng.integers(len(templates)))]
    left, right = (part.strip().format(context) for part in template.split("M"))
    return Mention(mention, left, right)


def _spelled(concept: Concept) -> dict[str, str]:
    """Normal form → spelling in a clause; of several spellings, the first."""
    spelled: dict[str, str] = {}
    for name in concept.names:
        if form := normalize_name(name):
            spelled.setdefault(form, name)
    return spelled


def _mentions_for(
    concepts: Sequence[Sequence[str]], rng: np.random.Generator, score: PairScorer | None
) -> list[dict[str, str]]:
    """For each concept: target name → the name used as the mention."""
    options = []
    for names in concepts:
        for target in names:
            others = [name for name in names if name != target] or [target]
            compared = 1 if score is None else _MAX_COMPARED
            if len(others) > compared:
                others = [others[i] for i in np.sort(rng.permutation(len(others))[:compared])]
            options.append(others)
    targets = [target for names in concepts for target in names]
    if score is None:
        best = [others[0] for others in options]
    else:
        best = [partners[0] for partners in nearest_names(targets, options, 1, score)]
    pairs = iter(zip(targets, best, strict=True))
    return [dict(next(pairs) for _ in names) for names in concepts]


def positive_examples(
    data: TrainingData, settings: ExampleSettings, seed: int = 0
) -> list[Example]:
    """Make examples from each training mention and its k positives (equation 3).

    data (TrainingData): mentions and vocabulary.
    settings (ExampleSettings): k, and how names are chosen.
    seed (int): random seed of substitutes and noise.
    RETURNS (list[Example]): mention by mention, most similar name first; followed by the
        substitutes; with noise according to the settings.
    """
    names_of = cache(partial(gold_names, kb=data.kb))
    names = [names_of(labelled.concept_ids) for labelled in data.train]
    nearest = nearest_names(
        [labelled.mention.text for labelled in data.train],
        names,
        settings.positives,
        data.tfidf.pairwise,
    )
    examples = [
        Example(labelled.mention, name)
        for labelled, own in zip(data.train, nearest, strict=True)
        for name in own
    ]
    clean = chain(examples * settings.repeats, _substitutes(data, settings, seed))
    return [*with_noise(clean, settings.noise, seed)]


def _substitutes(data: TrainingData, settings: ExampleSettings, seed: int) -> Iterator[Example]:
    """Make examples in which the mention in a sentence of the corpus is replaced by a name from the
    vocabulary. No name is used again before all others of its type have been used.

    Not in the papers: a corpus contains only a few hundred concepts; this way, a small model also
    sees the names of other concepts in real sentences.
    """
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
        examples = vocabulary_examples(shuffled, rng, data.tfidf.pairwise, settings.copies)
        wanted = round(len(mentions) * settings.repeats * settings.substitutes)
        for example in islice(examples, wanted):
            context = mentions[int(rng.integers(len(mentions)))]
            yield Example(replace(context, text=example.mention.text), example.name)


def clauses(data: TrainingData) -> Iterator[Example]:
    """YIELDS (Example): all clauses of the vocabulary, once per repetition."""
    settings = data.config.pretrain
    rng = np.random.default_rng(settings.positive.optimizer.seed)
    score = data.tfidf.pairwise if settings.vocabulary.mention == "nearest" else None
    copies = settings.vocabulary.copies
    for _ in range(settings.vocabulary.repeats):
        yield from vocabulary_examples(data.pretraining_concepts(), rng, score, copies)


def clause_pairs(data: TrainingData) -> Iterator[PreferencePair]:
    """Make preference pairs for the second stage of pre-training. The rejected names are those of
    other concepts that are most similar to the mention (ANGEL, section 3.3).

    data (TrainingData): vocabulary and settings.
    YIELDS (PreferencePair): from evenly spaced clauses, at most `max_pairs`.
    """
    settings = data.config.pretrain.vocabulary
    index = {name: i for i, name in enumerate(data.names)}
    left = settings.max_pairs or sys.maxsize
    n_names = sum(len(concept.names) for concept in data.pretraining_concepts())
    every = max(1, n_names * settings.repeats // left)
    for chunk in minibatch(islice(clauses(data), 0, None, every), 256):
        texts = [example.mention.text for example in chunk]
        nearest, _ = data.tfidf.nearest(texts, k=1 + _MAX_COMPARED)
        pairs = []
        for example, names in zip(chunk, nearest.tolist(), strict=True):
            gold = set(data.kb.concept_ids_of(index[example.name]))
            for name in names:
                if name >= 0 and gold.isdisjoint(data.kb.concept_ids_of(name)):
                    pairs.append(PreferencePair(example.mention, example.name, data.names[name]))
                    break
        yield from pairs[:left]
        if not (left := left - len(pairs)) > 0:
            return
