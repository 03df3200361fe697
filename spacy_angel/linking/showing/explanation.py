"""Explain links: the input of the model, the texts that were searched for, the concepts that were
found, the contributions of the features, and the reason for the decision."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Any

from ..candidates.batch import BatchLinker
from ..mentions.labels import links_label
from ..mentions.reading import find_spans
from ..ranking.ranker import LEAD, PRIOR, SHARE, UNSURE, rank_candidates
from ..types import NIL, Link, Query

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

_MAX_CONCEPTS = 5
# Smaller contributions are not shown.
_MIN_REASON = 0.05
_REASONS = {
    "confidence of the model": ("confidence", "unsure"),
    "similar spelling": ("similarity", "edits", "overlap", "missing", "added", "spelled"),
    "similar meaning": ("vectors", "meaning", "same_meaning", "closest"),
    "exact match": ("exact", "scope"),
    "numbers": ("number",),
    "rest of the text": ("coherence", "context"),
    "species": ("species", "name_rank"),
    "short form": ("short",),
    "lead over other concepts": (SHARE, LEAD),
    "what is usual": ("bias", PRIOR),
}
"""The features of the reranker in plain words."""
_REASON_OF = {feature: reason for reason, features in _REASONS.items() for feature in features}


@dataclass(frozen=True, slots=True)
class ExplainedConcept:
    """A concept that was found.

    concept_id (str), canonical_name (str): the concept.
    probability (float): as in `kb_ents`.
    names (tuple[tuple[str, float | None], ...]): names by which it was found, most probable first,
        with their log-probability in nats; None if the model was not run.
    reasons (Mapping[str, float]): contributions of groups of features to the concept's utility, in
        nats, the largest first; empty without the reranker.
    """

    concept_id: str
    canonical_name: str
    probability: float
    names: tuple[tuple[str, float | None], ...]
    reasons: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinkExplanation:
    """The explanation of a link.

    mention (str), label (str): the mention and its label.
    kb_id (str): the identifier it is linked to, or `NIL`; if this linker does not link it, its
        current identifier.
    why (str): the reason for the decision.
    rules (tuple[str, ...]): curation rules about the mention, about the concepts of this name, or
        about the identifier.
    source (str): input of the encoder; empty if the model was not run.
    queries (tuple[tuple[str, str], ...]): the wordings that were searched for, in normal form,
        with their sources.
    concepts (tuple[ExplainedConcept, ...]): the concepts that were found, most probable first.
    link_reasons (Mapping[str, float]): contributions of groups of features to the log-odds that the
        best concept is correct, in nats.
    """

    mention: str
    label: str
    kb_id: str
    why: str
    rules: tuple[str, ...] = ()
    source: str = ""
    queries: tuple[tuple[str, str], ...] = ()
    concepts: tuple[ExplainedConcept, ...] = ()
    link_reasons: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): the explanation as JSON-serializable values."""
        return asdict(self)

    def __str__(self) -> str:
        first = self.concepts[0] if self.concepts else None
        name = first.canonical_name if first and first.concept_id == self.kb_id else ""
        link = f"{self.kb_id or 'not linked here'} {name}".rstrip()
        lines = [f"“{self.mention}” ({self.label}) → {link}", self.why]
        lines += [f"Rule: {rule}" for rule in self.rules]
        if self.queries:
            wordings = ", ".join(f"“{text}” ({source})" for text, source in self.queries)
            lines.append(f"Searched for: {wordings}")
        if self.source:
            lines.append(f"Model read: {self.source}")
        for c in self.concepts[:_MAX_CONCEPTS]:
            names = ", ".join(n if p is None else f"{n} ({p:.2f})" for n, p in c.names)
            found = f"{c.concept_id} {c.canonical_name}".rstrip()
            lines.append(f"{c.probability:.3f} {found}; names and log-probabilities: {names}")
        why = {concept.concept_id: concept.reasons for concept in self.concepts[:2]}
        for what, reasons in {**why, "a link at all": self.link_reasons}.items():
            if reasons:
                listed = ", ".join(f"{reason} {nats:+.1f}" for reason, nats in reasons.items())
                lines.append(f"Reasons for {what}, in nats: {listed}")
        return "\n".join(lines)


def explain_mentions(doc: "Doc", linking: BatchLinker) -> list[LinkExplanation]:
    """Explain the links of a document.

    doc (Doc): the document, which is linked again but not changed.
    linking (BatchLinker): the linker.
    RETURNS (list[LinkExplanation]): one per mention, in the order of `find_spans`.
    """
    spans = find_spans(doc, linking.settings.candidates.span_key)
    found = linking.candidates([doc], [spans], overwrite=True)
    [links], [queries] = linking.decide(found), found
    return [_explain(*row, linking) for row in zip(spans, queries, links, strict=True)]


