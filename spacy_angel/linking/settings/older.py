"""Settings of older versions, and what holds in their place."""

import warnings
from collections.abc import Mapping
from typing import Any, TypeVar

from ...errors import Warnings

_T = TypeVar("_T")

# Up to 0.1 candidates were ranked by «evidence», with weights for other features.
_OF_0_1 = {"evidence": "rerank"}
_DROPPED = ("evidence_weights", "evidence_weights_by_label")
# They had no effect with it, and were written all the same.
_OF_THE_MODEL = ("temperature", "min_log_prob")
# Up to 0.2.
RENAMED = {
    "near_names": "similar_names",
    "hints": "species_context",
    "restrict_kinds": "restrict_entity_types",
    "nil_share": "nil_prior",
    "once_a_document": "cache_in_document",
    "exact_names_unsearched": "exact_matches_unsearched",
    "exact_name_probability": "exact_match_probability",
    "link_exact_names": "link_exact_matches",
}
OLDER = {
    **{old: f"of version 0.1: it is called `{new}` now" for old, new in _OF_0_1.items()},
    **dict.fromkeys(_DROPPED, "of version 0.1: use `ranker` or `ranker_weights`"),
    **{old: f"of version 0.2: it is called `{new}` now" for old, new in RENAMED.items()},
}
"""Settings that are no more, and what to use instead."""


def as_of_now(settings: Mapping[str, Any], *, is_saved: bool = False) -> dict[str, Any]:
    """settings (Mapping[str, Any]): by name. is_saved (bool): they are a saved pipeline's, so that
    nobody is told of names that are read as ever. RETURNS (dict[str, Any]): those of today; what is
    of an older version is told once."""
    if old := sorted(settings.keys() & {*_OF_0_1, *_DROPPED}):
        warnings.warn(Warnings.W307.format(old=", ".join(old)), stacklevel=3)
    if not is_saved and (old := sorted(settings.keys() & RENAMED.keys())):
        names = ", ".join(f"{name} is {RENAMED[name]}" for name in old)
        warnings.warn(Warnings.W309.format(renamed=names), stacklevel=3)
    dropped = {*_DROPPED, *(_OF_THE_MODEL if settings.get("evidence") else ())}
    kept = {_OF_0_1.get(k, k): v for k, v in settings.items() if k not in dropped}
    return renamed(kept)


def renamed(settings: Mapping[str, _T]) -> dict[str, _T]:
    """settings (Mapping[str, _T]): by name, which 0.2 may have known by another one. RETURNS
    (dict[str, _T]): by the names of today; of a setting under both, what the new one says."""
    old = {RENAMED[name]: value for name, value in settings.items() if name in RENAMED}
    return old | {name: value for name, value in settings.items() if name not in RENAMED}
