"""Read mentions in their context, with abbreviations replaced by their long forms.

Offsets refer to the cleaned text, see `component.characters`. The document is not changed.
"""

import re
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spacy.tokens import Doc, Span

from ...component.characters import clean
from ...errors import AngelWarning
from ...model.mention import Mention, Replacement, mention_at, replace_longest
from ...model.prompts import PromptFormat
from ...vocabulary.names.concepts import normalize_name
from ...vocabulary.names.entity_types import is_cell_line, is_species, label_of, may_need_species
from ...vocabulary.names.taxa import HUMAN, MOUSE, RAT, is_taxon

if TYPE_CHECKING:
    from ...vocabulary.kb import ConceptKB

ABBREVIATIONS = ("._.", "abbreviations", None, None)
"""Key of the detected abbreviations in `doc.user_data`."""
# Longer lower-case words are not short forms.
_SHORTEST_WORD = 3
READ_AS = "spacy_angel_read_as"
"""Key in `doc.user_data` of texts that replace individual mentions: a list of `[start, end, text]`
with character offsets."""

_TELLING_DONORS = frozenset({HUMAN, MOUSE, RAT})
# One or two words, the last of at least three characters, before `cells` or `cell line`.
_CELLS = re.compile(r"(?<![\w-])(?:([\w/.-]{1,40}) )?([\w/.-]{3,40}) cell(?:s| lines?)?\b")


class ReadDocument:
    """The cleaned text of a document, with its abbreviations.

    doc (Doc): the document, which must not change while this object is in use.
    """

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self._read = clean(doc.text)
        self.text = self._read.text
        """The cleaned text."""

    def offsets_of(self, span: Span) -> tuple[int, int]:
        """span (Span): a span of the document. RETURNS (tuple[int, int]): its offsets in `text`."""
        return self._read.from_source(span.start_char, span.end_char)

    def text_of(self, span: Span) -> str:
        """span (Span): a span of the document. RETURNS (str): its cleaned text; may be empty."""
        start, end = self.offsets_of(span)
        return self.text[start:end]

    @cached_property
    def replacements(self) -> list[Replacement]:
        """RETURNS (list[Replacement]): the result of `abbreviation_replacements`, with character
        offsets in `text`."""
        found = abbreviation_replacements(self.doc)
        return [Replacement(*self._read.from_source(r.start, r.end), r.text) for r in found]

    @cached_property
    def short_forms(self) -> dict[str, list[str]]:
        """RETURNS (dict[str, list[str]]): long form in normal form → its short forms, in the order
        of the text."""
        forms: defaultdict[str, list[str]] = defaultdict(list)
        for r in self.replacements:
            forms[normalize_name(r.text)].append(self.text[r.start : r.end])
        return forms


def find_spans(doc: Doc, span_key: str | None) -> list[Span]:
    """Find the mentions of a document.

    doc (Doc): a document.
    span_key (str | None): the span group to read; None reads `doc.ents`.
    RETURNS (list[Span]): the mentions, in the order of the entities or of the group. If the
        document is not empty but lacks the group, a warning is issued and the list is empty.
    """
    if span_key is None:
        return list(doc.ents)
    if span_key in doc.spans:
        return list(doc.spans[span_key])
    if len(doc):
        warnings.warn(
            f"A document has no span group {span_key!r}, so nothing is linked. Its groups: "
            f"{sorted(doc.spans)}.",
            AngelWarning,
            stacklevel=2,
        )
    return []


def read_mentions(
    document: ReadDocument,
    spans: Sequence[Span],
    format: PromptFormat,
    kb: "ConceptKB",
) -> list[Mention]:
    """Read mentions in their context, as the model sees them. The context is the whole document, up
    to the model's maximum length, with the short forms in `doc._.abbreviations` replaced by their
    long forms.

    document (ReadDocument): the document.
    spans (Sequence[Span]): its mentions, in any order; they may overlap and cross sentences.
    format (PromptFormat): the format of the model.
    kb (ConceptKB): the vocabulary; if it was built with `by_species`, mentions of genes get their
        species context.
    RETURNS (list[Mention]): one mention per span.
    """
    contexts = _species_contexts(document, spans, kb)
    data = document.doc.user_data.get(READ_AS, ())
    read_as = {(start, end): read for start, end, read in data}
    return [
        mention_at(
            document.text,
            *document.offsets_of(span),
            replacements=document.replacements,
            collapse_spaces=format.collapse_spaces,
            expand_context=format.expand_context,
            read_as=read_as.get((span.start_char, span.end_char), ""),
            species_context=species_context,
        )
        for span, species_context in zip(spans, contexts, strict=True)
    ]


def _species_contexts(document: ReadDocument, spans: Sequence[Span], kb: "ConceptKB") -> list[str]:
    """Find the species context of each mention.

    document (ReadDocument): a document.
    spans (Sequence[Span]): its mentions.
    kb (ConceptKB): the vocabulary, with the names of species and cell lines.
    RETURNS (list[str]): the context of each mention, see `SpeciesReader.context_of`; empty if its
        label does not require one, or if the vocabulary was not built with `by_species`.
    """
    if (species_reader := kb.species_reader) is None:
        return [""] * len(spans)
    species: list[tuple[int, int, str]] = []
    # Cells of other species express foreign genes.
    has_genes_of = species_reader.has_genes_of
    known = []
    for span in (*document.doc.ents, *spans):
        is_organism, offsets = is_species(span.label_), document.offsets_of(span)
        if is_organism or is_cell_line(span.label_):
            known.append(offsets)
            taxa = _taxa(document.text_of(span), is_organism, kb)
            species += [(*offsets, t) for t in taxa if is_organism or has_genes_of(t)]
    species += [donor for donor in _donors(document.text, known, kb) if has_genes_of(donor[2])]
    species_words = species_reader.find(document.text, species)
    return [
        species_reader.context_of(species_words, *document.offsets_of(span))
        if may_need_species(span.label_)
        else ""
        for span in spans
    ]


