"""What the model is shown: mentions with their names, and the vocabulary in clauses.

ANGEL, sections 3.2 and 3.3; GenBioEL, sections 2.2, 2.3 and table 10.
"""

import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain, count, islice

import numpy as np

from ...corpora.typos import add_typos
from ...model.mention import Mention
from ...vocabulary.lookup.tfidf import TrigramTfidf
from ...vocabulary.names.concepts import Concept, normalize_name
from ..settings.config_tables import ExampleSettings, NoiseSettings
from .batches import Example, PreferencePair, chunks
from .corpus import TrainingData, gold_names

# Scores the partners of two lists of texts, higher is nearer: float[len(a)].
PairScorer = Callable[[Sequence[str], Sequence[str]], np.ndarray]

# What stands around a name M of a concept: its definition, other names, or itself.
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

# A concept with hundreds of names would need tens of thousands of comparisons for a choice of one.
_MAX_COMPARED = 32


def nearest_names(
    mentions: Sequence[str], names: Sequence[Sequence[str]], k: int, score: PairScorer
) -> list[list[str]]:
    """The k names of highest score for each mention (equation 3).

    mentions (Sequence[str]): texts.
    names (Sequence[Sequence[str]]): for each mention the names of its gold concept.
    k (int): names to keep.
    score (PairScorer): e.g. `TrigramTfidf.pairwise`.
    RETURNS (list[list[str]]): at most k different names a mention, best first; of equal ones the
        one that stood first.
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
    """A name in a sentence made from its concept (GenBioEL, table 10).

    With definition: `renal colic is defined as pain of the kidney`, or the definition first; else
    with up to three other names: `a has synonyms such as b, c`, or those first; where there are
    none the mention stands for itself: `a is a`.

    mention (str): the name that is marked.
    definition (str | None): of the concept.
    others (Sequence[str]): other names of the concept; chosen from by chance.
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
    """Each name of each concept once as the target, another name of it as the mention.

    The target is never among the names of the context, where the model could copy it. So a concept
    named a and b gives `a is a` → b, and one named a alone `a is a` → a. (GenBioEL, appendix E.2,
    can also be read as putting the target there, `a is the same as b` → b.)

    concepts (Iterable[Concept]): read once.
    rng (np.random.Generator): chooses names and templates.
    score (PairScorer | None): the mention is the other name of highest score (ANGEL, section
        3.3); None: a random one (GenBioEL).
    copies (float): share of the examples whose mention is the target itself. Not in the papers,
        whose backbones copy as they come; a small one has to learn it.
    RETURNS (Iterator[Example]): in the order of the concepts.
    """
    for chunk in chunks(concepts, 512):
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
    """Examples with typing errors in their mentions.

    Not in the papers: a model that only saw clean text takes a misspelled name for another one.

    examples (Iterable[Example]): of a corpus.
    settings (NoiseSettings): how often, how many.
    seed (int): fixes all that is chosen.
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


def nearest_wrong_names(
    mentions: Sequence[str],
    gold: Sequence[set[str]],
    names: Sequence[str],
    concept_ids_of: Callable[[int], Iterable[str]],
    tfidf: TrigramTfidf,
) -> list[str | None]:
    """The nearest name to each mention that belongs to none of its gold concepts.

    mentions (Sequence[str]): texts.
    gold (Sequence[set[str]]): the concepts of each.
    names (Sequence[str]): all names of the vocabulary, which `tfidf` was fitted on.
    concept_ids_of (Callable[[int], Iterable[str]]): concepts of the name with an index.
    tfidf (TrigramTfidf): finds the nearest names.
    RETURNS (list[str | None]): None where a concept's own names fill the neighborhood that is
        searched (33 names).
    """
    nearest, _ = tfidf.nearest(mentions, k=1 + _MAX_COMPARED)
    return [
        next((names[i] for i in row if i >= 0 and right.isdisjoint(concept_ids_of(int(i)))), None)
        for row, right in zip(nearest, gold, strict=True)
    ]


def _spliced(
    mention: str, context: str, templates: Sequence[str], rng: np.random.Generator
) -> Mention:
    template = templates[int(rng.integers(len(templates)))]
    left, right = (part.strip().format(context) for part in template.split("M"))
    return Mention(mention, left, right)


def _spelled(concept: Concept) -> dict[str, str]:
    """Normal form → how the name stands in a clause; the first spelling of a form counts."""
    spelled: dict[str, str] = {}
    for name in concept.names:
        if form := normalize_name(name):
            spelled.setdefault(form, name)
    return spelled


def _mentions_for(
    concepts: Sequence[Sequence[str]], rng: np.random.Generator, score: PairScorer | None
) -> list[dict[str, str]]:
    """For each concept: target name → the name that is the mention."""
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
    """Each training mention with its k positives (equation 3).

    data (TrainingData): mentions, vocabulary.
    settings (ExampleSettings): k and the way names are chosen.
    seed (int): of the substitutes and the noise.
    RETURNS (list[Example]): mention after mention, nearest name first; then the substitutes; noise
        as asked for.
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
    """Vocabulary examples in the sentences of the corpus in place of their clauses. A name serves
    again only when all others of its type have served.

    Not in the papers: a corpus shows a few hundred concepts; so a small model also sees names of
    the others as mentions, in text as it will be.
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
    """YIELDS (Example): every clause of the vocabulary, pass after pass."""
    settings = data.config.pretrain
    rng = np.random.default_rng(settings.positive.optimizer.seed)
    score = data.tfidf.pairwise if settings.vocabulary.mention == "nearest" else None
    copies = settings.vocabulary.copies
    for _ in range(settings.vocabulary.repeats):
        yield from vocabulary_examples(data.pretraining_concepts(), rng, score, copies)


def clause_pairs(data: TrainingData) -> Iterator[PreferencePair]:
    """Preference pairs of the second stage of pre-training: the rejected names are those of other
    concepts that are nearest to the mention (ANGEL, section 3.3).

    data (TrainingData): vocabulary, settings.
    YIELDS (PreferencePair): of evenly spaced clauses as many as `max_pairs` allows.
    """
    settings = data.config.pretrain.vocabulary
    index = {name: i for i, name in enumerate(data.names)}
    left = settings.max_pairs or sys.maxsize
    n_names = sum(len(concept.names) for concept in data.pretraining_concepts())
    every = max(1, n_names * settings.repeats // left)
    for chunk in chunks(islice(clauses(data), 0, None, every), 256):
        rejected = nearest_wrong_names(
            [example.mention.text for example in chunk],
            [set(data.kb.concept_ids_of(index[example.name])) for example in chunk],
            data.names,
            data.kb.concept_ids_of,
            data.tfidf,
        )
        pairs = [
            PreferencePair(example.mention, example.name, name)
            for example, name in zip(chunk, rejected, strict=True)
            if name is not None
        ]
        yield from pairs[:left]
        if not (left := left - len(pairs)) > 0:
            return
