"""Training text as it stands in clinical notes, made from gold documents and names.

Abstracts have whole sentences with capitals where they belong. Notes have lists, heads, capitals
throughout, slashes and slips. `restyled` writes a gold document so; `invented_note` writes lines of
a note around names, with lines that hold no mention between them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

from .documents import CorpusDocument, GoldMention
from .noise import Noise, noisy_document
from .preprocessing import lower_in_place, replace_spans

MARKS = ("- ", "-", "* ", "• ", "•", "# ", "{n}. ", "{n}) ", "{n}.", "{n})", "")
"""Before the items of a list; `{n}` is the item's number."""

_FIRST_LETTER = re.compile(r"(?<![^\W_])[^\W\d_]")
_SENTENCE_END = re.compile(r"(?<=[.;:]) (?=[A-Z])")
_TEXT_STYLES = ("upper", "lower", "title", "as it is")
_TEXT_STYLE_WEIGHTS = (35, 20, 10, 35)
# Of the documents; one slip in each mention and in some of the other words.
_SLIPS, _SLIPS_IN_CONTEXT = 0.15, 0.03
_LISTS = 0.4

HEADS = (
    *("PMH", "PMHx", "Past Medical History", "PAST MEDICAL HISTORY", "Problem List", "Problems"),
    *("HPI", "History of present illness", "Dx", "Diagnosis", "Diagnoses", "Final diagnosis"),
    *("Assessment", "A/P", "Assessment and Plan", "Impression", "Indication", "Comorbidities"),
    *("Hospital course", "Reason for admission", "CC", "Chief complaint", "Discharge diagnoses"),
)
DRUG_HEADS = (
    *("Meds", "Medications", "Current medications", "Home meds", "MEDS", "Rx", "Discharge meds"),
    *("Allergies", "Drug allergies", "All", "NKDA except"),
)
DENIALS = (
    *("Denies", "denies", "Pt denies", "Patient denies any", "No", "no", "Negative for", "neg for"),
    *("Without", "without", "w/o", "No evidence of", "No signs of", "no h/o", "No known"),
    *("Never had", "R/o", "r/o", "Ruled out for", "Free of", "Not consistent with"),
)
REPORTS = (
    *("c/o", "C/o", "Complains of", "Reports", "reports", "Presents with", "p/w", "admitted for"),
    *(
        "Hx of",
        "h/o",
        "H/o",
        "history of",
        "known",
        "s/p",
        "S/p",
        "Positive for",
        "w/",
        "Admits to",
    ),
    *("Developed", "Suffers from", "treated for", "concern for", "likely", "Possible", "?", "+"),
    *("secondary to", "2/2", "d/t", "due to", "complicated by", "c/b", "in setting of", "a/w"),
)
DRUG_ACTIONS = (
    *(
        "Continue",
        "continue",
        "cont",
        "Start",
        "started",
        "Started on",
        "Stop",
        "hold",
        "Held",
        "on",
    ),
    *("d/c", "Takes", "takes", "was given", "Received", "received", "tx with", "Increase", "s/p"),
    *("Switch to", "given", "Refill", "taking", "Rx", "allergic to", "tolerated", "failed"),
)
DOSES = (
    *(" 500 mg BID", " 10 mg daily", " 20 mg po qd", " 40mg", " 5 mg PO q6h prn", " 1 g IV q8h"),
    *(" 100 mcg", " 0.5 mg qhs", " 2 puffs prn", " 25 mg twice a day", " drip", " tabs", " 81 mg"),
    *(" 75 mg/day", "", "", ""),
)
FOLLOWS = (
    *(
        "",
        "",
        "",
        ".",
        ".",
        " x 3 days",
        " since 2009",
        " in 2014",
        ", stable",
        ", resolved",
        " today",
    ),
    *(
        ", well controlled",
        " stage 2",
        " (mild)",
        " - improving",
        ", unchanged",
        " at baseline",
        ";",
    ),
    *(" s/p resection", " s/p repair", " grade 3", " w/ good effect", " noted", " x2", " on exam"),
)
PEOPLE = (
    *(
        "Pt",
        "Patient",
        "67 yo M",
        "54F",
        "34 y/o woman",
        "She",
        "He",
        "The patient",
        "81M",
        "Mr. S.",
    ),
    *("Mother", "Father", "Brother", "Sister", "Family history: aunt", "FHx: mother", "Child"),
)
PLAIN = (
    *("Vitals: BP 130/85, HR 88, RR 18, T 37.1, SpO2 97% RA", "Alert and oriented x3", "NAD"),
    *(
        "Follow up with PCP in 2 weeks.",
        "Heart regular, no murmurs.",
        "Lungs clear",
        "Abdomen soft",
    ),
    *("Labs: Na 138, K 4.1, Cr 1.0, WBC 8.2, Hgb 12.9, Plt 210", "Physical Exam", "PLAN", "Labs"),
    *("s/p CABG x3 2011", "s/p appendectomy", "S/P hip replacement", "s/p PCI to LAD", "EKG: NSR"),
    *("Surgical history: hysterectomy, C-section", "Social: lives with wife, retired teacher"),
    *("Will discuss with family", "CT head done, results pending", "MRI of the knee scheduled"),
    *(
        "Discharge instructions were given to the patient.",
        "Code status: full",
        "No acute distress",
    ),
    *(
        "Was seen in clinic today for a routine visit",
        "Return to ED if symptoms worsen",
        "ALLERGIES",
    ),
    *("HISTORY OF PRESENT ILLNESS:", "MEDICATIONS ON ADMISSION:", "FAMILY HISTORY:", "Name | Dose"),
    *(
        "The patient was admitted with the above and was seen by the team",
        "Colonoscopy 2016 normal",
    ),
    *(
        "PHYSICAL EXAMINATION WAS UNREMARKABLE",
        "ROS otherwise as above",
        "PT/OT consult, home w/ VNA",
    ),
    *("Allergies: NKDA", "No known drug allergies", "Pt was treated and released", "DNR/DNI"),
)

