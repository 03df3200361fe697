"""Preference pairs from predictions, by the rule of the paper and its ablations (ANGEL, section 3.2
and table 2)."""

import json
from collections.abc import Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from ...errors import AngelError
from ...files.atomic import write_text
from ...files.faults import FileReading
from ...files.json_values import parse_as
from ...files.reading import numbered_lines
from ...model.mention import Mention
from ...search.generator import Generator
from ...vocabulary.kb import ConceptKB
from ...vocabulary.lookup.tfidf import TrigramTfidf
from ..settings.config_tables import PairSettings
from .batches import PreferencePair
from .corpus import gold_names
from .development import LabelledMention, predict
from .examples import nearest_names


def rank_pairs(
    right: Sequence[bool], rule: Literal["above", "errors", "all"] = "above"
) -> list[tuple[int, int]]:
    """Which ranks of a prediction are paired.

    `above`: each right name with each wrong one ranked above it; and where rank 0 is right, it
    with the highest-ranked wrong one, so that what is right stays so. `errors`: the former only,
    for a model that knows its training mentions by heart. `all`: each right name with each wrong
    one.

        right                        above                         errors  all
        [no, no, yes, no, yes]       (2,0) (2,1) (4,0) (4,1) (4,3) same    + (2,3)
        [yes, no, yes, no, no]       (0,1) (2,1)                   (2,1)   + (0,3) (0,4) (2,3) (2,4)

    right (Sequence[bool]): whether the name at each rank is right, best rank first.
    rule (str): see above.
    RETURNS (list[tuple[int, int]]): (rank of the chosen, rank of the rejected), sorted.
    """
    pairs = [
        (chosen, rejected)
        for chosen, is_right in enumerate(right)
        for rejected, is_right_too in enumerate(right)
        if is_right and not is_right_too
    ]
    if rule == "all":
        return pairs
    first_wrong = next((rank for rank, is_right in enumerate(right) if not is_right), None)
    return [
        (chosen, rejected)
        for chosen, rejected in pairs
        if rejected < chosen or (rule == "above" and chosen == 0 and rejected == first_wrong)
    ]


def mine_pairs(
    mentions: Sequence[LabelledMention],
    generator: Generator,
    kb: ConceptKB,
    tfidf: TrigramTfidf,
    settings: PairSettings,
) -> list[PreferencePair]:
    """Predict names for every mention, and make pairs of right and wrong ones.

    mentions (Sequence[LabelledMention]): mentions of the training set.
    generator (Generator): the current model.
    kb (ConceptKB): the vocabulary.
    tfidf (TrigramTfidf): fitted on the names of the vocabulary, by index.
    settings (PairSettings): how pairs are made.
    RETURNS (list[PreferencePair]): mention by mention.
    """
    if settings.distinct:
        # Keep the first of all mentions with the same string and concepts.
        keys = [(labelled.mention.text.lower(), labelled.concept_ids) for labelled in mentions]
        first = dict(zip(reversed(keys), reversed(mentions), strict=True))
        mentions = [first[key] for key in dict.fromkeys(keys)]
    texts = [labelled.mention.text for labelled in mentions]
    names_of = cache(partial(gold_names, kb=kb))
    options = [names_of(labelled.concept_ids) for labelled in mentions]
    positives = nearest_names(texts, options, 1, tfidf.pairwise)
    pairs: list[tuple[Mention, str, str]] = []
    predictions = predict(
        [labelled.mention for labelled in mentions],
        generator,
        kb,
        settings.search,
        settings.top_k,
    )
    for labelled, positive, predicted in zip(mentions, positives, predictions, strict=True):
        gold, mention = set(labelled.concept_ids), labelled.mention
        names = kb.name_texts(predicted)
        right = [not gold.isdisjoint(ids) for ids in kb.concept_ids(predicted)]
        if any(right):
            ranks = rank_pairs(right, settings.rule)
            pairs += [(mention, names[chosen], names[rejected]) for chosen, rejected in ranks]
        elif settings.without_right == "positive":
            # The most similar name of the gold concepts is paired with every prediction.
            pairs += [(mention, name, wrong) for name in positive for wrong in names]
    return [PreferencePair(*pair) for pair in pairs]


def write_pairs(path: Path, pairs: Iterable[PreferencePair]) -> None:
    """Write pairs as JSONL: `mention`, with its `text`, `left`, and `right`; `chosen`; and
    `rejected`. Empty fields are left out.

    path (Path): file, written atomically.
    pairs (Iterable[PreferencePair]): in the order of the file.
    """

    rows = TypeAdapter(list[PreferencePair]).dump_python([*pairs], exclude_defaults=True)
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def read_pairs(path: Path) -> list[PreferencePair]:
    """Read pairs written by `write_pairs`.

    path (Path): JSONL.
    RETURNS (list[PreferencePair]): in the order of the file.
    RAISES (AngelError): a line is not a pair; the message names it.
    """
    pairs = []
    for number, line in numbered_lines(path, FileReading(str(path))):
        try:
            pairs.append(parse_as(line, PreferencePair))
        except ValueError as error:
            raise AngelError(f"{path}, line {number}: not a preference pair: {error}.") from error
    return pairs
