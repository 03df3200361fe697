"""Why a mention is linked as it is, down to the figures: what the model read, what was looked for,
what was found, what each feature added, what decided, and what the next one lacked."""

from dataclasses import asdict, dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

from ...component.characters import read
from ...errors import AngelError
from ..decision.explained import ExplainedLinker
from ..decision.links import GeneratedCandidates, Link, make_link
from ..mentions.permitted import links_label
from ..mentions.reading import find_spans
from ..ranking.concepts import NIL
from ..ranking.ranker import Contribution
from .cause import FoundConcept, why_by_rule, why_linked

if TYPE_CHECKING:
    from spacy.tokens import Span

    from ...curation.curated import Curated
    from ...model.mention import Mention

# Concepts of which features are shown, and their further names.
_SHOWN_CONCEPTS = 5
_SHOWN_FEATURES = 8
_SHOWN_NAMES = 10


@dataclass(frozen=True, slots=True)
class FeatureShare:
    """feature (str): of `ranking.features`. value (float): of the mention and the name. weight
    (float): as fitted. contribution (float): their product, in nats."""

    feature: str
    value: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class ExplainedConcept:
    """A concept that was found.

    concept_id (str), canonical_name (str): the concept.
    probability (float): as in `kb_ents`.
    names (tuple[tuple[str, float | None], ...]): those that led to it with the model's
        log-probability in nats, None where it was not asked; the most probable first.
    other_names (tuple[str, ...]): the concept's further ones.
    query (str): what the best name answers: `mention`, `long form`, …; empty without the ranker.
    features (tuple[FeatureShare, ...]): what each adds to its utility, the weightiest first; none
        without the ranker.
    """

    concept_id: str
    canonical_name: str
    probability: float
    names: tuple[tuple[str, float | None], ...]
    other_names: tuple[str, ...]
    query: str = ""
    features: tuple[FeatureShare, ...] = ()


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """The second concept, and what it lacks.

    concept_id (str): the concept.
    probability (float): by how much the first one is more probable.
    utility (float | None): by how many nats the first one is ahead; None without the ranker.
    features (tuple[FeatureShare, ...]): where it falls behind, the most first: the value is the
        difference of both.
    """

    concept_id: str
    probability: float
    utility: float | None = None
    features: tuple[FeatureShare, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkExplanation:
    """Why a mention is linked as it is.

    mention (str), label (str): the mention. kb_id (str): its link, or `NIL`; empty where this
        linker does not link it.
    why (str): what decided, with its figures.
    rules (tuple[str, ...]): of curation that decided, or left concepts out.
    without_rules (str): the link that there would be without them; empty without any.
    source (str), prefix (str): what the model read, in encoder and decoder, as it was cut.
    queries (tuple[tuple[str, str], ...]): what was looked for, with its source.
    is_searched (bool): whether the model was asked.
    concepts (tuple[ExplainedConcept, ...]): all that were found, the most probable first.
    threshold (float | None): least probability of a link.
    nil_probability (float | None): that none of the concepts is right; None without the ranker.
    link_features (tuple[FeatureShare, ...]): why the first one is thought right or not, likewise.
    runner_up (RunnerUp | None): where there are two.
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
    link_features: tuple[FeatureShare, ...] = ()
    runner_up: RunnerUp | None = None

    def to_dict(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def explain_mention(span: "Span", linker: ExplainedLinker) -> LinkExplanation:
    """span (Span): a mention. linker (ExplainedLinker): links it once more, and writes nothing.
    RETURNS (LinkExplanation): see there.
    RAISES (AngelError): it is none of the mentions that the linker reads."""
    settings = linker.settings
    spans = find_spans(span.doc, settings.span_key)
    places = [(s.start, s.end, s.label_) for s in spans]
    key = (span.start, span.end, span.label_)
    if key not in places:
        where = "doc.ents" if settings.span_key is None else f"doc.spans[{settings.span_key!r}]"
        raise AngelError(
            f"angel_linker does not read the mention {span.text!r} ({span.label_}). It reads "
            f"{where}."
        )
    place = places.index(key)
    curated = linker.curated
    mention, names = linker.candidates_of(span.doc, curated)[place]
    if names is None or not links_label(span.label_, settings):
        is_discarded = span.label_ in settings.labels_discard
        kb_id = NIL if is_discarded else ""
        why = why_linked(mention.text, span.label_, kb_id, (), settings)
        return LinkExplanation(span.text, span.label_, kb_id, why)
    link = _link(span, names, linker, curated)
    concepts = _concepts(span.label_, names, link, linker)
    found = tuple(
        FoundConcept(c.concept_id, c.canonical_name, c.probability, c.names) for c in concepts
    )
    why = why_by_rule(names.constraint, link.kb_id)
    if not why and names.is_unsearched:
        why = (
            "It is the name of one concept alone, to which it links without the model "
            "(search.shortcuts)."
        )
    if not why:
        why = why_linked(mention.text, span.label_, link.kb_id, found, settings)
        if mention.text != span.text:
            why = f"Read as “{mention.text}”. {why}"
    rules, without = _rules(span, place, names, link, linker, curated)
    has_ranker = names.found is not None and bool(concepts)
    return LinkExplanation(
        span.text,
        span.label_,
        link.kb_id,
        why,
        rules,
        without,
        *_read(mention, linker),
        queries=tuple((q.text, q.source) for q in mention.queries),
        is_searched=not names.is_unsearched
        and (names.constraint is None or names.constraint.is_mention),
        concepts=concepts,
        threshold=settings.threshold,
        nil_probability=1 - fsum(c.probability for c in concepts) if has_ranker else None,
        link_features=_link_features(span.label_, names, concepts, linker),
        runner_up=_runner_up(concepts),
    )


def _link(
    span: "Span", names: GeneratedCandidates, linker: ExplainedLinker, curated: "Curated | None"
) -> Link:
    text, settings = read(span.text).text, linker.settings
    if curated is None:
        return make_link(text, span.label_, names, linker.kb, settings)
    return make_link(text, span.label_, names, curated.kb, settings, curated.preferred)


def _concepts(
    label: str, names: GeneratedCandidates, link: Link, linker: ExplainedLinker
) -> tuple[ExplainedConcept, ...]:
    kb = linker.kb
    # What was found is known by the vocabulary's own identifiers, what is written by others.
    written: dict[str, str] = {}
    by_concept: dict[str, list[tuple[str, float | None]]] = {}
    for candidate in sorted(
        link.candidates, key=lambda c: -c.get("probability", c["log_prob"] or 0.0)
    ):
        pairs = by_concept.setdefault(candidate["concept_id"], [])
        pairs.append((candidate["name"], candidate["log_prob"]))
        for one in (candidate["concept_id"], *candidate.get("other_ids", ())):
            written.setdefault(one, candidate["concept_id"])
    explained = (
        linker.settings.ranker_in_use.explain_all(names.found, label)
        if names.found is not None and not names.is_unsearched
        else {}
    )
    by_written = {written.get(own, own): one for own, one in reversed(explained.items())}
    concepts = []
    for concept_id, probability in linker.rank(link.candidates):
        concept = kb.get(concept_id)
        known = {name for name, _ in by_concept[concept_id]}
        one = by_written.get(concept_id)
        concepts.append(
            ExplainedConcept(
                concept_id,
                "" if concept is None else concept.canonical_name,
                probability,
                tuple(by_concept[concept_id]),
                () if concept is None else tuple(n for n in concept.names if n not in known),
                "" if one is None else one.query,
                () if one is None else _shares(one.contributions),
            )
        )
    return tuple(concepts)


def _link_features(
    label: str,
    names: GeneratedCandidates,
    concepts: tuple[ExplainedConcept, ...],
    linker: ExplainedLinker,
) -> tuple[FeatureShare, ...]:
    if names.found is None or names.is_unsearched or not concepts:
        return ()
    return _shares(linker.settings.ranker_in_use.explain_link(names.found, label))


def _shares(contributions: list[Contribution]) -> tuple[FeatureShare, ...]:
    return tuple(
        FeatureShare(c.feature, c.value, c.weight, c.value * c.weight) for c in contributions
    )


def _runner_up(concepts: tuple[ExplainedConcept, ...]) -> RunnerUp | None:
    if len(concepts) < 2:
        return None
    first, second = concepts[:2]
    gap = first.probability - second.probability
    if not first.features or not second.features:
        return RunnerUp(second.concept_id, gap)
    ours = {share.feature: share for share in first.features}
    theirs = {share.feature: share for share in second.features}
    behind = []
    for feature in dict.fromkeys([*ours, *theirs]):
        one, other = ours.get(feature), theirs.get(feature)
        weight = (one or other or FeatureShare(feature, 0.0, 0.0, 0.0)).weight
        value = (one.value if one else 0.0) - (other.value if other else 0.0)
        if value:
            behind.append(FeatureShare(feature, value, weight, value * weight))
    behind.sort(key=lambda share: -share.contribution)
    return RunnerUp(
        second.concept_id, gap, fsum(share.contribution for share in behind), tuple(behind)
    )


def _rules(
    span: "Span",
    place: int,
    names: GeneratedCandidates,
    link: Link,
    linker: ExplainedLinker,
    curated: "Curated | None",
) -> tuple[tuple[str, ...], str]:
    """The rules that hold for a mention, and its link without any."""
    if curated is None:
        return (), ""
    rules = list(() if names.constraint is None else names.constraint.rules)
    _, bare = linker.candidates_of(span.doc, None)[place]
    assert bare is not None
    without = _link(span, bare, linker, None)
    own = linker.kb.resolve(without.kb_id)
    rule = None if own is None else curated.restricting(own, span.label_)
    if rule is not None:
        rules.append(rule)
    for rule in curated.rules:
        is_of_link = rule.action == "prefer" and rule.concept == link.kb_id
        if is_of_link or (rule.action == "name" and rule.normal == _normal(span)):
            rules.append(rule)
    return tuple(rule.told for rule in dict.fromkeys(rules)), without.kb_id


def _normal(span: "Span") -> str:
    from ...vocabulary.names.concepts import normalize_name

    return normalize_name(read(span.text).text)


def _read(mention: "Mention", linker: ExplainedLinker) -> tuple[str, str]:
    """What the encoder and the decoder read, as it was cut to the model's length."""
    prompts = linker.generator.prompts
    return (
        prompts.tokenizer.decode(prompts.source_ids([mention])[0]),
        prompts.tokenizer.decode(prompts.prefix_ids([mention])[0]),
    )


def _lines(explained: LinkExplanation) -> list[str]:
    """An explanation for the terminal."""
    from wasabi import table

    first = explained.concepts[0] if explained.concepts else None
    name = first.canonical_name if first and first.concept_id == explained.kb_id else ""
    shown = " ".join(filter(None, (explained.kb_id or "not linked here", name)))
    lines = [f"“{explained.mention}” ({explained.label}) → {shown}", explained.why]
    lines += [f"Rule: {rule}" for rule in explained.rules]
    if explained.without_rules and explained.without_rules != explained.kb_id:
        lines.append(f"Without rules: {explained.without_rules}")
    if explained.queries:
        looked = ", ".join(f"“{text}” ({source})" for text, source in explained.queries)
        lines.append(f"Looked for: {looked}")
    if explained.source and explained.is_searched:
        lines += [f"Model read: {explained.source}", f"Its answer starts with: {explained.prefix}"]
    if first is None:
        return lines
    thresholds = [] if explained.threshold is None else [f"threshold {explained.threshold:.3f}"]
    if explained.nil_probability is not None:
        thresholds.append(f"probability of NIL {explained.nil_probability:.3f}")
    if thresholds:
        lines.append(", ".join(thresholds).capitalize().replace(" nil ", " NIL "))
    rows = [
        (
            concept.concept_id,
            concept.canonical_name,
            f"{concept.probability:.3f}",
            ", ".join(n if p is None else f"{n} ({p:.2f})" for n, p in concept.names),
            concept.query,
        )
        for concept in explained.concepts[:_SHOWN_CONCEPTS]
    ]
    header = ("concept", "canonical name", "probability", "found by (log-prob.)", "query")
    lines += table(rows, header=header, divider=True, aligns=["l", "l", "r", "l", "l"]).split("\n")
    if others := first.other_names[:_SHOWN_NAMES]:
        n = len(first.other_names)
        more = f" … and {n - len(others):,} more" if n > len(others) else ""
        lines.append(f"Other names of {first.concept_id}: {'; '.join(others)}{more}")
    lines += _table_of(f"Why {first.concept_id} comes first (nats)", first.features)
    lines += _table_of("Why it is thought right, or not (nats)", explained.link_features)
    if (runner := explained.runner_up) is not None:
        behind = "" if runner.utility is None else f", {runner.utility:.2f} nats"
        title = f"What {runner.concept_id} lacks: {runner.probability:.3f} in probability{behind}"
        lines += _table_of(title, runner.features) or [title]
    return [line for line in lines if line.strip()]


def _table_of(title: str, shares: tuple[FeatureShare, ...]) -> list[str]:
    from wasabi import table

    if not shares:
        return []
    rows = [
        (s.feature, f"{s.value:.3f}", f"{s.weight:.2f}", f"{s.contribution:+.2f}")
        for s in shares[:_SHOWN_FEATURES]
    ]
    header = ("feature", "value", "weight", "adds")
    return [title, *table(rows, header=header, aligns=["l", "r", "r", "r"]).split("\n")]
