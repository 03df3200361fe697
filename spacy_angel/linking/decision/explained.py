"""What an explanation asks of a linker."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from ...curation.curated import Curated
from ..settings.linker_settings import LinkerSettings
from .links import GeneratedCandidates

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from ...model.mention import Mention
    from ...search.generator import Generator
    from ...vocabulary.kb import ConceptKB


class ExplainedLinker(Protocol):
    """Settings, vocabulary, model, and candidates of a document, as `AngelLinker` gives them."""

    @property
    def settings(self) -> LinkerSettings: ...
    @property
    def kb(self) -> "ConceptKB": ...
    @property
    def curated(self) -> Curated | None: ...
    @property
    def generator(self) -> "Generator": ...
    def rank(self, candidates: Iterable[dict[str, Any]]) -> list[tuple[str, float]]: ...
    def candidates_of(
        self, doc: "Doc", curated: Curated | None
    ) -> list[tuple["Mention", GeneratedCandidates | None]]: ...
