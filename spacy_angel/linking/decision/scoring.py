"""The component's scorer, which compares the links of predicted and gold documents."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import PRFScore
from spacy.tokens import Span
from spacy.training import Example

from ...vocabulary.names.identifiers import split_ids
from ..mentions.reading import find_spans
from ..types import NIL


def score_links(
    examples: Iterable[Example],
    *,
    kb_id_attr: str = "kb_id",
    span_key: str | None = None,
    resolve: Callable[[str], str | None] = lambda concept_id: concept_id,
    is_linked: Callable[[str], bool] = lambda label: True,
    **_: Any,
) -> dict[str, Any]:
    """Score the links of mentions that occur in both the gold and the predicted documents, like
    spaCy's `Scorer.score_links`, except that any part of a composite gold identifier is correct.

    examples (Iterable[Example]): predicted and gold documents.
    kb_id_attr (str): attribute on `span._` with the predicted identifier; part of the names of the
        scores if it is not `kb_id`, e.g. `nel_umls_id_micro_f`.
    span_key (str | None): span group with the mentions; None: `doc.ents`.
    resolve (Callable[[str], str | None]): maps an alternate identifier to the concept's own.
    is_linked (Callable[[str], bool]): whether the linker links mentions with a label; mentions with
        other labels are ignored.
    RETURNS (dict[str, Any]): the scores `nel_micro_p`, `nel_micro_r`, `nel_micro_f`,
        `nel_accuracy` and `nel_f_per_type`, from 0 to 1. The accuracy is computed over all shared
        mentions, including NIL, and is None if there are none.
    """
    prefix = "nel" if kb_id_attr == "kb_id" else f"nel_{kb_id_attr}"
    per_label: dict[str, PRFScore] = {}
    n_right = n_all = 0
    for example in examples:
        gold_spans = {
            (s.start_char, s.end_char, s.label_): s for s in find_spans(example.reference, span_key)
        }
        by_characters = {key[:2]: span for key, span in gold_spans.items()}
        for span in find_spans(example.predicted, span_key):
            characters = (span.start_char, span.end_char)
            gold_span = gold_spans.get((*characters, span.label_), by_characters.get(characters))
            if gold_span is None or not is_linked(span.label_):
                continue
            gold = gold_ids(gold_span, resolve)
            links = _ids(span._.get(kb_id_attr), resolve)
            is_right = links <= gold and bool(links) == bool(gold)
            score = per_label.setdefault(gold_span.label_, PRFScore())
            score.tp += bool(links) and is_right
            score.fp += bool(links) and not is_right
            score.fn += bool(gold) and not is_right
            n_right += is_right
            n_all += 1
    micro = PRFScore()
    for score in per_label.values():
        micro += score
    return {
        f"{prefix}_micro_p": micro.precision,
        f"{prefix}_micro_r": micro.recall,
        f"{prefix}_micro_f": micro.fscore,
        f"{prefix}_accuracy": n_right / n_all if n_all else None,
        f"{prefix}_f_per_type": {label: score.to_dict() for label, score in per_label.items()},
    }


def make_linker_scorer() -> Callable[..., dict[str, Any]]:
    """`spacy_angel.linker_scorer.v1`. RETURNS (Callable): `score_links`."""
    return score_links


def gold_ids(span: Span, resolve: Callable[[str], str | None]) -> frozenset[str]:
    """Get the gold identifiers of a mention.

    span (Span): a gold mention, with one or more identifiers in `kb_id_`, joined by `|` or `+`.
    resolve (Callable[[str], str | None]): maps an alternate identifier to the concept's own.
    RETURNS (frozenset[str]): the identifiers; empty if the mention should link to NIL.
    """
    return _ids(span.kb_id_, resolve)


def _ids(kb_id: str, resolve: Callable[[str], str | None]) -> frozenset[str]:
    ids = (concept_id for concept_id in split_ids(kb_id) if concept_id != NIL)
    return frozenset(resolve(concept_id) or concept_id for concept_id in ids)
