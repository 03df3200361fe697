"""Entity types of mentions, whatever a corpus or a recogniser calls them, and what they tell."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from ..vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE
from ..vocabulary.names.identifiers import join_ids, split_ids
from ..vocabulary.names.labels import ENTITY_TYPES, entity_type_of, is_neutral
from .documents import CorpusDocument, CorpusReport, GoldMention

READ_AS = "ids_read_as_"
"""How the names begin under which a report counts what `complete_ids` does."""

_PREFIXES = {one.name: one.id_prefix for one in ENTITY_TYPE_TABLE}
_NUMBER = re.compile(r"(\d+)(?:\(tax:\d+\))?", re.ASCII | re.IGNORECASE)


def entity_type(label: str) -> str:
    """The type that a label stands for, under the name that the shipped recognisers give it.

    label (str): of a corpus or a recogniser.
    RETURNS (str): e.g. `SpecificDisease` and `T047` → `DISEASE`, `CellLine` → `CELL_LINE`; a label
        that is in no table, in capitals: `Plot` → `PLOT`.
    """
    return entity_type_of(label) or label.upper()


def types_left_out(found: Collection[str], labels: Collection[str]) -> frozenset[str]:
    """Types that a recogniser finds and a corpus does not mark: it cannot tell whether they are
    right.

    found (Collection[str]): types of what was found, from `entity_type`.
    labels (Collection[str]): all labels of the corpus.
    RETURNS (frozenset[str]): e.g. `(["DISEASE", "GENE"], ["SpecificDisease"])` → `GENE`. A type
        that is in no table stays in, and so does each where the corpus has mentions that may be
        anything, or none of a known type.
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
    """Numbers as identifiers of the space that their label tells: a `Gene` 6331 is `NCBIGene:6331`,
    a `Species` 9606 `NCBITaxon:9606`.

    documents (Iterable[CorpusDocument]): with gold mentions.
    resolve (Callable[[str], str | None]): of the vocabulary; a number that it knows as it stands
        stays, e.g. in a table of one's own.
    report (CorpusReport | None): gets the identifiers of each space as `ids_read_as_NCBIGene` and
        so on.
    RETURNS (Iterator[CorpusDocument]): in the same order.
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
