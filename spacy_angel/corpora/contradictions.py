"""Where a corpus contradicts itself: one string, several identifiers."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from ..vocabulary.names.concepts import normalize_name
from .documents import CorpusDocument


@dataclass(frozen=True, slots=True)
class Reading:
    """What a string was given.

    concept_ids (str): identifiers in normal form; empty: none. mentions (int): how often.
    documents (tuple[str, ...]): where, the first ones.
    """

    concept_ids: str
    mentions: int
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A string that was not always given the same.

    string (str): in normal form. label (str): of all these mentions.
    readings (tuple[Reading, ...]): at least two, the most frequent first.
    in_one_document (tuple[str, ...]): documents that give it several by themselves.
    """

    string: str
    label: str
    readings: tuple[Reading, ...]
    in_one_document: tuple[str, ...]

    @property
    def in_doubt(self) -> int:
        """RETURNS (int): mentions that have not the most frequent reading."""
        return sum(reading.mentions for reading in self.readings[1:])


_SHOWN = 3


def find_contradictions(documents: Iterable[CorpusDocument]) -> list[Contradiction]:
    """documents (Iterable[CorpusDocument]): with gold mentions. RETURNS (list[Contradiction]):
    those within one document first, then by how many mentions are in doubt. Strings are compared
    as names are, mentions with one label: `cold` the disease is no contradiction to `cold` the
    temperature. The order of a composite's identifiers does not count."""
    counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    places: defaultdict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)
    within: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for document in documents:
        here: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for mention in document.mentions:
            key = normalize_name(mention.text), mention.label
            if not key[0]:
                continue
            ids = "|".join(sorted(mention.concept_ids.replace("+", "|").split("|")))
            counts[key][ids] += 1
            here[key].add(ids)
            some = places[(*key, ids)]
            if len(some) < _SHOWN:
                some[document.doc_id] = None
        for key, several in here.items():
            if len(several) > 1:
                within[key][document.doc_id] = None
    found = [
        Contradiction(
            *key,
            tuple(Reading(ids, n, tuple(places[(*key, ids)])) for ids, n in count.most_common()),
            tuple(within[key]),
        )
        for key, count in counts.items()
        if len(count) > 1
    ]
    return sorted(found, key=lambda one: (-len(one.in_one_document), -one.in_doubt, one.string))
