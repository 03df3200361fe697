"""Whether components stand in the order in which each reads what the other writes."""

import warnings
from typing import TYPE_CHECKING

from ...errors import AngelWarning

if TYPE_CHECKING:
    from spacy.language import Language

_DETECTOR = "abbreviation_detector"


def warn_of_late_detectors(nlp: "Language") -> None:
    """Tell of linkers that resolve abbreviations and stand before what finds them.

    nlp (Language): the pipeline, when it first runs: components may be moved until then.
    """
    from ..linker import AngelLinker

    before: list[str] = []
    for name, component in nlp.pipeline:
        if isinstance(component, AngelLinker) and component.settings.reading.abbreviations:
            before.append(name)
        elif before and nlp.get_pipe_meta(name).factory == _DETECTOR:
            for linker in before:
                warnings.warn(
                    f"{name} must come before {linker}: nlp.add_pipe(..., before={linker!r}).",
                    AngelWarning,
                    stacklevel=3,
                )
            return
        # one detector in the right place is enough
        elif nlp.get_pipe_meta(name).factory == _DETECTOR:
            return
