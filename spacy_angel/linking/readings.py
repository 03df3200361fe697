"""What a mention is read as before it is searched: long forms, known names, known words."""

from pathlib import Path
from typing import TYPE_CHECKING

from .respelling import respell
from .short_forms import expand_long_form, expand_short_form

if TYPE_CHECKING:
    from ..model.mention import Mention
    from ..vocabulary.kb import ConceptKB
    from .settings import LinkerSettings


def as_meant(mention: "Mention", kb: "ConceptKB", settings: "LinkerSettings") -> "Mention":
    """mention (Mention): with the long forms that its document defines. kb (ConceptKB): the
    vocabulary. settings (LinkerSettings): `long_forms`, `expand_short_forms` and
    `correct_spelling` say what is done. RETURNS (Mention): as it is to be read."""
    if settings.long_forms is not None:
        mention = expand_long_form(mention, Path(settings.long_forms))
    if settings.expand_short_forms:
        mention = expand_short_form(mention, kb)
    if settings.correct_spelling:
        mention = respell(mention, kb)
    return mention
