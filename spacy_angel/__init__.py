"""Biomedical entity linking in spaCy by constrained generation of concept names.

The public names are imported when they are first used: `import spacy_angel` costs nothing.
Where spaCy is imported already, it registers the attributes on `span._` and `doc._`, so that stored
documents can be read without a linker; else the first `Language` that is made does.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .about import __version__ as __version__

if TYPE_CHECKING:
    from .annotation.run import annotate
    from .linking.linker import AngelLinker
    from .pipelines.check_ids import check_ids
    from .pipelines.ground import ground
    from .pipelines.load import load
    from .vocabulary.kb import ConceptKB
    from .vocabulary.names.concepts import Concept

__all__ = ["AngelLinker", "Concept", "ConceptKB", "annotate", "check_ids", "ground", "load"]

_MODULES = {
    "AngelLinker": "linking.linker",
    "Concept": "vocabulary.names.concepts",
    "ConceptKB": "vocabulary.kb",
    "annotate": "annotation.run",
    "check_ids": "pipelines.check_ids",
    "ground": "pipelines.ground",
    "load": "pipelines.load",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if "spacy.tokens.span" in sys.modules:
    for _module in (
        "component.probability",
        "linking.decision.writing",
        "recognition.variants.component",
    ):
        import_module(f".{_module}", __name__)
