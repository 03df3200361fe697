"""Which concepts a mention may have, by its label."""

from typing import TYPE_CHECKING

from ..vocabulary.kinds import is_foreign

if TYPE_CHECKING:
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.search_spaces import Subset
    from .settings import LinkerSettings


def subset_of_label(label: str, kb: "ConceptKB", settings: "LinkerSettings") -> "Subset | None":
    """label (str): of mentions. kb (ConceptKB): the vocabulary. settings (LinkerSettings):
    `types_by_label`. RETURNS (Subset | None): what the label is limited to; None: to nothing.
    RAISES (AngelError): the vocabulary does not have the types."""
    types = settings.types_by_label.get(label)
    if types is None:
        return None
    # Of a type that the user made up and no label has, nobody knows what it is not.
    told = {name for names in settings.types_by_label.values() for name in names}
    return kb.subset(types=types, free_types=kb.own_types - told)


def is_permitted(
    concept_id: str,
    label: str,
    subset: "Subset | None",
    kb: "ConceptKB",
    settings: "LinkerSettings",
) -> bool:
    """concept_id (str): of the vocabulary. label (str): of a mention. subset (Subset | None): of
    the label. kb (ConceptKB): the vocabulary. settings (LinkerSettings): `restrict_kinds`.
    RETURNS (bool): whether the mention may have the concept."""
    if subset is not None:
        return subset.allows(concept_id)
    return not (settings.restrict_kinds and is_foreign(label, kb.types_of(concept_id)))


def is_name(text: str, label: str, kb: "ConceptKB", settings: "LinkerSettings") -> bool:
    """text (str), label (str): of a mention. kb (ConceptKB): the vocabulary. settings
    (LinkerSettings): as for `is_permitted`. RETURNS (bool): whether it is a name of a concept that
    it may have: `cancer` is that of a crab, but no disease's of MeSH."""
    name = kb.name_index(text)
    if name is None:
        return False
    subset = subset_of_label(label, kb, settings)
    return any(is_permitted(c, label, subset, kb, settings) for c in kb.concept_ids_of(name))