Pools = Sequence[Mapping[str, Sequence[str]]]
"""Names by label from several sources; first the source is chosen, then the name."""


def restyled(document: CorpusDocument, rng: Random) -> CorpusDocument:
    """A gold document as a note may have it: a list, capitals throughout or none, slips.

    document (CorpusDocument): any.
    rng (Random): makes the choice.
    RETURNS (CorpusDocument): offsets moved with the text.
    """
    if rng.random() < _LISTS:
        document = as_list(document, rng)
    if rng.random() < _SLIPS:
        slips = Noise("mixed", edits=1, context=_SLIPS_IN_CONTEXT)
        document = noisy_document(document, slips, seed=rng.randrange(1 << 30))
    [style] = rng.choices(_TEXT_STYLES, _TEXT_STYLE_WEIGHTS)
    return in_letters(document, style)


def in_letters(document: CorpusDocument, style: str) -> CorpusDocument:
    """A document in other letters.

    document (CorpusDocument): any.
    style (str): `upper`, `lower`, `title`; any other changes nothing.
    RETURNS (CorpusDocument): offsets as before; a letter whose other case is two letters stays.
    """
    text = document.text
    if style == "upper":
        text = "".join(map(_capital, text))
    elif style == "lower":
        text = lower_in_place(text)
    elif style == "title":
        text = _FIRST_LETTER.sub(lambda letter: _capital(letter[0]), text)
    mentions = (replace(m, text=text[m.start : m.end]) for m in document.mentions)
    return replace(document, text=text, mentions=tuple(mentions))


def as_list(document: CorpusDocument, rng: Random) -> CorpusDocument:
    """A document with each sentence as an item.

    document (CorpusDocument): any.
    rng (Random): chooses the mark, the same for all items.
    RETURNS (CorpusDocument): `One. Two.` → `One.\\n- Two.`; offsets moved with the text.
    """
    mark = rng.choice(MARKS)
    inside = {i for m in document.mentions for i in range(m.start, m.end)}
    ends = [match.span() for match in _SENTENCE_END.finditer(document.text)]
    marks = [
        (start, end, "\n" + mark.format(n=number))
        for number, (start, end) in enumerate((e for e in ends if e[0] not in inside), 2)
    ]
    return replace_spans(document, marks)


