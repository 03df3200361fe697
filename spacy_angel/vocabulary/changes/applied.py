"""What rules change in a vocabulary itself: which concepts and names it has."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ..names.concepts import Concept
from ..names.identifiers import normal_ids
from .editable import EditableVocabulary
from .overlay import VocabularyOverlay
from .rules import SUBTREE, Rule


def find_concept(kb: VocabularyOverlay, text: str) -> str | None:
    """kb (VocabularyOverlay): the vocabulary. text (str): an identifier as a person writes it.
    RETURNS (str | None): the concept's own identifier; None if the vocabulary has none."""
    return next((own for form in (text, normal_ids(text)) if (own := kb.resolve(form))), None)


def is_of_vocabulary(rule: Rule) -> bool:
    """rule (Rule): of a file. RETURNS (bool): whether it changes which concepts or names a
    vocabulary has; the others are about mentions, which a linker knows."""
    if rule.label or rule.condition not in ("", SUBTREE):
        return False
    return rule.action in ("concept", "name", "canonical", "not-name", "exclude")


def change_concepts(kb: EditableVocabulary, rules: Iterable[Rule]) -> None:
    """Give a vocabulary the concepts and names that rules give it, and take those that they take.

    kb (EditableVocabulary): the vocabulary; it is changed as one changes it while running.
    rules (Iterable[Rule]): `concept`, `name`, `means`, `canonical` and `not-name`; others are
        ignored, as are those about concepts that the vocabulary does not have. `not-name` overrides
        `name`. A concept's only name is kept.
    """
    names: dict[tuple[str, str], Rule] = {}
    canonical: dict[str, str] = {}
    for rule in rules:
        concept = find_concept(kb, rule.concept) if rule.concept else None
        if rule.action == "concept":
            if concept is None:
                types = (rule.type,) if rule.type else ()
                kb.add(Concept(rule.concept, rule.string, types=types))
        elif concept is None:
            continue
        elif rule.action in ("name", "means"):
            names.setdefault((rule.normal, concept), rule)
        elif rule.action == "not-name" and not (rule.label or rule.condition):
            names[rule.normal, concept] = rule
        elif rule.action == "canonical":
            canonical[concept] = rule.string
    added: defaultdict[str, list[str]] = defaultdict(list)
    taken = []
    for (normal, concept), rule in names.items():
        if rule.action == "not-name":
            taken.append((concept, normal))
        elif not has_name(kb, concept, normal):
            added[concept].append(rule.string)
    for concept, strings in added.items():
        kb.add_names(concept, strings)
    for concept, string in canonical.items():
        if kb[concept].canonical_name != string:
            kb.rename(concept, string)
    # Last, so that a name which has got another beside it can go.
    for concept, normal in taken:
        if has_name(kb, concept, normal) and len(kb.names_of(concept)) > 1:
            kb.remove_name(concept, normal)


def remove_excluded(kb: EditableVocabulary, rules: Iterable[Rule]) -> None:
    """kb (EditableVocabulary): a vocabulary, which loses the concepts that the rules `exclude`.
    rules (Iterable[Rule]): those about concepts and types that it does not have are ignored."""
    for rule in rules:
        if rule.action == "exclude":
            for concept in list(concepts_of(kb, rule)):
                kb.remove(concept)


def concepts_of(kb: VocabularyOverlay, rule: Rule) -> Iterator[str]:
    """kb (VocabularyOverlay): a vocabulary. rule (Rule): `exclude` or `allow`. YIELDS (str): own
    identifiers of the concepts that it is about."""
    if rule.type:
        yield from kb.ids_of_types([rule.type])
    elif (concept := find_concept(kb, rule.concept)) is not None:
        yield from kb.ids_below(concept) if rule.condition == SUBTREE else [concept]


def has_name(kb: VocabularyOverlay, concept_id: str, name: str) -> bool:
    """kb (VocabularyOverlay): a vocabulary. concept_id (str): own identifier of a concept. name
    (str): in any spelling. RETURNS (bool): whether it is one of the concept's."""
    index = kb.name_index(name)
    return index is not None and concept_id in kb.concept_ids_of(index)
