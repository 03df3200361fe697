"""How the field counts: BELB, HunFlair2, sets of identifiers a document. Pure rules.

Where mentions have types, only those types count that the corpus annotates: a recogniser that also
finds genes is not wrong about a corpus of diseases. Every figure is in per cent.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..corpora.entity_types import entity_type
from ..errors import AngelError, unknown_name
from .counts import Outcome, precision_recall_f

PROTOCOLS = ("belb", "hunflair2", "document")
"""What `evaluate` can count besides; `belb` needs the gold mentions, `hunflair2` finds its own."""


class LinkedSpan(NamedTuple):
    """A mention and its identifiers.

    start (int), end (int): character offsets in the document.
    label (str): its label in the corpus or from the recogniser.
    ids (tuple[str, ...]): canonical identifiers; of a gold composite several, without any none.
    """

    start: int
    end: int
    label: str
    ids: tuple[str, ...]


def check_protocols(names: Collection[str], *, predicted: bool) -> None:
    """names (Collection[str]): what is asked for. predicted (bool): the pipeline finds the mentions
    itself. RAISES (AngelError): there is no such protocol, or it counts gold mentions."""
    if unknown := sorted(set(names).difference(PROTOCOLS)):
        raise AngelError(unknown_name("protocol", unknown[0], ", ".join(PROTOCOLS)))
    if predicted and "belb" in names:
        raise AngelError(
            "The protocol belb needs gold mentions. Leave out --predicted, or the protocol."
        )


def belb_figures(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """BELB (Garda et al. 2023): recall at 1 over all gold mentions with an identifier, those
    included that the vocabulary lacks.

    outcomes (Iterable[Outcome]): all gold mentions.
    RETURNS (dict[str, float]): `mentions`; `strict`, exactly one identifier is predicted, and it is
        a gold one; `lenient`, any identifier of the predicted name is.
    """
    counted = [outcome for outcome in outcomes if outcome.gold]
    n = max(len(counted), 1)
    return {
        "mentions": len(counted),
        "strict": 100 * sum(outcome.kb_id_is_right for outcome in counted) / n,
        "lenient": 100 * sum(outcome.lenient_rank == 1 for outcome in counted) / n,
    }


@dataclass
class LinkCounts:
    """Hits and misses of links.

    hits (int): predicted links that are right.
    wrong (int): the others.
    missed (int): gold mentions, or identifiers, that no predicted one is right for.
    """

    hits: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, other: "LinkCounts") -> None:
        """other (LinkCounts): of another document or type."""
        self.hits += other.hits
        self.wrong += other.wrong
        self.missed += other.missed

    def to_dict(self) -> dict[str, float]:
        """RETURNS (dict[str, float]): the counts, `precision`, `recall` and `f`."""
        rates = precision_recall_f(self.hits, self.hits + self.wrong, self.hits + self.missed)
        return {"hits": self.hits, "wrong": self.wrong, "missed": self.missed, **rates}


def hunflair2_counts(gold: Sequence[LinkedSpan], links: Sequence[LinkedSpan]) -> LinkCounts:
    """HunFlair2's cross-corpus count (Sänger et al. 2024) of one document and one type.

    A span is right if it is the gold one, or differs from it by one character at one end; a link is
    right if any of its identifiers is among the gold ones. Gold mentions without identifier are
    neither hit nor miss, and neither is a link on one of them. As in the authors' script, hits are
    counted on the predicted side and misses on the gold side, and two links may hit one mention.

    gold (Sequence[LinkedSpan]): gold mentions. links (Sequence[LinkedSpan]): what was predicted,
        each with an identifier.
    RETURNS (LinkCounts): e.g. of gold (0, 5, D1) and links (0, 6, D1), (9, 12, D2) one hit, one
        wrong.
    """
    gold_ids = _by_characters(gold)
    link_ids = _by_characters(links)
    counts = LinkCounts()
    for span in link_ids:
        ids = _nearest(gold_ids, span)
        if ids is None or (ids and ids.isdisjoint(link_ids[span])):
            counts.wrong += 1
        elif ids:
            counts.hits += 1
    for span, ids in gold_ids.items():
        if ids and ids.isdisjoint(_nearest(link_ids, span) or ()):
            counts.missed += 1
    return counts


def _by_characters(spans: Iterable[LinkedSpan]) -> dict[tuple[int, int], set[str]]:
    """Mentions on the same characters become one with the identifiers of all."""
    ids: dict[tuple[int, int], set[str]] = {}
    for span in spans:
        ids.setdefault((span.start, span.end), set()).update(span.ids)
    return ids


def near(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """one (tuple[int, int]), other (tuple[int, int]): characters. RETURNS (bool): whether they are
    the same, but for one at one end."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1]) <= 1


