"""The counts of BELB and HunFlair2, and sets of identifiers per document.

Where mentions have types, only those types count that the corpus annotates. Figures are in percent.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import starmap
from statistics import harmonic_mean
from typing import Any, NamedTuple

from spacy.scorer import PRFScore

from ..corpora.entity_types import entity_type
from ..errors import AngelError, unknown_name
from .counts import Outcome, percent, rates

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


SpanPair = tuple[Sequence[LinkedSpan], Sequence[LinkedSpan]]
"""The gold mentions of a document, and its predicted mentions with identifiers."""


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


def link_figures(score: PRFScore) -> dict[str, float]:
    """score (PRFScore): of links. RETURNS (dict[str, float]): `hits`, `wrong` (predicted links),
    `missed` (gold mentions, or identifiers, without a right link), `precision`, `recall`, `f`."""
    return {"hits": score.tp, "wrong": score.fp, "missed": score.fn, **rates(score)}


def hunflair2_counts(gold: Sequence[LinkedSpan], links: Sequence[LinkedSpan]) -> PRFScore:
    """HunFlair2's cross-corpus count (Sänger et al. 2024) of one document and one type.

    A span is right if it differs from the gold one by at most one character at one end; a link is
    right if any of its identifiers is a gold one. Gold mentions without an identifier are neither
    hit nor miss, nor is a link on one of them. As in the authors' script, hits are counted on the
    predicted side and misses on the gold side, and two links may hit one mention.

    gold (Sequence[LinkedSpan]): gold mentions. links (Sequence[LinkedSpan]): predicted ones, each
        with an identifier.
    RETURNS (PRFScore): e.g. for gold (0, 5, D1) and links (0, 6, D1), (9, 12, D2) one hit, one
        wrong.
    """
    gold_ids, link_ids = _by_characters(gold), _by_characters(links)
    score = PRFScore()
    for span, predicted in link_ids.items():
        ids = _nearest(gold_ids, span)
        if ids is None or (ids and ids.isdisjoint(predicted)):
            score.fp += 1
        elif ids:
            score.tp += 1
    for span, ids in gold_ids.items():
        if ids and ids.isdisjoint(_nearest(link_ids, span) or ()):
            score.fn += 1
    return score


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


def document_figures(documents: Iterable[SpanPair]) -> dict[str, Any]:
    """Figures of the sets of identifiers of documents.

    documents (Iterable[SpanPair]): all documents.
    RETURNS (dict[str, Any]): `micro` over all identifiers of all documents; `averaged`, the means
        of precision and recall over the `documents` with gold identifiers, and the F-score of these
        means, as HunFlair2 and AIONER with BELHD have it (no prediction: precision 0).
    """
    micro = PRFScore()
    means = []
    for document in documents:
        gold, predicted = ({i for span in spans for i in span.ids} for spans in document)
        own = PRFScore()
        own.score_set(predicted, gold)
        micro += own
        if gold:
            means.append((own.precision, own.recall))
    precision, recall = (percent(column) for column in zip(*means or [(0, 0)], strict=True))
    averaged = {"precision": precision, "recall": recall, "f": harmonic_mean((precision, recall))}
    return {"micro": link_figures(micro), "averaged": averaged, "documents": len(means)}


def protocol_figures(
    names: Collection[str], documents: Sequence[SpanPair], outcomes: Iterable[Outcome]
) -> dict[str, dict[str, Any]]:
    """Count the documents of a corpus by protocols.

    names (Collection[str]): of `PROTOCOLS`.
    documents (Sequence[SpanPair]): all documents.
    outcomes (Iterable[Outcome]): all gold mentions.
    RETURNS (dict[str, dict[str, Any]]): by protocol: see `belb_figures`, `link_figures`,
        `document_figures`; of the latter two also by type, in `types`.
    RAISES (AngelError): the corpus has none of the predicted types.
    """
    gold_types, link_types = (
        {entity_type(span.label) for document in documents for span in document[side]}
        for side in (0, 1)
    )
    if link_types and not link_types & gold_types:
        raise AngelError(
            f"The pipeline finds {', '.join(sorted(link_types))}, but the corpus has mentions "
            f"of {', '.join(sorted(gold_types))}."
        )
    by_type = {kind: _with_types(documents, {kind}) for kind in sorted(gold_types)}
    figures: dict[str, dict[str, Any]] = {}
    if "belb" in names:
        figures["belb"] = belb_figures(outcomes)
    if "hunflair2" in names:
        scores = {
            kind: sum(starmap(hunflair2_counts, own), PRFScore()) for kind, own in by_type.items()
        }
        figures["hunflair2"] = {
            **link_figures(sum(scores.values(), PRFScore())),
            "types": {kind: link_figures(own) for kind, own in scores.items()},
        }
    if "document" in names:
        figures["document"] = {
            **document_figures(_with_types(documents, gold_types)),
            "types": {kind: document_figures(own) for kind, own in by_type.items()},
        }
    return figures


def _with_types(documents: Iterable[SpanPair], types: Collection[str]) -> list[SpanPair]:
    def chosen(spans: Sequence[LinkedSpan]) -> list[LinkedSpan]:
        return [span for span in spans if entity_type(span.label) in types]

    return [(chosen(gold), chosen(links)) for gold, links in documents]
