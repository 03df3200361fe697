"""What a mention is read as before it is searched: long forms, known names, known words."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..vocabulary.concepts import normalize_name
from ..vocabulary.kinds import is_gene, is_species
from .mentions import ReadDocument
from .organisms import expand_genus, read_organism
from .permitted import is_name
from .respelling import respell
from .short_forms import expand_long_form, expand_short_form

if TYPE_CHECKING:
    from spacy.tokens import Span

    from ..model.mention import Mention
    from ..vocabulary.kb import ConceptKB
    from .settings import LinkerSettings


# Not of `CaCl(2)`.
_ASIDE = re.compile(r"\s+[(\[][^()\[\]]*[)\]]")


def as_meant(
    mention: "Mention",
    span: "Span",
    kb: "ConceptKB",
    settings: "LinkerSettings",
    document: ReadDocument | None = None,
) -> "Mention":
    """mention (Mention): with the long forms that its document defines. span (Span): where it
    stands. kb (ConceptKB): the vocabulary. settings (LinkerSettings): `evidence`, `long_forms`,
    `expand_short_forms` and `correct_spelling` say what is done. document (ReadDocument | None): of
    the span, where it has been read already.
    RETURNS (Mention): as it is to be read."""
    document = document or ReadDocument(span.doc)
    own = partial(is_name, label=span.label_, kb=kb, settings=settings)
    if settings.evidence and is_gene(span.label_) and not own(mention.text):
        # A gene's symbol is its name; what a document says in full is often in words of its own.
        symbols = [document.text_of(span)]
        if settings.resolve_abbreviations:
            symbols += document.short_forms.get(normalize_name(symbols[0]), ())
        mention = replace(mention, text=next(filter(own, symbols), mention.text))
    if settings.long_forms is not None:
        mention = expand_long_form(mention, Path(settings.long_forms))
    if settings.expand_short_forms:
        mention = expand_short_form(mention, kb, own)
        without = _ASIDE.sub("", mention.text)
        if not own(mention.text) and own(without):
            # `growth hormone (GH) receptor`
            mention = replace(mention, text=without)
        mention = expand_genus(mention, document.text, own)
        if is_species(span.label_):
            mention = read_organism(mention, own)
    if settings.correct_spelling:
        mention = respell(mention, kb)
    return mention
