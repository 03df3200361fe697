"""A user's script that sets options of the linker; `make lint` checks its types."""

from typing import cast

import spacy_angel
from spacy_angel.linking.linker import AngelLinker
from spacy_angel.linking.settings.linker_settings import LinkerSettings

nlp = spacy_angel.load(dtype="auto", decision={"threshold": 0.8})
linker = cast(AngelLinker, nlp.get_pipe("angel_linker"))
linker.settings.decision.threshold = 0.7
linker.settings.decision.prefer = ("MONDO", "MESH")
linker.settings.candidates.types_by_label = {"DISEASE": ("C",)}
beams: int | None = linker.settings.candidates.num_beams
with linker.using(candidates={"shortcuts": False}, reranker={"enabled": False}):
    doc = nlp("He has CKD.")
own = AngelLinker(nlp.vocab, settings=LinkerSettings())
# Errors that mypy has to find: with `warn_unused_ignores` each comment says that it does.
linker.settings.decision.treshold = 0.7  # type: ignore[attr-defined]
linker.settings.decision.threshold = "high"  # type: ignore[assignment]
linker.using(decison={"threshold": 0.7})  # type: ignore[call-arg]
