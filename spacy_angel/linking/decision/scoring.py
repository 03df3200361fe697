"""The component's scorer: links of predicted documents against gold ones, as spaCy counts."""

from collections.abc import Callable, Iterable
from functools import partial
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
    prefix: str | None = None,
    kb_id_attr: str = "kb_id",
    span_key: str | None = None,
    resolve: Callable[[str], str | None] = lambda concept_id: concept_id,
    is_linked: Callable[[str], bool] = lambda label: True,
    **_: Any,
) -> dict[str, Any]:
    """Links of mentions that gold and prediction share, counted as spaCy's `Scorer.score_links`
    does, but that any part of a composite gold identifier is right.

    examples (Iterable[Example]): predicted and gold documents.
    prefix (str | None): of the names of the figures; None is `nel`, and with another attribute
        than `kb_id` also that, e.g. `nel_umls_id`: the linkers of one pipeline need different ones.
    kb_id_attr (str): attribute on `span._` with the predicted identifier.
    span_key (str | None): span group with the mentions; None: `doc.ents`.
    resolve (Callable[[str], str | None]): from an alternate identifier to the concept's own.
    is_linked (Callable[[str], bool]): whether mentions with a label are this linker's to link;
        others do not count.
    RETURNS (dict[str, Any]): between 0 and 1: `nel_micro_p`, `nel_micro_r`, `nel_micro_f`,
        `nel_accuracy` (of all shared mentions, right NIL included; None without
        any), `nel_f_per_type`.
    """
    if prefix is None:
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
            written = span._.get(kb_id_attr) or NIL
            link = resolve(written) or written
            is_right = link in gold or (link == NIL and not gold)
            score = per_label.setdefault(gold_span.label_, PRFScore())
            score.tp += link in gold
            score.fp += link != NIL and not is_right
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


def make_linker_scorer(prefix: str | None = None) -> Callable[..., dict[str, Any]]:
    """`spacy_angel.linker_scorer.v1`.

    prefix (str | None): see there.
    RETURNS (Callable): `score_links` with that prefix.
    """
    return partial(score_links, prefix=prefix)


def gold_ids(span: Span, resolve: Callable[[str], str | None]) -> frozenset[str]:
    """Right identifiers of a gold mention.

    span (Span): its `kb_id_` holds them, several joined by `|` or `+`.
    resolve (Callable[[str], str | None]): from an alternate identifier to the concept's own.
    RETURNS (frozenset[str]): empty where it should link to NIL.
    """
    ids = (concept_id for concept_id in split_ids(span.kb_id_) if concept_id != NIL)
    return frozenset(resolve(concept_id) or concept_id for concept_id in ids)
