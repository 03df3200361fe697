"""Entity types of mentions, from the labels of corpora and recognizers."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from ..vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE
from ..vocabulary.names.identifiers import join_ids, split_ids
from ..vocabulary.names.labels import ENTITY_TYPES, entity_type_of, is_neutral
from .documents import CorpusDocument, CorpusReport, GoldMention

READ_AS = "ids_read_as_"
"""Prefix of the counters in which `complete_ids` counts the identifiers it completes."""

_PREFIXES = {one.name: one.id_prefix for one in ENTITY_TYPE_TABLE}
_NUMBER = re.compile(r"(\d+)(?:\(tax:\d+\))?", re.ASCII | re.IGNORECASE)


def entity_type(label: str) -> str:
    """Map a label to an entity type of the shipped recognizers.

    label (str): label from a corpus or recognizer.
    RETURNS (str): the entity type, e.g. `SpecificDisease` and `T047` → `DISEASE`, `CellLine` →
        `CELL_LINE`. Unknown labels are converted to uppercase: `Plot` → `PLOT`.
    """
    return entity_type_of(label) or label.upper()


def types_left_out(found: Collection[str], labels: Collection[str]) -> frozenset[str]:
    """Return the types that a recognizer predicts but a corpus does not annotate, so that the
    predictions cannot be evaluated.

    found (Collection[str]): types of predicted mentions, from `entity_type`.
    labels (Collection[str]): all labels in the corpus.
    RETURNS (frozenset[str]): the types, e.g. `(["DISEASE", "GENE"], ["SpecificDisease"])` → `GENE`,
        without unknown types; empty if the corpus has generic labels or no known type.
    """
    marked = set(ENTITY_TYPES).intersection(map(entity_type, labels))
    if not marked or any(map(is_neutral, labels)):
        return frozenset()
    return frozenset(ENTITY_TYPES).intersection(found) - marked


def complete_ids(
    documents: Iterable[CorpusDocument],
    resolve: Callable[[str], str | None],
    report: CorpusReport | None = None,
) -> Iterator[CorpusDocument]:
    """Complete numeric identifiers according to their labels: `6331` of a `Gene` becomes
    `NCBIGene:6331`, and `9606` of a `Species` becomes `NCBITaxon:9606`.

    documents (Iterable[CorpusDocument]): documents with gold mentions.
    resolve (Callable[[str], str | None]): function that looks up an identifier in the vocabulary.
        Identifiers that the vocabulary contains without a prefix are kept.
    report (CorpusReport | None): report in which completed identifiers are counted by vocabulary,
        e.g. as `ids_read_as_NCBIGene`.
    RETURNS (Iterator[CorpusDocument]): the documents, in the same order.
    """
    report = report if report is not None else CorpusReport()
    for document in documents:
        mentions = tuple(_completed(mention, resolve, report) for mention in document.mentions)
        yield document if mentions == document.mentions else replace(document, mentions=mentions)


def _completed(
    mention: GoldMention, resolve: Callable[[str], str | None], report: CorpusReport
) -> GoldMention:
    space = _PREFIXES.get(entity_type(mention.label))
    if not space:
        return mention
    ids = []
    for concept_id in split_ids(mention.concept_ids):
        number = _NUMBER.fullmatch(concept_id)
        if number is None or resolve(concept_id) is not None:
            ids.append(concept_id)
        else:
            ids.append(f"{space}:{number[1]}")
            report.count(f"{READ_AS}{space}")
    return replace(mention, concept_ids=join_ids(ids, mention.concept_ids))
