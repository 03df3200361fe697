"""Settings of older versions, and what holds in their place."""

import warnings
from collections.abc import Mapping
from typing import Any

from ...errors import AngelWarning
from .linker_settings import LinkerSettings

# Up to 0.1 candidates were ranked by «evidence», with weights for other features.
_OF_0_1 = {"evidence": "rerank"}
_DROPPED = ("evidence_weights", "evidence_weights_by_label")
# They had no effect with it, and were written all the same.
_OF_THE_MODEL = ("temperature", "min_log_prob")
# Up to 0.2; entries of blocks as `CheckedSettings.flat` has them.
_SAME = {
    "search": ("mode", "length_penalty", "max_work", "temperature", "min_log_prob"),
    "reading": ("max_source_tokens", "long_forms", "species_context"),
    "ranker": ("nil_prior",),
}
RENAMED = {
    "hints": "reading.species_context",
    "nil_share": "ranker.nil_prior",
    "once_a_document": "search.shortcuts",
    "cache_in_document": "search.shortcuts",
    "exact_names_unsearched": "search.shortcuts",
    "exact_matches_unsearched": "search.shortcuts",
    **{name: f"{block}.{name}" for block, names in _SAME.items() for name in names},
    "resolve_abbreviations": "reading.abbreviations",
    "expand_short_forms": "reading.short_forms",
    "correct_spelling": "reading.spelling",
    "ranker_weights": "ranker.weights",
    "kb_id_attr": "outputs.kb_id",
    "kb_ents_attr": "outputs.kb_ents",
    "candidates_attr": "outputs.candidates",
    "output_span_key": "outputs.span_key",
}
# No settings any more: name → what holds for all, and whatever else made no difference.
CONSTANT: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("near_names", "similar_names"), (5,)),
    **dict.fromkeys(("exact_name_probability", "exact_match_probability"), (0.96,)),
    **dict.fromkeys(("restrict_kinds", "restrict_entity_types"), (True,)),
    **dict.fromkeys(("link_exact_names", "link_exact_matches"), (True, False)),
}
OLDER = {
    **{old: f"of version 0.1: it is called `{new}` now" for old, new in _OF_0_1.items()},
    **dict.fromkeys(_DROPPED, "of version 0.1: use `ranker`"),
    **{old: f"of version 0.2: it is called `{new}` now" for old, new in RENAMED.items()},
    **{old: f"of version 0.2: it is {holds[0]} for all now" for old, holds in CONSTANT.items()},
}
"""Settings that are no more, and what to use instead."""


def as_of_now(settings: Mapping[str, Any], *, is_saved: bool = False) -> dict[str, Any]:
    """settings (Mapping[str, Any]): by name. is_saved (bool): they are a saved pipeline's, so that
    nobody is told of what is read as ever. RETURNS (dict[str, Any]): those of today, flat; what is
    of an older version is told once."""
    if old := sorted(settings.keys() & {*_OF_0_1, *_DROPPED}):
        warnings.warn(
            f"This pipeline is older than the ranker: {', '.join(old)} no longer count. Save it "
            "again.",
            AngelWarning,
            stacklevel=3,
        )
    given = {} if is_saved else settings
    told = [f"{old} is {new}" for old, new in RENAMED.items() if old in given]
    told += [
        f"{old} is {holds[0]} for all"
        for old, holds in CONSTANT.items()
        if old in settings and not (is_saved and settings[old] in holds)
    ]
    if told:
        warnings.warn(
            f"angel_linker's settings have changed: {', '.join(sorted(told))}. Use the new ones.",
            AngelWarning,
            stacklevel=3,
        )
    dropped = {*_DROPPED, *(_OF_THE_MODEL if settings.get("evidence") else ())}
    kept = {_OF_0_1.get(k, k): v for k, v in settings.items() if k not in dropped}
    return renamed(kept)


def renamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """settings (Mapping[str, Any]): by name, which 0.2 may have known by another one. RETURNS
    (dict[str, Any]): by today's names, flat; of a setting under both, what the new one says."""
    old: dict[str, Any] = {}
    for name, new in RENAMED.items():
        if name in settings:
            # Of two that are one now, each was a way to switch it off.
            old[new] = old.get(new, settings[name]) and settings[name]
    known = RENAMED.keys() | CONSTANT.keys()
    kept = LinkerSettings.flat({n: v for n, v in settings.items() if n not in known})
    if isinstance(kept.get("ranker", 0), str | None):
        # A path alone is short for the block.
        old["ranker.path"] = kept.pop("ranker")
    return old | kept
