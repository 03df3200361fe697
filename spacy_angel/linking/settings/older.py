"""Settings of older versions, and what holds in their place."""

import warnings
from collections.abc import Mapping
from typing import Any

from ...errors import Warnings

# Up to 0.1 candidates were ranked by «evidence», with weights for other features.
_RENAMED = {"evidence": "rerank"}
_DROPPED = ("evidence_weights", "evidence_weights_by_label")
# They had no effect with it, and were written all the same.
_OF_THE_MODEL = ("temperature", "min_log_prob")
OLDER = {
    **{old: f"of version 0.1: it is called `{new}` now" for old, new in _RENAMED.items()},
    **dict.fromkeys(_DROPPED, "of version 0.1: use `ranker` or `ranker_weights`"),
}
"""Settings that are no more, and what to use instead."""


def as_of_now(settings: Mapping[str, Any]) -> dict[str, Any]:
    """settings (Mapping[str, Any]): by name. RETURNS (dict[str, Any]): those of today; what is of
    an older version is told once."""
    if old := sorted(settings.keys() & OLDER.keys()):
        warnings.warn(Warnings.W307.format(old=", ".join(old)), stacklevel=3)
    dropped = {*_DROPPED, *(_OF_THE_MODEL if settings.get("evidence") else ())}
    return {_RENAMED.get(k, k): v for k, v in settings.items() if k not in dropped}
