"""Which mentions are linked, and which concepts they may have, by their labels."""

import warnings
from functools import cache
from typing import TYPE_CHECKING

from ..errors import Warnings
from ..vocabulary.kinds import is_foreign
from ..vocabulary.labels import find_entries, is_neutral, kinds_of

if TYPE_CHECKING:
    from ..vocabulary.kb import ConceptKB
    from ..vocabulary.search_spaces import Subset
    from .settings import LinkerSettings


def is_linked(label: str, settings: "LinkerSettings") -> bool:
    """label (str): of a mention. settings (LinkerSettings): `labels_discard`, `types_by_label`.
    RETURNS (bool): whether it is to be linked: its label is not discarded, and says nothing, or is
        one that `types_by_label` has, by any of its spellings in `vocabulary/labels.yml`; without
        `types_by_label` every other is. What it does not have is told once."""
    if label in settings.labels_discard:
        return False
    known = settings.types_by_label
    if not known or is_neutral(label) or find_entries(label, known, wider=True):
        return True
    _tell_unlinked(label, tuple(known))
    return False


@cache
def _tell_unlinked(label: str, known: tuple[str, ...]) -> None:
    kinds = " or ".join(sorted(kinds_of(label)))
    warnings.warn(
        Warnings.W890.format(
            label=label, kind=f" ({kinds})" if kinds else "", known=", ".join(known)
        ),
        stacklevel=3,
    )


def subset_of_label(label: str, kb: "ConceptKB", settings: "LinkerSettings") -> "Subset | None":
    """label (str): of mentions. kb (ConceptKB): the vocabulary. settings (LinkerSettings):
    `types_by_label`. RETURNS (Subset | None): what the label, or one that stands for the same, is
    limited to; None: to nothing.
    RAISES (AngelError): the vocabulary does not have the types."""
    entries = find_entries(label, settings.types_by_label, wider=True)
    if not entries:
        return None
    types = {name for entry in entries for name in settings.types_by_label[entry]}
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
