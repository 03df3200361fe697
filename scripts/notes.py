"""Notes that are invented for the training of a recogniser: lines around names, and lines that
hold no mention between them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from yaml import safe_load

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.noise import Noise, noisy_document
from spacy_angel.corpora.note_text import LISTS, MARKS, SLIPS, TEXT_STYLES, as_written, in_letters

WORDS: dict[str, list[str]] = safe_load(
    Path(__file__).with_name("note_words.yml").read_text(encoding="utf8")
)
Pools = Sequence[Mapping[str, Sequence[str]]]
"""Names by label from several sources; first the source is chosen, then the name."""


def invented_note(
    pools: Pools, rng: Random, doc_id: str = "note", lines: tuple[int, int] = (3, 9)
) -> CorpusDocument:
    """Lines of a note about diseases and chemicals.

    pools (Pools): names for `DISEASE` and `CHEMICAL`.
    rng (Random): chooses frames, names, marks and letters.
    doc_id (str): of the document.
    lines (tuple[int, int]): the fewest and most.
    RETURNS (CorpusDocument): its mentions without identifiers.
    """
    note = _Note(pools, rng)
    mark = rng.choice(MARKS) if rng.random() < LISTS else ""
    for number in range(1, rng.randint(*lines) + 1):
        if number > 1:
            note.add("\n")
        note.add(mark.format(n=number))
        frame = rng.choices(_FRAMES, _FRAME_WEIGHTS)[0]
        frame(note)
    document = CorpusDocument(doc_id, note.text, tuple(note.mentions))
    if rng.random() < SLIPS:
        document = noisy_document(document, Noise("mixed"), seed=rng.randrange(1 << 30))
    [style] = rng.choices(TEXT_STYLES, (25, 15, 5, 55))
    return in_letters(document, style)


class _Note:
    """A text that grows, with the places of the names in it."""

    def __init__(self, pools: Pools, rng: Random) -> None:
        self.pools, self.rng = pools, rng
        self.text = ""
        self.mentions: list[GoldMention] = []

    def add(self, text: str) -> None:
        self.text += text

    def any(self, *texts: str) -> None:
        self.add(self.rng.choice(texts))

    def name(self, label: str) -> None:
        pool = self.rng.choice([pool for pool in self.pools if pool.get(label)])
        name = as_written(self.rng.choice(pool[label]), self.rng)
        start = len(self.text)
        self.add(name)
        self.mentions.append(GoldMention(start, len(self.text), name, label))

    def names(self, label: str, most: int, last: tuple[str, ...] = (", ",)) -> None:
        number = self.rng.randint(1, most)
        for position in range(number):
            if position:
                self.any(*(last if position == number - 1 else (", ",)))
            self.name(label)


def _problems(note: _Note) -> None:
    note.any(*WORDS["heads"])
    note.any(": ", ": ", " - ", ":\n", " ")
    note.names("DISEASE", 5, (", ", " and ", "; ", ", "))
    note.any(*WORDS["follows"])


def _drugs(note: _Note) -> None:
    note.any(*WORDS["drug_heads"])
    note.any(": ", ": ", " - ", ":\n")
    for position in range(note.rng.randint(1, 4)):
        note.add(", " if position else "")
        note.name("CHEMICAL")
        note.any(*WORDS["doses"])


def _denied(note: _Note) -> None:
    note.any(*WORDS["denials"])
    note.add(" ")
    note.names("DISEASE", 4, (" or ", ", ", " and ", "/"))
    note.any(".", ".", "", " at this time.")


def _reported(note: _Note) -> None:
    if note.rng.random() < 0.5:
        note.any(*WORDS["people"])
        note.any(" ", " ", " with ", " w/ ", " has ")
    note.any(*WORDS["reports"])
    note.add(" ")
    note.names("DISEASE", 3, (", ", " and ", " w/ ", "/", " s/p "))
    if note.rng.random() < 0.3:
        note.any(", ", " but ", "; ", ". ")
        _denied(note)
    else:
        note.any(*WORDS["follows"])


def _treated(note: _Note) -> None:
    note.any(*WORDS["drug_actions"])
    note.add(" ")
    note.names("CHEMICAL", 2, (" and ", "/", " + ", ", "))
    note.any(*WORDS["doses"])
    if note.rng.random() < 0.6:
        note.any(" for ", " -> ", " d/t ", " for his ", ", developed ", " 2/2 ", " -> ", " caused ")
        note.name("DISEASE")
        note.any(*WORDS["follows"])


def _plan(note: _Note) -> None:
    note.name("DISEASE")
    note.any(": ", " - ", ", on ", ": continue ", ", treated with ", " s/p ", ": cont ", ": start ")
    note.name("CHEMICAL")
    note.any(*WORDS["doses"])


def _row(note: _Note) -> None:
    bar = note.rng.choice((" | ", "\t", "|", " ; ", ", "))
    note.name("CHEMICAL")
    note.add(bar + note.rng.choice(WORDS["doses"]).strip() + bar)
    note.name("DISEASE")


def _name_only(note: _Note) -> None:
    note.name(note.rng.choice(("DISEASE", "DISEASE", "CHEMICAL")))
    note.any(*WORDS["follows"])


def _review(note: _Note) -> None:
    note.any("ROS: ", "Symptoms: ", "Review of systems: ", "")
    for position in range(note.rng.randint(2, 4)):
        note.add(", " if position else "")
        note.any("+ ", "- ", "+", "-", "(+) ", "(-) ", "no ", "positive ")
        note.name("DISEASE")


def _plain(note: _Note) -> None:
    note.any(*WORDS["plain"])


_FRAMES = (
    *(_problems, _drugs, _denied, _reported, _treated, _plan, _row, _name_only, _review, _plain),
)
_FRAME_WEIGHTS = (14, 8, 12, 16, 12, 8, 5, 12, 3, 16)