def _nearest(spans: Mapping[tuple[int, int], set[str]], span: tuple[int, int]) -> set[str] | None:
    """Identifiers on the same characters, else on those with one more or less at one end."""
    start, end = span
    moved = ((start, end), (start + 1, end), (start - 1, end), (start, end + 1), (start, end - 1))
    return next((spans[key] for key in moved if key in spans), None)


@dataclass
class DocumentSets:
    """Sets of identifiers, document by document.

    counts (LinkCounts): of all documents together.
    precision (float), recall (float): sums over the documents with gold identifiers.
    documents (int): these.
    """

    counts: LinkCounts = field(default_factory=LinkCounts)
    precision: float = 0.0
    recall: float = 0.0
    documents: int = 0

    def add(self, gold: Collection[str], predicted: Collection[str]) -> None:
        """gold (Collection[str]), predicted (Collection[str]): identifiers of one document."""
        n_right = len(set(gold) & set(predicted))
        self.counts.hits += n_right
        self.counts.wrong += len(predicted) - n_right
        self.counts.missed += len(gold) - n_right
        if gold:
            self.documents += 1
            self.recall += n_right / len(gold)
            self.precision += n_right / len(predicted) if predicted else 0.0

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): `micro` over all identifiers of all documents; `averaged`, the
        means of precision and recall over the `documents` with gold identifiers, and the F of these
        means, as HunFlair2 and AIONER with BELHD have it (no prediction: precision 0)."""
        n = max(self.documents, 1)
        precision, recall = 100 * self.precision / n, 100 * self.recall / n
        total = precision + recall
        return {
            "micro": self.counts.to_dict(),
            "averaged": {
                "precision": precision,
                "recall": recall,
                "f": 2 * precision * recall / total if total else 0.0,
            },
            "documents": self.documents,
        }


class ProtocolTally:
    """What the protocols count, document by document.

    names (Collection[str]): of `PROTOCOLS`.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._counts: dict[str, LinkCounts] = {}
        # Types of the corpus are known at the end; identifiers of a document are few.
        self._sets: list[dict[str, tuple[set[str], set[str]]]] = []
        self._gold_types: set[str] = set()
        self._link_types: set[str] = set()

    def add(self, gold: Sequence[LinkedSpan], links: Sequence[LinkedSpan]) -> None:
        """gold (Sequence[LinkedSpan]): gold mentions of one document. links
        (Sequence[LinkedSpan]): what was predicted for it."""
        by_type: dict[str, tuple[list[LinkedSpan], list[LinkedSpan]]] = {}
        for side, spans in enumerate((gold, links)):
            for span in spans:
                by_type.setdefault(entity_type(span.label), ([], []))[side].append(span)
        self._gold_types.update(kind for kind, (gold, _) in by_type.items() if gold)
        self._link_types.update(kind for kind, (_, links) in by_type.items() if links)
        if "hunflair2" in self._names:
            for kind, sides in by_type.items():
                self._counts.setdefault(kind, LinkCounts()).add(hunflair2_counts(*sides))
        if "document" in self._names:
            self._sets.append(
                {kind: (_all_ids(sides[0]), _all_ids(sides[1])) for kind, sides in by_type.items()}
            )

    def figures(self, outcomes: Iterable[Outcome]) -> dict[str, dict[str, Any]]:
        """All figures.

        outcomes (Iterable[Outcome]): all gold mentions.
        RETURNS (dict[str, dict[str, Any]]): by protocol: see `belb_figures`, `LinkCounts.to_dict`,
            `DocumentSets.to_dict`; of the latter two also by type, in `types`.
        RAISES (AngelError): what was predicted has no type of the corpus.
        """
        if self._link_types and not self._link_types & self._gold_types:
            raise AngelError(
                f"The pipeline finds {', '.join(sorted(self._link_types))}, but the corpus has "
                f"mentions of {', '.join(sorted(self._gold_types))}."
            )
        figures: dict[str, dict[str, Any]] = {}
        types = sorted(self._gold_types)
        if "belb" in self._names:
            figures["belb"] = belb_figures(outcomes)
        if "hunflair2" in self._names:
            total = LinkCounts()
            for kind in types:
                total.add(self._counts[kind])
            by_type = {kind: self._counts[kind].to_dict() for kind in types}
            figures["hunflair2"] = {**total.to_dict(), "types": by_type}
        if "document" in self._names:
            figures["document"] = {
                **self._document_sets(types).to_dict(),
                "types": {kind: self._document_sets([kind]).to_dict() for kind in types},
            }
        return figures

    def _document_sets(self, types: Sequence[str]) -> DocumentSets:
        sets = DocumentSets()
        for by_type in self._sets:
            sides = [by_type[kind] for kind in types if kind in by_type]
            sets.add(set().union(*(s[0] for s in sides)), set().union(*(s[1] for s in sides)))
        return sets


def _all_ids(spans: Iterable[LinkedSpan]) -> set[str]:
    return {concept_id for span in spans for concept_id in span.ids}
