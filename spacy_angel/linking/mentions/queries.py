"""What is looked for in the place of a mention: itself, its long form, and other ways to write it.

The first query is what the model reads; names that the others are, or are similar to, are
candidates as well, and the ranker knows by which one each came.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...model.mention import (
    DERIVED,
    LONG_FORM,
    MENTION,
    SPELLING,
    SYMBOLS,
    WORD_LIST,
    Mention,
    Query,
)
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_type_table import STRICT
from ...vocabulary.names.entity_types import is_gene, is_species
from ...vocabulary.names.labels import entity_types_of, wider_entity_types_of
from ..settings.short_forms import expand_long_form, expand_short_form
from . import permitted
from .derived import derived_names
from .organisms import read_organism
from .reading import ReadDocument
from .spelling import correct_spelling
from .symbols import respaced, spell_out

if TYPE_CHECKING:
    from spacy.tokens import Span

    from ...curation.curated import Curated
    from ...vocabulary.kb import ConceptKB
    from ..settings.linker_settings import LinkerSettings


Rule = tuple[str, Callable[[str], str]]
"""Source of the queries that a rule makes, and how it reads a text: as it is, or as another."""


def read_queries(
    mention: Mention,
    span: "Span",
    kb: "ConceptKB",
    settings: "LinkerSettings",
    document: ReadDocument | None = None,
    curated: "Curated | None" = None,
) -> Mention:
    """Each rule reads what the rules before it made of the mention; what the last one makes of it
    is what the model reads.

    mention (Mention): with the long forms that its document defines. span (Span): where it
    stands. kb (ConceptKB): the vocabulary. settings (LinkerSettings): `rerank` and
    `reading` say what is done. document (ReadDocument | None): of
    the span, where it has been read already. curated (Curated | None): the rules of curation.
    RETURNS (Mention): as it is to be read, with its queries: with `rerank` the readings, the last
        one first, and words that this is derived from, which the model does not read."""
    document = document or ReadDocument(span.doc)
    label = span.label_
    is_name = cache(
        partial(permitted.is_name, label=label, kb=kb, settings=settings, curated=curated)
    )
    text = document.text_of(span)
    readings = [Query(text, MENTION)]
    for source, read in _rules(mention, span, kb, settings, document, is_name):
        if (other := read(text)) != text:
            text = other
            readings.append(Query(text, source))
    readings.reverse()
    if not settings.rerank:
        return replace(mention, text=text, queries=(readings[0],))
    entity_types = entity_types_of(label)
    if not (entity_types and entity_types <= STRICT) and not is_name(text):
        readings += [Query(name, DERIVED) for name in derived_names(text, is_name)]
    return replace(mention, text=text, queries=tuple(dict.fromkeys(readings)))


def _rules(
    mention: Mention,
    span: "Span",
    kb: "ConceptKB",
    settings: "LinkerSettings",
    document: ReadDocument,
    is_name: Callable[[str], bool],
) -> Iterator[Rule]:
    """YIELDS (Rule): in the order in which they read a mention."""
    label, reading = span.label_, settings.reading

    def of_mention(expand: Callable[[Mention], Mention]) -> Callable[[str], str]:
        return lambda text: expand(replace(mention, text=text)).text

    def as_symbol(text: str) -> str:
        # A gene's symbol is its name; what a document says in full is often in words of its own.
        if is_name(text):
            return text
        written = document.text_of(span)
        symbols = [written]
        if reading.abbreviations:
            symbols += document.short_forms.get(normalize_name(written), ())
        return next(filter(is_name, symbols), text)

    def without_greek(text: str) -> str:
        # The model reads no Greek letter: of two names of the vocabulary it gets the other one.
        spelled = spell_out(text)
        return spelled if is_name(spelled) or not is_name(text) else text

    def respaced_as_name(text: str) -> str:
        return text if is_name(text) else next(filter(is_name, respaced(text)), text)

    yield LONG_FORM, lambda _: mention.text
    if settings.rerank and is_gene(label):
        yield MENTION, as_symbol
    if reading.long_forms is not None:
        yield LONG_FORM, of_mention(partial(expand_long_form, path=Path(reading.long_forms)))
    if reading.short_forms:
        yield SYMBOLS, without_greek
        yield WORD_LIST, of_mention(partial(expand_short_form, kb=kb, is_name=is_name))
        if is_species(label):
            yield WORD_LIST, of_mention(partial(read_organism, is_name=is_name))
        yield SYMBOLS, respaced_as_name
    if reading.spelling and STRICT.isdisjoint(wider_entity_types_of(label)):
        yield SPELLING, of_mention(partial(correct_spelling, kb=kb))