def _taxa(text: str, names_species: bool, kb: "ConceptKB") -> list[str]:
    """RETURNS (list[str]): the species that a mention names; for a mention of a cell line, the
    species it comes from, if it is the same for all cell lines with that name."""
    concepts = kb.find(text)
    if names_species:
        return [c.concept_id for c in concepts if is_taxon(c.concept_id)]
    lines = (c for c in concepts if is_cell_line(label_of(c.types) or ""))
    donors = {name for line in lines for name in line.types if is_taxon(name)}
    return list(donors) if len(donors) == 1 else []


def _donors(
    text: str, known: Sequence[tuple[int, int]], kb: "ConceptKB"
) -> Iterator[tuple[int, int, str]]:
    """Find cell lines outside the known mentions, and their species. Only humans, mice and rats are
    considered, because cells of other species mostly express foreign genes.

    A cell line is the one or two words before `cells` or `cell line`, if the last of them has at
    least three characters and contains a digit or a capital after its first character, e.g.
    `SK-N-SH` in `SK-N-SH cells`.

    YIELDS (tuple[int, int, str]): start and end of a cell line, and its species.
    """
    for words in _CELLS.finditer(text):
        end = words.end(2)
        if any(letter.isdigit() or letter.isupper() for letter in words[2][1:]):
            starts = [words.start(n) for n in (1, 2) if words[n]]
            taxa = ((start, _taxa(text[start:end], False, kb)) for start in starts)
            start, donors = next((taxon for taxon in taxa if taxon[1]), (end, []))
            is_known = any(first < end and start < last for first, last in known)
            if not is_known and _TELLING_DONORS.issuperset(donors):
                yield from ((start, end, donor) for donor in donors)


def abbreviation_replacements(doc: Doc) -> list[Replacement]:
    """Read the output of scispaCy's abbreviation detector, in either of its formats.

    doc (Doc): a document. `doc._.abbreviations` contains spans with `span._.long_form` (a span or a
        string), or, with `make_serializable`, dictionaries with `short_start`, `short_end` (token
        indices) and `long_text`.
    RETURNS (list[Replacement]): the output of `replace_longest`, with cleaned long forms; empty if
        no abbreviations were found. Long forms that are not longer than their short form, or that
        have unbalanced parentheses, are ignored.
    """
    replacements = []
    is_lower = doc.text.islower()
    # Do not read `doc._.abbreviations`: without the detector, the attribute is not registered,
    # although a document from a DocBin may have it; and if it is not set, reading it would write
    # its default.
    user_data: dict[Any, Any] = doc.user_data
    for item in user_data.get(ABBREVIATIONS, ()):
        span = _short_form(item, doc)
        found = item["long_text"] if isinstance(item, dict) else item._.long_form
        long_form = clean(str(found)).text
        if _is_long_form(long_form, clean(span.text).text, is_lower):
            replacements.append(Replacement(span.start_char, span.end_char, long_form))
    return replace_longest(replacements)


def register_abbreviations() -> None:
    """Register the attributes of scispaCy's detector, so that they can be read and written even if
    the process has not created a detector. `doc._.abbreviations` contains spans, even if the
    detector has stored dictionaries (`make_serializable`). Call this again after creating a
    detector, which overwrites the registration."""
    if not Span.has_extension("long_form"):
        Span.set_extension("long_form", default=None)
    if Doc.has_extension("abbreviations"):
        _, method, getter, _ = Doc.get_extension("abbreviations")
        if method is not None or getter is not None:
            return
    Doc.set_extension(
        "abbreviations", getter=_read_abbreviations, setter=_write_abbreviations, force=True
    )


def _short_form(item: Any, doc: Doc) -> Span:
    return doc[item["short_start"] : item["short_end"]] if isinstance(item, dict) else item


def _read_abbreviations(doc: Doc) -> list[Any]:
    data: dict[Any, Any] = doc.user_data
    # Without `make_serializable`, the detector appends its spans to the list that it reads here.
    stored: list[Any] = data.setdefault(ABBREVIATIONS, [])
    if any(isinstance(item, dict) for item in stored):
        return [_short_form(item, doc) for item in stored]
    return stored


def _write_abbreviations(doc: Doc, found: list[Any]) -> None:
    data: dict[Any, Any] = doc.user_data
    data[ABBREVIATIONS] = found


def _is_long_form(long_form: str, short_form: str, is_lower: bool) -> bool:
    """Reject implausible long forms, such as `Nile virus` for `West Nile virus`, `virus) replicon
    particle` for `VEE`, `embryo pictures in Fig 2B` for `embryos`, unless the whole text is in
    lower case, and `ES cells` for `ES`."""
    is_word = short_form.isalpha() and short_form.islower() and len(short_form) > _SHORTEST_WORD
    is_word = is_word and not is_lower
    is_whole = all(long_form.count(pair[0]) == long_form.count(pair[1]) for pair in ("()", "[]"))
    is_other = short_form.lower() not in normalize_name(long_form).split()
    return is_whole and is_other and not is_word and len(long_form) > len(short_form)
