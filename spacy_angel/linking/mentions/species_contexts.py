"""The species context of mentions, which distinguishes concepts with the same name."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...vocabulary.names.entity_types import is_cell_line, is_species, label_of, may_need_species
from ...vocabulary.names.taxa import HUMAN, MOUSE, RAT, is_taxon
from .reading import ReadDocument

if TYPE_CHECKING:
    from spacy.tokens import Span

    from ...vocabulary.kb import ConceptKB

_TELLING_DONORS = frozenset({HUMAN, MOUSE, RAT})
_CELLS = re.compile(r" (?:cells?|cell lines?)\b")
_BEFORE_CELLS = re.compile(r"(?<![\w-])(?:([\w/.-]+) )?([\w/.-]+)$")
_MAX_LINE, _MIN_LINE = 40, 3


def species_contexts(document: ReadDocument, spans: "Sequence[Span]", kb: "ConceptKB") -> list[str]:
    """Find the species context of each mention.

    document (ReadDocument): a document.
    spans (Sequence[Span]): its mentions.
    kb (ConceptKB): the vocabulary, with the names of species and cell lines.
    RETURNS (list[str]): the context of each mention, see `SpeciesReader.context_of`; empty if its
        label does not require one, or if the vocabulary was not built with `by_species`.
    """
    if (species_reader := kb.species_reader) is None:
        return [""] * len(spans)
    telling = [
        span
        for span in (*document.doc.ents, *spans)
        if is_species(span.label_) or is_cell_line(span.label_)
    ]
    species = [
        (*document.offsets_of(span), taxon)
        for span in telling
        for taxon in _taxa(document.text_of(span), is_species(span.label_), kb)
        # Cells of other species express foreign genes.
        if is_species(span.label_) or species_reader.has_genes_of(taxon)
    ]
    species += (
        (start, end, donor)
        for start, end, donor in _donors(document.text, map(document.offsets_of, telling), kb)
        if species_reader.has_genes_of(donor)
    )
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
    text: str, known: Iterable[tuple[int, int]], kb: "ConceptKB"
) -> Iterator[tuple[int, int, str]]:
    """Find cell lines outside the known mentions, and their species. Only humans, mice and rats are
    considered, because cells of other species mostly express foreign genes.

    YIELDS (tuple[int, int, str]): start and end of a cell line, and its species.
    """
    taken = list(known)
    for places in cell_lines_in(text):
        taxa = ((start, end, _taxa(text[start:end], False, kb)) for start, end in places)
        start, end, donors = next((taxon for taxon in taxa if taxon[2]), (0, 0, []))
        is_known = any(first < end and start < last for first, last in taken)
        if not is_known and _TELLING_DONORS.issuperset(donors):
            yield from ((start, end, donor) for donor in donors)


def cell_lines_in(text: str) -> Iterator[list[tuple[int, int]]]:
    """Find possible names of cell lines: the one or two words before `cells` or `cell line`, if the
    last of them has at least three characters and contains a digit or a capital after its first
    character, e.g. `SK-N-SH` in `SK-N-SH cells`.

    text (str): text of a document.
    YIELDS (list[tuple[int, int]]): character offsets of the possible names before each occurrence
        of `cells`, the longer one first.
    """
    for cells in _CELLS.finditer(text):
        first = max(cells.start() - _MAX_LINE, 0)
        words = _BEFORE_CELLS.search(text[first : cells.start()])
        if words is None or len(words[2]) < _MIN_LINE:
            continue
        if any(letter.isdigit() or letter.isupper() for letter in words[2][1:]):
            numbers = (0, 2) if words[1] else (2,)
            yield [(first + words.start(n), cells.start()) for n in numbers]
