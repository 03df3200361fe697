"""What is looked for in place of a mention: itself, its long form, and other ways to write it.

The model reads the first wording. Names that equal or resemble the others are candidates as well,
and the reranker knows which wording each of them resembles.
"""

from functools import cache, partial
from typing import TYPE_CHECKING

from ...model.mention import Mention
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_type_table import STRICT
from ...vocabulary.names.entity_types import is_gene, is_species
from ...vocabulary.names.labels import wider_entity_types_of
from ..types import LONG_FORM, MENTION, SPELLING, SYMBOLS, WORD_LIST, Wording
from .names import NameReader
from .reading import ReadDocument
from .rewriting import (
    correct_spelling,
    expand_short_form,
    find_binomial,
    respaced,
    spell_out,
)

if TYPE_CHECKING:
    from ..settings.linker_settings import LinkerSettings


def read_wordings(
    mention: Mention,
    written: str,
    label: str,
    document: ReadDocument,
    names: NameReader,
    settings: "LinkerSettings",
) -> tuple[Wording, ...]:
    """Rewrite a mention, one rule after the other. Each rule gets what the rules before it
    returned; the model reads what the last one returns.

    mention (Mention): with the long forms that its document defines.
    written (str): as the document has it. label (str): its label.
    document (ReadDocument): in which it is.
    names (NameReader): of the vocabulary.
    settings (LinkerSettings): `reranker.enabled` and `candidates.rewrite` select the rules.
    RETURNS (tuple[Wording, ...]): the one that the model reads first; with the reranker all others
        as well.
    """
    is_name = cache(partial(names.is_name, label=label))
    wordings = [Wording(written, MENTION)]

    def add(text: str, source: str) -> str:
        if text != wordings[-1].text:
            wordings.append(Wording(text, source))
        return text

    text = add(mention.text, LONG_FORM)
    # A gene's symbol is its name; long forms in documents are often in other words.
    if settings.reranker.enabled and is_gene(label) and not is_name(text):
        short_forms = document.short_forms.get(normalize_name(written), ())
        text = add(next(filter(is_name, (written, *short_forms)), text), MENTION)
    if settings.candidates.rewrite:
        # The model reads no Greek letters: of two names of the vocabulary it gets the other one.
        spelled = spell_out(text)
        if is_name(spelled) or not is_name(text):
            text = add(spelled, SYMBOLS)
        text = add(expand_short_form(text, names, is_name), WORD_LIST)
        if not is_name(text) and is_species(label):
            text = add(find_binomial(text, is_name), WORD_LIST)
        if not is_name(text):
            text = add(next(filter(is_name, respaced(text)), text), SYMBOLS)
        if STRICT.isdisjoint(wider_entity_types_of(label)):
            add(correct_spelling(text, names), SPELLING)
    if not settings.reranker.enabled:
        return (wordings[-1],)
    return tuple(dict.fromkeys(reversed(wordings)))
