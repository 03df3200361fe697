"""Presets for the settings of `angel_linker`, and `types_by_label` for the shipped vocabularies."""

from typing import Any

from ...about import SHIPPED_NAME
from ...vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE

PUBLISHED: dict[str, dict[str, Any]] = {
    "candidates": {
        "types_by_label": {},
        "rewrite": False,
        "num_beams": None,
        "length_penalty": 1.0,
        "shortcuts": False,
    },
    "reranker": {"enabled": False},
    "decision": {"threshold": None},
}
"""The method as published: the model alone links every mention. The shipped pipelines use the
defaults of `LinkerSettings` instead."""

_TYPES = {row.name: list(row.shipped) for row in ENTITY_TYPE_TABLE if row.shipped}
TYPES_BY_LABEL: dict[str, dict[str, list[str]]] = {
    SHIPPED_NAME: {label: _TYPES[label] for label in ("DISEASE", "CHEMICAL")},
    "en_angel_bio": _TYPES,
}
"""Shipped vocabulary → label → semantic types that its mentions may link to."""


def types_of(vocabulary: Any) -> dict[str, Any]:
    """vocabulary (Any): value of `vocabulary` in a config. RETURNS (dict[str, list[str]]): its
    `types_by_label`; empty for vocabularies that do not ship with the package."""
    if vocabulary is None:
        return TYPES_BY_LABEL[SHIPPED_NAME]
    return TYPES_BY_LABEL.get(str(vocabulary), {})
