"""Which mentions a linker links, and the concepts that they may be linked to, by label."""

import warnings
from collections.abc import Collection
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from ...errors import AngelError, AngelWarning
from ...vocabulary.names.labels import entity_types_of, find_entries, is_neutral

if TYPE_CHECKING:
    from ...vocabulary.changes.overlay import Subset
    from ...vocabulary.kb import ConceptKB
    from ..settings.linker_settings import LinkerSettings

# Maximum number of labels to remember after a warning; callers of a service may send any label.
_MAX_LABELS = 200


def is_linked(
    label: str, settings: "LinkerSettings", linked_elsewhere: Collection[str] = ()
) -> bool:
    """label (str): label of a mention. settings (LinkerSettings), linked_elsewhere
        (Collection[str]): see `links_label`.
    RETURNS (bool): whether the mention is linked. Warns once about each label that is missing from
        `types_by_label`, unless another linker of the pipeline links it."""
    linked = links_label(label, settings, linked_elsewhere)
    is_meant = linked or label in settings.candidates.labels_discard
    if not is_meant and not find_entries(label, linked_elsewhere):
        warn_unlinked(label, tuple(settings.candidates.types_by_label or ()))
    return linked


def links_label(
    label: str, settings: "LinkerSettings", linked_elsewhere: Collection[str] = ()
) -> bool:
    """label (str): label of mentions. settings (LinkerSettings): `labels_discard` and
        `types_by_label`.
    linked_elsewhere (Collection[str]): labels that other linkers of the pipeline name. They link
        them, unless this one names them, too, rather than a wider label.
    RETURNS (bool): whether they are linked: true for labels of `types_by_label`, for all labels if
        it is empty, and for neutral labels such as `ENTITY`, but not for discarded ones. Labels
        match in any spelling of `vocabulary/names/labels.yml`."""
    if _names(label, settings):
        return True
    if label in settings.candidates.labels_discard or find_entries(label, linked_elsewhere):
        return False
    known = settings.candidates.types_by_label or ()
    return is_neutral(label) or bool(find_entries(label, known, wider=True))


def may_share_labels(one: "LinkerSettings", other: "LinkerSettings") -> bool:
    """one (LinkerSettings), other (LinkerSettings): settings of two linkers.
    RETURNS (bool): whether both link a label that one of them names. Neutral labels are ignored:
        both linkers link them, and the last link is kept."""
    named = [*(one.candidates.types_by_label or ()), *(other.candidates.types_by_label or ())]
    return not named or any(_names(label, one) and _names(label, other) for label in named)


def _names(label: str, settings: "LinkerSettings") -> bool:
    """Whether the settings name a label themselves, or link all of them."""
    known = settings.candidates.types_by_label
    is_discarded = label in settings.candidates.labels_discard
    return not is_discarded and (not known or bool(find_entries(label, known)))


@lru_cache(_MAX_LABELS)
def warn_unlinked(label: str, known: tuple[str, ...]) -> None:
    """Warn that mentions with a label are not linked; once, unless 200 other labels follow.

    label (str): label of a mention. known (tuple[str, ...]): labels of `types_by_label`.
    """
    entity_types = " or ".join(sorted(entity_types_of(label)))
    warnings.warn(
        f"[W890] Mentions labeled {label!r}{f' ({entity_types})' if entity_types else ''} are not "
        f"linked: types_by_label has only {', '.join(known)}.",
        AngelWarning,
        stacklevel=3,
    )


def check_types(settings: "LinkerSettings", kb: "ConceptKB") -> None:
    """settings (LinkerSettings): settings with `types_by_label`. kb (ConceptKB): the vocabulary.
    RAISES (AngelError): no concept in the vocabulary has one of the types."""
    types = chain.from_iterable((settings.candidates.types_by_label or {}).values())
    if unknown := sorted(set(types) - set(kb.types)):
        raise AngelError(
            f"types_by_label has the types {unknown}, which the vocabulary lacks. Its types: "
            f"{sorted(kb.types)}."
        )


def limit_types(settings: "LinkerSettings", kb: "ConceptKB") -> None:
    """Empty `types_by_label`, with a warning, if it has types that a new vocabulary lacks.
    Otherwise, mentions with these labels would silently be NIL.

    settings (LinkerSettings): settings with `types_by_label`, changed in place.
    kb (ConceptKB): the vocabulary.
    """
    try:
        check_types(settings, kb)
    except AngelError as error:
        settings.candidates.types_by_label = {}
        told = f"{error} The table is empty now: mentions with any label are linked."
        warnings.warn(told, AngelWarning, stacklevel=3)


def subset_of_label(label: str, kb: "ConceptKB", settings: "LinkerSettings") -> "Subset | None":
    """label (str): label of mentions. kb (ConceptKB): the vocabulary. settings (LinkerSettings):
    `types_by_label`.
    RETURNS (Subset | None): the concepts that the label, or an equivalent one, allows; None: all.
    RAISES (AngelError): the vocabulary does not have the types."""
    types_by_label = settings.candidates.types_by_label or {}
    entries = find_entries(label, types_by_label, wider=True)
    types = {name for entry in entries for name in types_by_label[entry]}
    # Types that only occur in manually added concepts, and that no label lists, impose no limit:
    # these concepts are allowed under every label, like concepts without types.
    listed = {name for names in types_by_label.values() for name in names}
    wanted = frozenset(types) if types else None
    free_types = kb.own_types - listed if types else frozenset()
    if kb.applied_rules is not None:
        return kb.applied_rules.subset(label, wanted, free_types)
    return kb.subset(types=wanted, free_types=free_types) if types else None
