"""What a stored vocabulary says of itself, beside its columns."""

from collections.abc import Collection, Mapping
from typing import Any, get_args

from .table import SharedNames

_META_TYPES = {
    "shared_names": str,
    "fingerprint": str,
    "counts": dict,
    "sources": list,
    "steps": list,
}
_SHOWN_COUNTS = ("concepts", "names", "spellings")


def problem_of(meta: Mapping[str, Any], suffix_rules: Collection[str]) -> str:
    """meta (Mapping[str, Any]): what stands beside the columns. suffix_rules (Collection[str]):
    those that there are. RETURNS (str): what is wrong with it; empty where nothing is."""
    if missing := [key for key in _META_TYPES if key not in meta]:
        return f"the keys {missing} are missing"
    for key, type_ in _META_TYPES.items():
        if not isinstance(meta[key], type_):
            return f"{key} is {meta[key]!r}"
    if meta["shared_names"] not in get_args(SharedNames):
        return f"shared_names is {meta['shared_names']!r}"
    if meta.get("endings") not in (None, *suffix_rules):
        return f"endings is {meta['endings']!r}"
    if wrong := [key for key in _SHOWN_COUNTS if type(meta["counts"].get(key)) is not int]:
        return f"the counts {wrong} are missing or not whole numbers"
    frequencies = meta.get("frequencies", {})
    if not isinstance(frequencies, dict) or {type(n) for n in frequencies.values()} - {int}:
        return f"frequencies is {frequencies!r}"
    own_names = meta.get("own_names", {})
    if not isinstance(own_names, dict) or {type(names) for names in own_names.values()} - {list}:
        return f"own_names is {own_names!r}"
    for key in ("sources", "steps"):
        if not all(isinstance(entry, dict) for entry in meta[key]):
            return f"{key} is {meta[key]!r}"
    return ""
