"""The counts of BELB and HunFlair2, and sets of identifiers per document.

Where mentions have types, only those types count that the corpus annotates. Figures are in percent.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..corpora.entity_types import entity_type
from ..errors import AngelError, unknown_name
from .counts import Outcome, f_score, percent, precision_recall_f

PROTOCOLS = ("belb", "hunflair2", "document")
"""`belb` needs gold mentions; with `hunflair2` the pipeline finds the mentions itself."""


class LinkedSpan(NamedTuple):
    """A mention and its identifiers.

    start (int), end (int): character offsets in the document.
    label (str): its label in the corpus or from the recognizer.
    ids (tuple[str, ...]): canonical identifiers; several for a gold composite.
    """

    start: int
    end: int
    label: str
    ids: tuple[str, ...]


def check_protocols(names: Collection[str], *, predicted: bool) -> None:
    """names (Collection[str]): protocols to count by. predicted (bool): the pipeline finds the
    mentions itself. RAISES (AngelError): a name is unknown, or `belb` goes with `predicted`."""
    if unknown := sorted(set(names).difference(PROTOCOLS)):
        raise AngelError(unknown_name("protocol", unknown[0], ", ".join(PROTOCOLS)))
    if predicted and "belb" in names:
        raise AngelError(
            "The protocol belb needs gold mentions. Leave out --predicted, or the protocol."
        )


def belb_figures(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """BELB (Garda et al. 2023): recall at 1 over all gold mentions with an identifier, including
    those that the vocabulary lacks.

    outcomes (Iterable[Outcome]): all gold mentions.
    RETURNS (dict[str, float]): `mentions`; `strict`: exactly one identifier is predicted, and it is
        a gold one; `lenient`: any identifier of the predicted name is.
    """
    counted = [outcome for outcome in outcomes if outcome.gold]
    return {
        "mentions": len(counted),
        "strict": percent([outcome.kb_id_is_right for outcome in counted] or [0]),
        "lenient": percent([outcome.lenient_rank == 1 for outcome in counted] or [0]),
    }


LinkCounts = Counter[str]
"""`hits` and `wrong`: predicted links that are right and wrong; `missed`: gold mentions, or
identifiers, without a right link."""


def link_figures(counts: LinkCounts) -> dict[str, float]:
    """counts (LinkCounts): of links. RETURNS (dict[str, float]): the counts, `precision`, `recall`
    and `f`."""
    hits, wrong, missed = counts["hits"], counts["wrong"], counts["missed"]
    rates = precision_recall_f(hits, hits + wrong, hits + missed)
    return {"hits": hits, "wrong": wrong, "missed": missed, **rates}


def hunflair2_counts(gold: Sequence[LinkedSpan], links: Sequence[LinkedSpan]) -> LinkCounts:
    """HunFlair2's cross-corpus count (Sänger et al. 2024) of one document and one type.

    A span is right if it differs from the gold one by at most one character at one end; a link is
    right if any of its identifiers is a gold one. Gold mentions without an identifier are neither
    hit nor miss, nor is a link on one of them. As in the authors' script, hits are counted on the
    predicted side and misses on the gold side, and two links may hit one mention.

    gold (Sequence[LinkedSpan]): gold mentions. links (Sequence[LinkedSpan]): predicted ones, each
        with an identifier.
    RETURNS (LinkCounts): e.g. for gold (0, 5, D1) and links (0, 6, D1), (9, 12, D2) one hit, one
        wrong.
    """
    gold_ids, link_ids = _by_characters(gold), _by_characters(links)
    counts: LinkCounts = Counter()
    for span, predicted in link_ids.items():
        ids = _nearest(gold_ids, span)
        if ids is None or (ids and ids.isdisjoint(predicted)):
            counts["wrong"] += 1
        elif ids:
            counts["hits"] += 1
    for span, ids in gold_ids.items():
        if ids and ids.isdisjoint(_nearest(link_ids, span) or ()):
            counts["missed"] += 1
    return counts


def _by_characters(spans: Iterable[LinkedSpan]) -> dict[tuple[int, int], set[str]]:
    """Identifiers by offsets; mentions on the same characters are merged."""
    ids: dict[tuple[int, int], set[str]] = {}
    for span in spans:
        ids.setdefault((span.start, span.end), set()).update(span.ids)
    return ids


def _nearest(spans: Mapping[tuple[int, int], set[str]], span: tuple[int, int]) -> set[str] | None:
    """Identifiers on the same characters, else on those with one more or less at one end."""
    start, end = span
    moved = ((start, end), (start + 1, end), (start - 1, end), (start, end + 1), (start, end - 1))
    return next((spans[key] for key in moved if key in spans), None)


def document_figures(documents: Iterable[tuple[set[str], set[str]]]) -> dict[str, Any]:
    """Figures of sets of identifiers.

    documents (Iterable[tuple[set[str], set[str]]]): gold and predicted identifiers of each.
    RETURNS (dict[str, Any]): `micro` over all identifiers of all documents; `averaged`, the means
        of precision and recall over the `documents` with gold identifiers, and the F-score of these
        means, as HunFlair2 and AIONER with BELHD have it (no prediction: precision 0).
    """
    counts: LinkCounts = Counter()
    rates = []
    for gold, predicted in documents:
        n_right = len(gold & predicted)
        counts["hits"] += n_right
        counts["wrong"] += len(predicted) - n_right
        counts["missed"] += len(gold) - n_right
        if gold:
            rates.append((n_right / max(len(predicted), 1), n_right / len(gold)))
    precision = percent([one for one, _ in rates] or [0])
    recall = percent([one for _, one in rates] or [0])
    averaged = {"precision": precision, "recall": recall, "f": f_score(precision, recall)}
    return {"micro": link_figures(counts), "averaged": averaged, "documents": len(rates)}


class ProtocolTally:
    """Collects mentions document by document and counts them by protocols.

    names (Collection[str]): of `PROTOCOLS`.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        # By type: the gold mentions and the links of each document.
        self._documents: list[dict[str, tuple[list[LinkedSpan], list[LinkedSpan]]]] = []

    def add(self, gold: Iterable[LinkedSpan], links: Iterable[LinkedSpan]) -> None:
        """gold (Iterable[LinkedSpan]): gold mentions of one document. links
        (Iterable[LinkedSpan]): its predicted mentions with identifiers."""
        by_type: dict[str, tuple[list[LinkedSpan], list[LinkedSpan]]] = {}
        for side, spans in enumerate((gold, links)):
            for span in spans:
                by_type.setdefault(entity_type(span.label), ([], []))[side].append(span)
        self._documents.append(by_type)

    def figures(self, outcomes: Iterable[Outcome]) -> dict[str, dict[str, Any]]:
        """All figures.

        outcomes (Iterable[Outcome]): all gold mentions.
        RETURNS (dict[str, dict[str, Any]]): by protocol: see `belb_figures`, `link_figures`,
            `document_figures`; of the latter two also by type, in `types`.
        RAISES (AngelError): the corpus has none of the predicted types.
        """
        gold_types, link_types = (
            {kind for by_type in self._documents for kind, spans in by_type.items() if spans[side]}
            for side in (0, 1)
        )
        if link_types and not link_types & gold_types:
            raise AngelError(
                f"The pipeline finds {', '.join(sorted(link_types))}, but the corpus has mentions "
                f"of {', '.join(sorted(gold_types))}."
            )
        figures: dict[str, dict[str, Any]] = {}
        types = sorted(gold_types)
        if "belb" in self._names:
            figures["belb"] = belb_figures(outcomes)
        if "hunflair2" in self._names:
            counts = {kind: self._hunflair2(kind) for kind in types}
            figures["hunflair2"] = {
                **link_figures(sum(counts.values(), Counter())),
                "types": {kind: link_figures(own) for kind, own in counts.items()},
            }
        if "document" in self._names:
            figures["document"] = {
                **document_figures(self._id_sets(types)),
                "types": {kind: document_figures(self._id_sets([kind])) for kind in types},
            }
        return figures

    def _hunflair2(self, kind: str) -> LinkCounts:
        counts = (hunflair2_counts(*by_type.get(kind, ([], []))) for by_type in self._documents)
        return sum(counts, Counter())

    def _id_sets(self, types: Sequence[str]) -> Iterable[tuple[set[str], set[str]]]:
        for by_type in self._documents:
            gold, links = (
                {i for kind in types if kind in by_type for s in by_type[kind][side] for i in s.ids}
                for side in (0, 1)
            )
            yield gold, links