def _explain(
    span: "Span", query: Query | None, link: Link | None, linking: BatchLinker
) -> LinkExplanation:
    settings = linking.settings
    if query is None or link is None or not links_label(span.label_, settings):
        is_meant = span.label_ in settings.candidates.labels_discard
        setting = "labels_discard" if is_meant else "types_by_label"
        why = f"Mentions labeled {span.label_} are not linked ({setting})."
        kb_id = span._.get(settings.outputs.kb_id) or (NIL if is_meant else "")
        return LinkExplanation(span.text, span.label_, kb_id, why)
    ranker = linking.ranker if query.candidates and not query.matched_exactly else None
    reasons, link_reasons = ({}, {}) if ranker is None else ranker.explain(query)
    concepts = _concepts(link, reasons, linking)
    prompts = linking.model.prompts
    source = prompts.source_ids([query.mention])[0] if query.is_searched else []
    return LinkExplanation(
        span.text,
        span.label_,
        link.kb_id,
        _why(query, link, concepts, settings.decision.threshold),
        rules=_rules(span, query, link.kb_id, linking),
        source=prompts.tokenizer.decode(source),
        queries=tuple(query.texts.items()),
        concepts=concepts,
        link_reasons=_largest(link_reasons),
    )


def _rules(span: "Span", query: Query, kb_id: str, linking: BatchLinker) -> tuple[str, ...]:
    applied = linking.kb.applied_rules
    if applied is None:
        return ()
    named = linking.kb.find(query.mention.text)
    rules = [
        *(() if query.constraint is None else query.constraint.rules),
        *(applied.restricting(concept.concept_id, span.label_) for concept in named),
        *(rule for rule in applied.rules if rule.instead_of and rule.concept == kb_id),
    ]
    return tuple(rule.description for rule in dict.fromkeys(rules) if rule is not None)


def _concepts(
    link: Link, reasons: Mapping[str, dict[str, float]], linking: BatchLinker
) -> tuple[ExplainedConcept, ...]:
    """reasons (Mapping[str, dict[str, float]]): see `Ranker.explain`."""
    candidates = sorted(link.candidates, key=lambda c: -c["probability"])
    concepts: list[ExplainedConcept] = []
    for concept_id, probability in rank_candidates(candidates):
        own = [c for c in candidates if c["concept_id"] == concept_id]
        names: dict[str, float | None] = {}
        for c in own:
            names.setdefault(c["name"], c["log_prob"])
        # The reranker uses the concept's own identifier, the link the preferred one.
        ids = [concept_id, *(other for c in own for other in c.get("other_ids", ()))]
        features = next((reasons[one] for one in ids if one in reasons), {})
        concept = linking.kb.get(concept_id)
        name = "" if concept is None else concept.canonical_name
        found = tuple(names.items())
        concepts.append(ExplainedConcept(concept_id, name, probability, found, _largest(features)))
    return tuple(concepts)


def _why(
    query: Query, link: Link, concepts: Sequence[ExplainedConcept], least: float | None
) -> str:
    """RETURNS (str): the reason for the decision; `least` is the threshold."""
    rule, is_nil = query.constraint, link.kb_id == NIL
    # A rule may also exclude only some concepts; then it did not decide alone.
    if rule is not None and (is_nil if not rule.is_mention else rule.means and not is_nil):
        return f"A rule: {rule.rules[0].description}."
    if not concepts:
        return "No matching name was found."
    name, log_prob = concepts[0].names[0]
    why = f"Most probable name: “{name}”, probability {concepts[0].probability:.3f}"
    if log_prob is None:
        why += " (the model was not run: candidates.shortcuts)"
    if is_nil:
        nil = max(1 - fsum(c.probability for c in concepts), 0.0)
        why += f": under the threshold {least:.3f}; probability of NIL: {nil:.3f}"
    return f"{why}."


def _largest(features: Mapping[str, float]) -> dict[str, float]:
    """features (Mapping[str, float]): contribution of each term of the reranker.
    RETURNS (dict[str, float]): contribution of each of `_REASONS`, largest first, without very
    small contributions."""
    sums: defaultdict[str, float] = defaultdict(float)
    for name, value in features.items():
        sums[_REASON_OF[name.removesuffix(UNSURE)]] += value
    largest = sorted(sums.items(), key=lambda item: -abs(item[1]))
    return {name: value for name, value in largest if abs(value) >= _MIN_REASON}
