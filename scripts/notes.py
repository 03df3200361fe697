"""Training text in the style of clinical notes: gold documents rewritten, and invented lines.

Abstracts consist of whole sentences with regular capitalization. Notes have lists, text in capitals
or in lower case throughout, and typos.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Literal

from noise import noisy_document
from yaml import safe_load

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.recogniser_data import as_written
from spacy_angel.corpora.text_changes import lower_in_place, replace_spans
from spacy_angel.errors import AngelError
from spacy_angel.linking.settings.short_forms import read_short_forms
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE
from spacy_angel.vocabulary.names.labels import ENTITY_TYPES, entity_type_of, entity_types_of

WORDS: dict[str, list[str]] = safe_load(
    Path(__file__).with_name("note_words.yml").read_text(encoding="utf8")
)
Pools = Sequence[Mapping[str, Sequence[str]]]
"""Names by label from several sources; first the source is chosen, then the name."""
Style = Literal["upper", "lower", "title"]

MESH_LABELS = {branch: one.name for one in ENTITY_TYPE_TABLE for branch in one.mesh_names}

_MARKS = ("- ", "-", "* ", "• ", "•", "# ", "{n}. ", "{n}) ", "{n}.", "{n})", "")
_FIRST_LETTER = re.compile(r"(?<![^\W_])[^\W\d_]")
_SENTENCE_END = re.compile(r"(?<=[.;:]) (?=[A-Z])")
_STYLES = ("upper", "lower", "title", "unchanged")
# Shares of the documents.
_TYPOS, _LISTS = 0.15, 0.4


def restyled(document: CorpusDocument, rng: Random) -> CorpusDocument:
    """document (CorpusDocument): any. rng (Random): makes the choices. RETURNS (CorpusDocument):
    the document as a note: sentences as list items, typos, other capitalization."""
    if rng.random() < _LISTS:
        document = _as_list(document, rng)
    return _in_note_style(document, 0.03, (35, 20, 10, 35), rng)


def _in_note_style(
    document: CorpusDocument, context: float, weights: Sequence[int], rng: Random
) -> CorpusDocument:
    if rng.random() < _TYPOS:
        document = noisy_document(document, "mixed", 1, context, rng.randrange(1 << 30))
    [style] = rng.choices(_STYLES, weights)
    return in_letters(document, style)


def in_letters(document: CorpusDocument, style: str) -> CorpusDocument:
    """document (CorpusDocument): any. style (str): `upper`, `lower`, `title`; any other changes
    nothing. RETURNS (CorpusDocument): the offsets are unchanged."""
    text = document.text
    if style == "upper":
        text = "".join(map(_capital, text))
    elif style == "lower":
        text = lower_in_place(text)
    elif style == "title":
        text = _FIRST_LETTER.sub(lambda letter: _capital(letter[0]), text)
    mentions = (replace(m, text=text[m.start : m.end]) for m in document.mentions)
    return replace(document, text=text, mentions=tuple(mentions))


def _capital(letter: str) -> str:
    return letter.upper() if len(letter.upper()) == 1 else letter


def _as_list(document: CorpusDocument, rng: Random) -> CorpusDocument:
    """Each sentence becomes an item: `One. Two.` → `One.\\n- Two.`"""
    mark = rng.choice(_MARKS)
    inside = {i for m in document.mentions for i in range(m.start, m.end)}
    ends = [match.span() for match in _SENTENCE_END.finditer(document.text)]
    items = enumerate((end for end in ends if end[0] not in inside), 2)
    return replace_spans(document, [(*end, "\n" + mark.format(n=n)) for n, end in items])


def names_by_label(concepts: Iterable[Concept]) -> dict[str, list[str]]:
    """concepts (Iterable[Concept]): with types spelled as labels, or branches of MeSH.

    RETURNS (dict[str, list[str]]): names of each label, sorted; those with a comma are left out,
        since nobody writes `Infarction, Myocardial` in a sentence.
    RAISES (AngelError): no concept has a known type.
    """
    names: dict[str, set[str]] = {}
    for concept in concepts:
        for label in set(filter(None, map(_label_of_type, concept.types))):
            names.setdefault(label, set()).update(n for n in concept.names if "," not in n)
    if not names:
        known = ", ".join((*MESH_LABELS, *ENTITY_TYPES))
        raise AngelError(f"The vocabulary has no concept of a known type: {known}.")
    return {label: sorted(of_label) for label, of_label in names.items()}


def _label_of_type(name: str) -> str | None:
    """None for types that may be of several kinds, such as the proteins of UMLS."""
    label = entity_type_of(name) if len(entity_types_of(name)) == 1 else None
    return MESH_LABELS.get(name) or label


def short_forms_by_label(names: Pools) -> dict[str, list[str]]:
    """names (Pools): of vocabularies. RETURNS (dict[str, list[str]]): short forms, lay words and
    brands with the label of what they stand for, also with an initial capital."""
    labels = {
        normalize_name(name): label
        for by_label in names
        for label, of_label in by_label.items()
        for name in of_label
    }
    found: dict[str, list[str]] = {}
    for form, long_forms in read_short_forms().items():
        if label := next((labels[name] for name in long_forms if name in labels), ""):
            found.setdefault(label, []).extend(dict.fromkeys((form, form[0].upper() + form[1:])))
    return found


def invented_note(
    pools: Pools, rng: Random, doc_id: str = "note", lines: tuple[int, int] = (3, 9)
) -> CorpusDocument:
    """pools (Pools): names for `DISEASE` and `CHEMICAL`. rng (Random): makes the choices.
    doc_id (str): of the document. lines (tuple[int, int]): minimum and maximum.
    RETURNS (CorpusDocument): lines of a note; its mentions have no identifiers."""
    note = _Note(pools, rng)
    mark = rng.choice(_MARKS) if rng.random() < _LISTS else ""
    for number in range(1, rng.randint(*lines) + 1):
        note.add("\n" if number > 1 else "")
        note.add(mark.format(n=number))
        [frame] = rng.choices(_FRAMES, _FRAME_WEIGHTS)
        frame(note)
    document = CorpusDocument(doc_id, note.text, tuple(note.mentions))
    return _in_note_style(document, 0.0, (25, 15, 5, 55), rng)


class _Note:
    """A growing text with the positions of the names in it."""

    def __init__(self, pools: Pools, rng: Random) -> None:
        self.pools, self.rng = pools, rng
        self.text = ""
        self.mentions: list[GoldMention] = []

    def add(self, *choices: str) -> None:
        self.text += self.rng.choice(choices)

    def names(self, label: str, most: int = 1, last: Sequence[str] = (", ",)) -> None:
        """From one to `most` names, separated by commas and before the last name by `last`."""
        number = self.rng.randint(1, most)
        for position in range(number):
            if position:
                self.add(*(last if position == number - 1 else (", ",)))
            pool = self.rng.choice([pool for pool in self.pools if pool.get(label)])
            name = as_written(self.rng.choice(pool[label]), self.rng)
            start = len(self.text)
            self.text += name
            self.mentions.append(GoldMention(start, len(self.text), name, label))


def _problems(note: _Note) -> None:
    note.add(*WORDS["heads"])
    note.add(": ", ": ", " - ", ":\n", " ")
    note.names("DISEASE", 5, (", ", " and ", "; ", ", "))
    note.add(*WORDS["follows"])


def _drugs(note: _Note) -> None:
    note.add(*WORDS["drug_heads"])
    for position in range(note.rng.randint(1, 4)):
        note.add(*((", ",) if position else (": ", ": ", " - ", ":\n")))
        note.names("CHEMICAL")
        note.add(*WORDS["doses"])


def _denied(note: _Note) -> None:
    note.add(*WORDS["denials"])
    note.add(" ")
    note.names("DISEASE", 4, (" or ", ", ", " and ", "/"))
    note.add(".", ".", "", " at this time.")


def _reported(note: _Note) -> None:
    if note.rng.random() < 0.5:
        note.add(*WORDS["people"])
        note.add(" ", " ", " with ", " w/ ", " has ")
    note.add(*WORDS["reports"])
    note.add(" ")
    note.names("DISEASE", 3, (", ", " and ", " w/ ", "/", " s/p "))
    if note.rng.random() < 0.3:
        note.add(", ", " but ", "; ", ". ")
        _denied(note)
    else:
        note.add(*WORDS["follows"])


def _treated(note: _Note) -> None:
    note.add(*WORDS["drug_actions"])
    note.add(" ")
    note.names("CHEMICAL", 2, (" and ", "/", " + ", ", "))
    note.add(*WORDS["doses"])
    if note.rng.random() < 0.6:
        note.add(" for ", " -> ", " d/t ", " for his ", ", developed ", " 2/2 ", " -> ", " caused ")
        note.names("DISEASE")
        note.add(*WORDS["follows"])


def _name_only(note: _Note) -> None:
    note.names(note.rng.choice(("DISEASE", "DISEASE", "CHEMICAL")))
    note.add(*WORDS["follows"])


def _plain(note: _Note) -> None:
    note.add(*WORDS["plain"])


_FRAMES = (_problems, _drugs, _denied, _reported, _treated, _name_only, _plain)
_FRAME_WEIGHTS = (14, 10, 14, 18, 16, 14, 16)
