"""What is looked for in the place of a mention: itself, its long form, and other ways to write it.

The first query is what the model reads; names that the others are, or are similar to, are
candidates as well, and the ranker knows by which one each came.
"""

from collections.abc import Callable
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
from .derived import derived_names
from .organisms import read_organism
from .permitted import is_name
from .reading import ReadDocument
from .spelling import correct_spelling
from .symbols import spell_out

if TYPE_CHECKING:
    from spacy.tokens import Span

    from ...curation.curated import Curated
    from ...vocabulary.kb import ConceptKB
    from ..settings.linker_settings import LinkerSettings


def read_queries(
    mention: Mention,
    span: "Span",
    kb: "ConceptKB",
    settings: "LinkerSettings",
    document: ReadDocument | None = None,
    curated: "Curated | None" = None,
) -> Mention:
    """mention (Mention): with the long forms that its document defines. span (Span): where it
    stands. kb (ConceptKB): the vocabulary. settings (LinkerSettings): `rerank` and
    `reading` say what is done. document (ReadDocument | None): of
    the span, where it has been read already. curated (Curated | None): the rules of curation.
    RETURNS (Mention): as it is to be read, with its queries."""
    document = document or ReadDocument(span.doc)
    own = cache(partial(is_name, label=span.label_, kb=kb, settings=settings, curated=curated))
    written = document.text_of(span)
    queries = [Query(written, MENTION)]
    if mention.text != written:
        queries.insert(0, Query(mention.text, LONG_FORM))
    if settings.rerank and is_gene(span.label_) and not own(queries[0].text):
        # A gene's symbol is its name; what a document says in full is often in words of its own.
        symbols = [written]
        if settings.reading.abbreviations:
            symbols += document.short_forms.get(normalize_name(written), ())
        symbol = next(filter(own, symbols), None)
        if symbol is not None:
            queries.insert(0, Query(symbol, MENTION))
    if (path := settings.reading.long_forms) is not None:
        _add(queries, LONG_FORM, mention, partial(expand_long_form, path=Path(path)))
    if settings.reading.short_forms:
        spelled = spell_out(queries[0].text)
        # The model reads no Greek letter: of two names of the vocabulary it gets the other one.
        if spelled != queries[0].text and (own(spelled) or not own(queries[0].text)):
            queries.insert(0, Query(spelled, SYMBOLS))
        _add(queries, WORD_LIST, mention, partial(expand_short_form, kb=kb, is_name=own))
        if is_species(span.label_):
            _add(queries, WORD_LIST, mention, partial(read_organism, is_name=own))
    if settings.reading.spelling and STRICT.isdisjoint(wider_entity_types_of(span.label_)):
        _add(queries, SPELLING, mention, partial(correct_spelling, kb=kb))
    entity_types = entity_types_of(span.label_)
    is_strict = bool(entity_types) and entity_types <= STRICT
    if settings.rerank and not is_strict and not own(queries[0].text):
        # Beside what the model reads, which is the document's own word.
        queries += [Query(name, DERIVED) for name in derived_names(queries[0].text, own)]
    if not settings.rerank:
        return replace(mention, text=queries[0].text, queries=(queries[0],))
    return replace(mention, text=queries[0].text, queries=tuple(dict.fromkeys(queries)))


def _add(
    queries: list[Query], source: str, mention: Mention, read: Callable[[Mention], Mention]
) -> None:
    """Put what the first query is read as before it, if that is something else."""
    first = queries[0].text
    text = read(replace(mention, text=first)).text
    if text != first:
        queries.insert(0, Query(text, source))
