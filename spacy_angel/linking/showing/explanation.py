"""Why a mention is linked as it is: what the model read, what was searched for and found, what each
feature contributed, and what decided."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import fsum
from typing import TYPE_CHECKING, Any

from ...vocabulary.names.concepts import normalize_name
from ..candidates.batch import BatchLinker
from ..decision.links import rank_candidates
from ..decision.writing import read_kb_id
from ..mentions.labels import links_label
from ..mentions.reading import ReadDocument, find_spans
from ..ranking.ranker import LEAD, PRIOR, SHARE, UNSURE
from ..types import NIL, Link, Query

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span

    from ...vocabulary.changes.applied_rules import Constraint

_MAX_CONCEPTS = 5
# Less is not shown.
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
"""The features of the ranker in plain words."""
_REASON_OF = {feature: reason for reason, features in _REASONS.items() for feature in features}


@dataclass(frozen=True, slots=True)
class ExplainedConcept:
    """A concept that was found.

    concept_id (str), canonical_name (str): the concept.
    probability (float): as in `kb_ents`.
    names (tuple[tuple[str, float | None], ...]): names that led to it, most probable first, with
        the model's log-probability in nats; None if the model was not run.
    query (str): what the best name answers: `mention`, `long form`, …; empty without the ranker.
    reasons (Mapping[str, float]): what each adds to the concept's utility, in nats, the largest
        first; empty without the ranker.
    """

    concept_id: str
    canonical_name: str
    probability: float
    names: tuple[tuple[str, float | None], ...]
    query: str = ""
    reasons: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinkExplanation:
    """Why a mention is linked as it is.

    mention (str), label (str): the mention.
    kb_id (str): its link, or `NIL`; where this linker does not link it, the identifier that it has.
    why (str): what decided, with its figures.
    rules (tuple[str, ...]): rules of curation that decided, or excluded concepts.
    without_rules (str): the link without them; empty where there are no rules.
    source (str), prefix (str): input of the encoder and of the decoder.
    queries (tuple[tuple[str, str], ...]): what was searched for, with its source.
    is_searched (bool): whether the model was run.
    concepts (tuple[ExplainedConcept, ...]): all that were found, most probable first.
    threshold (float | None): minimum probability of a link.
    nil_probability (float | None): that none of the concepts is right; None without the ranker.
    link_reasons (Mapping[str, float]): what each adds to the log-odds that the first concept is
        right, in nats.
    """

    mention: str
    label: str
    kb_id: str
    why: str
    rules: tuple[str, ...] = ()
    without_rules: str = ""
    source: str = ""
    prefix: str = ""
    queries: tuple[tuple[str, str], ...] = ()
    is_searched: bool = False
    concepts: tuple[ExplainedConcept, ...] = ()
    threshold: float | None = None
    nil_probability: float | None = None
    link_reasons: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def explain_mentions(
    doc: "Doc", linking: BatchLinker, without_rules: BatchLinker | None = None
) -> list[LinkExplanation]:
    """doc (Doc): a document, which is linked once more and not changed.
    linking (BatchLinker): with all rules. without_rules (BatchLinker | None): without any.
    RETURNS (list[LinkExplanation]): one a mention, in the order of `find_spans`."""
    spans = find_spans(doc, linking.settings.candidates.span_key)
    found = linking.candidates([doc], [spans], overwrite=True)
    [links] = linking.decide(found)
    bare: list[Link | None] = [None] * len(spans)
    if without_rules is not None:
        unruled = without_rules.candidates([doc], [spans], overwrite=True)
        [bare] = without_rules.decide(unruled)
    rows = zip(spans, found[0], links, bare, strict=True)
    return [_explain(*row, linking) for row in rows]


def _explain(
    span: "Span",
    query: Query | None,
    link: Link | None,
    bare: Link | None,
    linking: BatchLinker,
) -> LinkExplanation:
    settings = linking.settings
    if query is None or link is None or not links_label(span.label_, settings):
        kb_id = read_kb_id(span, settings)
        why = f"Mentions labeled {span.label_} are not linked (types_by_label)."
        if span.label_ in settings.candidates.labels_discard:
            had = "It had this identifier before. " if kb_id not in ("", NIL) else ""
            why = f"{had}Mentions labeled {span.label_} are not linked (labels_discard)."
            kb_id = kb_id or NIL
        return LinkExplanation(span.text, span.label_, kb_id, why)
    concepts = _concepts(query, link, linking)
    rules = [] if query.constraint is None else list(query.constraint.rules)
    applied = linking.kb.applied_rules
    if applied is not None and bare is not None:
        own = linking.kb.resolve(bare.kb_id)
        restricting = None if own is None else applied.restricting(own, span.label_)
        rules += [] if restricting is None else [restricting]
        normal = normalize_name(ReadDocument(span.doc).text_of(span))
        rules += [
            rule
            for rule in applied.rules
            if (rule.action == "prefer" and rule.concept == link.kb_id)
            or (rule.action == "add" and rule.normal == normal)
        ]
    ranker = linking.ranker if query.candidates and not query.matched_exactly else None
    link_reasons: Mapping[str, float] = {}
    if ranker is not None:
        link_reasons = _reasons(ranker.explain_link(query))
    prompts = linking.model.prompts
    return LinkExplanation(
        span.text,
        span.label_,
        link.kb_id,
        _why(span, query, link.kb_id, concepts, linking),
        rules=tuple(rule.description for rule in dict.fromkeys(rules)),
        without_rules="" if bare is None else bare.kb_id,
        source=prompts.tokenizer.decode(prompts.source_ids([query.mention])[0]),
        prefix=prompts.tokenizer.decode(prompts.prefix_ids([query.mention])[0]),
        queries=tuple((text, source) for text, source in query.wordings),
        is_searched=query.is_searched,
        concepts=concepts,
        threshold=settings.decision.threshold,
        nil_probability=1 - fsum(c.probability for c in concepts) if ranker else None,
        link_reasons=link_reasons,
    )


def _concepts(query: Query, link: Link, linking: BatchLinker) -> tuple[ExplainedConcept, ...]:
    kb = linking.kb
    candidates = sorted(link.candidates, key=lambda c: -c["probability"])
    led: dict[str, list[tuple[str, float | None]]] = {}
    # The ranker knows concepts by their own identifier, a link by the preferred one.
    written: dict[str, str] = {}
    for candidate in candidates:
        concept_id = candidate["concept_id"]
        led.setdefault(concept_id, []).append((candidate["name"], candidate["log_prob"]))
        for own in (concept_id, *candidate.get("other_ids", ())):
            written.setdefault(own, concept_id)
    explained: dict[str, tuple[str, dict[str, float]]] = {}
    if linking.ranker and query.candidates and not query.matched_exactly:
        ranked = linking.ranker.explain_concepts(query)
        explained = {
            written.get(own, own): (source, _reasons(features))
            for own, (source, features) in reversed(ranked.items())
        }
    concepts = []
    for concept_id, probability in rank_candidates(candidates):
        concept = kb.get(concept_id)
        name = "" if concept is None else concept.canonical_name
        why = explained.get(concept_id, ("", {}))
        concepts.append(
            ExplainedConcept(concept_id, name, probability, tuple(led[concept_id]), *why)
        )
    return tuple(concepts)


def _why(
    span: "Span",
    query: Query,
    kb_id: str,
    concepts: tuple[ExplainedConcept, ...],
    linking: BatchLinker,
) -> str:
    """RETURNS (str): what decided, with its figures."""
    if _is_ruled(query.constraint, kb_id):
        assert query.constraint is not None
        return f"A rule: {query.constraint.rules[0].description}."
    read = "" if query.mention.text == span.text else f"Read as “{query.mention.text}”. "
    if not concepts:
        return f"{read}No matching name was found."
    settings, top = linking.settings, concepts[0]
    name, log_prob = top.names[0]
    figures = f"“{name}”, probability {top.probability:.3f}"
    if log_prob is not None:
        figures += f", log-probability {log_prob:.2f}"
    best = f"{read}Most probable name: {figures}"
    if kb_id != NIL:
        if normalize_name(query.mention.text) in {normalize_name(name) for name, _ in top.names}:
            best = f"{read}It is a name of the concept: {figures}"
        not_run = "" if query.is_searched else "; the model was not run (candidates.shortcuts)"
        return f"{best}{not_run}."
    assert settings.decision.threshold is not None
    nil = ""
    if linking.ranker is not None:
        nil = f"; probability of NIL: {1 - fsum(c.probability for c in concepts):.3f}"
    return f"{best}: under the threshold {settings.decision.threshold:.3f}{nil}."


def _is_ruled(constraint: "Constraint | None", kb_id: str) -> bool:
    """Whether a rule decided alone, and did not only exclude concepts."""
    if constraint is None:
        return False
    if not constraint.is_mention:
        return kb_id == NIL
    return constraint.means is not None and kb_id != NIL


def _reasons(features: Mapping[str, float]) -> dict[str, float]:
    """features (Mapping[str, float]): contribution of each feature.
    RETURNS (dict[str, float]): of each reason, the largest first, without those of almost none."""
    sums = dict.fromkeys(_REASONS, 0.0)
    for name, value in features.items():
        sums[_REASON_OF[name.removesuffix(UNSURE)]] += value
    largest = sorted(sums.items(), key=lambda item: -abs(item[1]))
    return {reason: value for reason, value in largest if abs(value) >= _MIN_REASON}


def _lines(explained: LinkExplanation) -> list[str]:
    """An explanation as text."""
    from wasabi import table

    first = explained.concepts[0] if explained.concepts else None
    name = first.canonical_name if first and first.concept_id == explained.kb_id else ""
    shown = " ".join(filter(None, (explained.kb_id or "not linked here", name)))
    lines = [f"“{explained.mention}” ({explained.label}) → {shown}", explained.why]
    lines += [f"Rule: {rule}" for rule in explained.rules]
    if explained.without_rules not in ("", explained.kb_id):
        lines.append(f"Without rules: {explained.without_rules}")
    if explained.queries:
        looked = ", ".join(f"“{text}” ({source})" for text, source in explained.queries)
        lines.append(f"Searched for: {looked}")
    if explained.is_searched:
        lines += [f"Model read: {explained.source}", f"Decoder prefix: {explained.prefix}"]
    if first is None:
        return lines
    limits = [] if explained.threshold is None else [f"Threshold {explained.threshold:.3f}"]
    if explained.nil_probability is not None:
        limits.append(f"probability of NIL {explained.nil_probability:.3f}")
    lines.append(", ".join(limits))
    concepts = [
        (
            concept.concept_id,
            concept.canonical_name,
            f"{concept.probability:.3f}",
            ", ".join(n if p is None else f"{n} ({p:.2f})" for n, p in concept.names),
            concept.query,
        )
        for concept in explained.concepts[:_MAX_CONCEPTS]
    ]
    header = ("concept", "canonical name", "probability", "found by (log-prob.)", "query")
    lines.append(table(concepts, header=header, divider=True, aligns=["l", "l", "r", "l", "l"]))
    why = {concept.concept_id: concept.reasons for concept in explained.concepts[:2]}
    why["a link at all"] = explained.link_reasons
    lines += [
        f"Reasons for {what}, in nats: {', '.join(f'{r} {v:+.1f}' for r, v in reasons.items())}"
        for what, reasons in why.items()
        if reasons
    ]
    return [line for text in lines for line in text.split("\n") if line.strip()]
