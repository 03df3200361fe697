"""What is looked for in place of a mention: itself, its long form, and other ways to write it.

The model reads the first wording. Names that equal or resemble the others are candidates as well,
and the reranker knows which wording each of them resembles.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING

from ...model.mention import Mention
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_type_table import STRICT
from ...vocabulary.names.entity_types import is_gene, is_species
from ...vocabulary.names.labels import wider_entity_types_of
from ..types import LONG_FORM, MENTION, SPELLING, SYMBOLS, WORD_LIST, Wording
from . import permitted
from .reading import ReadDocument
from .rewriting import (
    correct_spelling,
    expand_short_form,
    find_binomial,
    respaced,
    spell_out,
)

if TYPE_CHECKING:
    from spacy.tokens import Span

    from ...vocabulary.kb import ConceptKB
    from ..settings.linker_settings import LinkerSettings


def read_wordings(
    mention: Mention,
    span: "Span",
    kb: "ConceptKB",
    settings: "LinkerSettings",
    document: ReadDocument | None = None,
) -> tuple[Wording, ...]:
    """Rewrite a mention. Each rule gets what the rules before it returned; the model reads what the
    last one returns.

    mention (Mention): with the long forms that its document defines.
    span (Span): of the mention.
    kb (ConceptKB): the vocabulary.
    settings (LinkerSettings): `reranker.enabled` and `candidates.rewrite` select the rules.
    document (ReadDocument | None): of the span, if it has been read already.
    RETURNS (tuple[Wording, ...]): the one that the model reads first; with the reranker all others
        as well.
    """
    document = document or ReadDocument(span.doc)
    label = span.label_
    is_name = cache(partial(permitted.is_name, label=label, kb=kb, settings=settings))
    text = document.text_of(span)
    wordings = [Wording(text, MENTION)]
    for source, rewrite in _rules(mention, span, kb, settings, document, is_name):
        if (other := rewrite(text)) != text:
            text = other
            wordings.append(Wording(text, source))
    wordings.reverse()
    if not settings.reranker.enabled:
        return (wordings[0],)
    return tuple(dict.fromkeys(wordings))


def _rules(
    mention: Mention,
    span: "Span",
    kb: "ConceptKB",
    settings: "LinkerSettings",
    document: ReadDocument,
    is_name: Callable[[str], bool],
) -> Iterator[tuple[str, Callable[[str], str]]]:
    """YIELDS (tuple[str, Callable[[str], str]]): in their order: the source of the wordings that
    a rule makes, and the rule."""
    label = span.label_

    def as_symbol(text: str) -> str:
        # A gene's symbol is its name; long forms in documents are often in other words.
        if is_name(text):
            return text
        written = document.text_of(span)
        symbols = [written]
        symbols += document.short_forms.get(normalize_name(written), ())
        return next(filter(is_name, symbols), text)

    def without_greek(text: str) -> str:
        # The model reads no Greek letters: of two names of the vocabulary it gets the other one.
        spelled = spell_out(text)
        return spelled if is_name(spelled) or not is_name(text) else text

    yield LONG_FORM, lambda _: mention.text
    if settings.reranker.enabled and is_gene(label):
        yield MENTION, as_symbol
    if settings.candidates.rewrite:
        yield SYMBOLS, without_greek
        yield WORD_LIST, partial(expand_short_form, kb=kb, is_name=is_name)
        if is_species(label):
            yield WORD_LIST, partial(find_binomial, is_name=is_name)
        yield (
            SYMBOLS,
            lambda text: text if is_name(text) else next(filter(is_name, respaced(text)), text),
        )
    if settings.candidates.rewrite and STRICT.isdisjoint(wider_entity_types_of(label)):
        yield SPELLING, partial(correct_spelling, kb=kb)