def _capital(letter: str) -> str:
    return letter.upper() if len(letter.upper()) == 1 else letter


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
    mark = rng.choice(MARKS) if rng.random() < 0.4 else ""
    for number in range(1, rng.randint(*lines) + 1):
        if number > 1:
            note.add("\n")
        note.add(mark.format(n=number))
        frame = rng.choices(_FRAMES, _FRAME_WEIGHTS)[0]
        frame(note)
    document = CorpusDocument(doc_id, note.text, tuple(note.mentions))
    if rng.random() < _SLIPS:
        document = noisy_document(document, Noise("mixed"), seed=rng.randrange(1 << 30))
    [style] = rng.choices(_TEXT_STYLES, (25, 15, 5, 55))
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


def as_written(name: str, rng: Random) -> str:
    """name (str): of a vocabulary. rng (Random). RETURNS (str): half of the time in lower case,
    as names mostly are in running text, but for those with capitals inside a word (`IDDM`)."""
    plain = not re.search(r"\S[A-Z]", name)
    return name.lower() if plain and rng.random() < 0.5 else name


def _problems(note: _Note) -> None:
    note.any(*HEADS)
    note.any(": ", ": ", " - ", ":\n", " ")
    note.names("DISEASE", 5, (", ", " and ", "; ", ", "))
    note.any(*FOLLOWS)


def _drugs(note: _Note) -> None:
    note.any(*DRUG_HEADS)
    note.any(": ", ": ", " - ", ":\n")
    for position in range(note.rng.randint(1, 4)):
        note.add(", " if position else "")
        note.name("CHEMICAL")
        note.any(*DOSES)


def _denied(note: _Note) -> None:
    note.any(*DENIALS)
    note.add(" ")
    note.names("DISEASE", 4, (" or ", ", ", " and ", "/"))
    note.any(".", ".", "", " at this time.")


def _reported(note: _Note) -> None:
    if note.rng.random() < 0.5:
        note.any(*PEOPLE)
        note.any(" ", " ", " with ", " w/ ", " has ")
    note.any(*REPORTS)
    note.add(" ")
    note.names("DISEASE", 3, (", ", " and ", " w/ ", "/", " s/p "))
    if note.rng.random() < 0.3:
        note.any(", ", " but ", "; ", ". ")
        _denied(note)
    else:
        note.any(*FOLLOWS)


def _treated(note: _Note) -> None:
    note.any(*DRUG_ACTIONS)
    note.add(" ")
    note.names("CHEMICAL", 2, (" and ", "/", " + ", ", "))
    note.any(*DOSES)
    if note.rng.random() < 0.6:
        note.any(" for ", " -> ", " d/t ", " for his ", ", developed ", " 2/2 ", " -> ", " caused ")
        note.name("DISEASE")
        note.any(*FOLLOWS)


def _plan(note: _Note) -> None:
    note.name("DISEASE")
    note.any(": ", " - ", ", on ", ": continue ", ", treated with ", " s/p ", ": cont ", ": start ")
    note.name("CHEMICAL")
    note.any(*DOSES)


def _row(note: _Note) -> None:
    bar = note.rng.choice((" | ", "\t", "|", " ; ", ", "))
    note.name("CHEMICAL")
    note.add(bar + note.rng.choice(DOSES).strip() + bar)
    note.name("DISEASE")


def _name_only(note: _Note) -> None:
    note.name(note.rng.choice(("DISEASE", "DISEASE", "CHEMICAL")))
    note.any(*FOLLOWS)


def _review(note: _Note) -> None:
    note.any("ROS: ", "Symptoms: ", "Review of systems: ", "")
    for position in range(note.rng.randint(2, 4)):
        note.add(", " if position else "")
        note.any("+ ", "- ", "+", "-", "(+) ", "(-) ", "no ", "positive ")
        note.name("DISEASE")


def _plain(note: _Note) -> None:
    note.any(*PLAIN)


_FRAMES = (
    *(_problems, _drugs, _denied, _reported, _treated, _plan, _row, _name_only, _review, _plain),
)
_FRAME_WEIGHTS = (14, 8, 12, 16, 12, 8, 5, 12, 3, 16)
