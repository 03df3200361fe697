"""The evaluation protocols of BELB and HunFlair2, and evaluation at the document level.

If mentions have types, only types annotated in the corpus are evaluated. Metrics are in percent.
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
"""`belb` requires gold mentions; `hunflair2` requires a pipeline that finds the mentions."""


class LinkedSpan(NamedTuple):
    """A mention and its identifiers.

    start (int), end (int): character offsets in the document.
    label (str): label in the corpus, or predicted by the recognizer.
    ids (tuple[str, ...]): canonical identifiers; several for a gold composite.
    """

    start: int
    end: int
    label: str
    ids: tuple[str, ...]


SpanPair = tuple[Sequence[LinkedSpan], Sequence[LinkedSpan]]
"""The gold mentions of a document, and the predicted mentions with an identifier."""


def check_protocols(names: Collection[str], *, predicted: bool) -> None:
    """Check that the protocols exist and can be used.

    names (Collection[str]): names of the protocols.
    predicted (bool): whether the pipeline finds the mentions itself.
    RAISES (AngelError): if a name is unknown, or `belb` is combined with `predicted`.
    """
    if unknown := sorted(set(names).difference(PROTOCOLS)):
        raise AngelError(unknown_name("protocol", unknown[0], ", ".join(PROTOCOLS)))
    if predicted and "belb" in names:
        raise AngelError(
            "The protocol belb needs gold mentions. Leave out --predicted, or the protocol."
        )


def belb_figures(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Compute the metrics of BELB (Garda et al., 2023): recall at 1 over all gold mentions with an
    identifier, including those whose concept is not in the vocabulary.

    outcomes (Iterable[Outcome]): all gold mentions.
    RETURNS (dict[str, float]): `mentions`; `strict` recall, where exactly one identifier must be
        predicted and be a gold identifier; and `lenient` recall, where any identifier of the
        predicted name must be a gold identifier.
    """
    counted = [outcome for outcome in outcomes if outcome.gold]
    return {
        "mentions": len(counted),
        "strict": percent([outcome.kb_id_is_right for outcome in counted] or [0]),
        "lenient": percent([outcome.lenient_rank == 1 for outcome in counted] or [0]),
    }


def link_figures(score: PRFScore) -> dict[str, float]:
    """Convert counts of links to a dictionary.

    score (PRFScore): counts of links.
    RETURNS (dict[str, float]): `hits`; `wrong` (predicted links that are incorrect); `missed` (gold
        mentions or identifiers without a correct link); `precision`, `recall`, and `f`.
    """
    return {"hits": score.tp, "wrong": score.fp, "missed": score.fn, **rates(score)}


def hunflair2_counts(gold: Sequence[LinkedSpan], links: Sequence[LinkedSpan]) -> PRFScore:
    """Count correct links in one document for one type, as in HunFlair2's cross-corpus evaluation
    (Sänger et al., 2024).

    A predicted span may differ from the gold span by one character at one end. A link is correct if
    any of its identifiers is a gold identifier. Gold mentions without an identifier, and links for
    them, are ignored. As in the authors' script, hits are counted over predicted links and misses
    over gold mentions, so two links may match the same mention.

    gold (Sequence[LinkedSpan]): gold mentions.
    links (Sequence[LinkedSpan]): predicted mentions, each with an identifier.
    RETURNS (PRFScore): the counts, e.g. one true positive and one false positive for the gold
        mention (0, 5, D1) and the links (0, 6, D1) and (9, 12, D2).
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
    """Group identifiers by offsets; mentions with the same offsets are merged."""
    ids: dict[tuple[int, int], set[str]] = {}
    for span in spans:
        ids.setdefault((span.start, span.end), set()).update(span.ids)
    return ids


def _nearest(spans: Mapping[tuple[int, int], set[str]], span: tuple[int, int]) -> set[str] | None:
    """Find identifiers at the same offsets, or else where one offset differs by 1."""
    start, end = span
    moved = ((start, end), (start + 1, end), (start - 1, end), (start, end + 1), (start, end - 1))
    return next((spans[key] for key in moved if key in spans), None)


def document_figures(documents: Iterable[SpanPair]) -> dict[str, Any]:
    """Evaluate the sets of identifiers of documents.

    documents (Iterable[SpanPair]): all documents.
    RETURNS (dict[str, Any]): `micro`, computed over all identifiers of all documents; `averaged`,
        the mean precision and mean recall over documents with gold identifiers, and the F-score of
        these means, as for HunFlair2 and for AIONER with BELHD (precision is 0 without
        predictions); and the number of these `documents`.
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
    """Compute the metrics of evaluation protocols.

    names (Collection[str]): names from `PROTOCOLS`.
    documents (Sequence[SpanPair]): all documents.
    outcomes (Iterable[Outcome]): all gold mentions.
    RETURNS (dict[str, dict[str, Any]]): the metrics of each protocol, see `belb_figures`,
        `link_figures`, and `document_figures`. The latter two are also computed for each type, in
        `types`.
    RAISES (AngelError): if the corpus contains none of the predicted types.
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
