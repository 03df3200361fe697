"""Why a mention has its link, or none: what was found for it, and which rule decided."""

from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

from ...curation.curated import Constraint, DocumentNames
from ...vocabulary.names.concepts import normalize_name
from ..decision.explained import ExplainedLinker
from ..mentions.permitted import links_label
from ..mentions.queries import read_queries
from ..mentions.reading import ReadDocument, read_mentions
from ..ranking.concepts import NIL
from ..settings.linker_settings import LinkerSettings

if TYPE_CHECKING:
    from spacy.tokens import Span


@dataclass(frozen=True, slots=True)
class FoundConcept:
    """A concept among those found for a mention.

    concept_id (str), canonical_name (str): the concept; the name is empty where the vocabulary has
        lost it since.
    probability (float): as in `kb_ents`.
    names (tuple[tuple[str, float | None], ...]): the names that led to it with the model's
        log-probability in nats, None where it was not asked, most probable first.
    """

    concept_id: str
    canonical_name: str
    probability: float
    names: tuple[tuple[str, float | None], ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a mention has its link, or none.

    why (str): the rule that decided, with its figures.
    concepts (tuple[FoundConcept, ...]): all that were found, most probable first.
    """

    why: str
    concepts: tuple[FoundConcept, ...]


def explain_link(span: "Span", linker: ExplainedLinker) -> Explanation:
    """Explain what was written on a mention, by the settings as they are.

    span (Span): a mention. linker (ExplainedLinker): the one that linked it.
    RETURNS (Explanation): see there.
    """
    settings, kb = linker.settings, linker.kb
    candidates: list[dict[str, Any]] = span._.get(settings.outputs.candidates)
    names: dict[str, list[tuple[str, float | None]]] = {}
    # By the ranker a name may be far more probable than the model alone has it.
    for candidate in sorted(candidates, key=lambda c: -c.get("probability", c["log_prob"])):
        names.setdefault(candidate["concept_id"], []).append(
            (candidate["name"], candidate["log_prob"])
        )
    concepts = tuple(
        FoundConcept(
            concept_id,
            kb[concept_id].canonical_name if concept_id in kb else "",
            probability,
            tuple(names[concept_id]),
        )
        for concept_id, probability in linker.rank(candidates)
    )
    kb_id = span._.get(settings.outputs.kb_id)
    document, curated = ReadDocument(span.doc), linker.curated
    if curated is not None:
        names_of_doc = DocumentNames(document.text, curated.kb)
        constraint = curated.constraint(document.text_of(span), span.label_, names_of_doc)
        if why := why_by_rule(constraint, kb_id):
            return Explanation(why, concepts)
    (mention,) = read_mentions(
        span.doc, [span], resolve_abbreviations=settings.reading.abbreviations, document=document
    )
    mention = read_queries(
        mention, span, kb if curated is None else curated.kb, settings, document, curated
    )
    why = why_linked(mention.text, span.label_, kb_id, concepts, settings)
    if mention.text != span.text:
        why = f"Read as “{mention.text}”. {why}"
    return Explanation(why, concepts)


def why_by_rule(constraint: Constraint | None, kb_id: str) -> str:
    """constraint (Constraint | None): what rules say of a mention. kb_id (str): what it was linked
    to.
    RETURNS (str): the rule that decided; empty where none did, but at most left others out."""
    if constraint is None or not kb_id:
        return ""
    if not constraint.is_mention and kb_id == NIL:
        return f"A rule: {constraint.rules[0].told}."
    if constraint.means is not None and kb_id != NIL:
        return f"A rule: {constraint.rules[0].told}."
    return ""


def why_linked(
    read: str,
    label: str,
    kb_id: str,
    concepts: tuple[FoundConcept, ...],
    settings: LinkerSettings,
) -> str:
    """read (str): the mention as it was read. label (str): its label. kb_id (str): what it was
    linked to. concepts (tuple[FoundConcept, ...]): all that were found. settings (LinkerSettings):
    as they are. RETURNS (str): which rule of the linker decided, with its figures."""
    if not kb_id:
        if not links_label(label, settings):
            return f"Its label {label} is none that is linked (labels, types_by_label)."
        return "The linker has not read it."
    if not concepts:
        if label in settings.labels_discard:
            had = "" if kb_id == NIL else "It had this identifier before. "
            return f"{had}Its label {label} is not to be linked (labels_discard)."
        if kb_id != NIL:
            return "It had this identifier before, and overwrite is off."
        return "No name that it may have was found."
    top = concepts[0]
    name, log_prob = top.names[0]
    figures = f"“{name}”, probability {top.probability:.3f}"
    if log_prob is not None:
        figures += f", log-probability {log_prob:.2f}"
    if kb_id != NIL:
        is_name = any(normalize_name(name) == normalize_name(read) for name, _ in top.names)
        return (
            f"It is a name of the concept: {figures}."
            if is_name
            else f"Most probable name: {figures}."
        )
    if settings.threshold is not None and top.probability < settings.threshold:
        none = ""
        if settings.rerank:
            none = f"; probability of NIL: {1 - fsum(c.probability for c in concepts):.3f}"
        return f"Most probable name: {figures}: under the threshold {settings.threshold:.3f}{none}."
    least = None if settings.rerank else settings.search.min_log_prob
    if least is not None and log_prob is not None and log_prob < least:
        return f"Most probable name: {figures}: under search.min_log_prob {least:.2f}."
    return f"Most probable name: {figures}: refused by thresholds that have changed since."
