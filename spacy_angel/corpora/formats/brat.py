"""brat's standoff format: a folder with a text file and an annotation file for each document.

    1.txt   Fever and renal or hepatic failure
    1.ann   T1<TAB>Disease 0 5<TAB>Fever
            N1<TAB>Reference T1 MESH:D005334<TAB>
            T2<TAB>Disease 10 15;27 34<TAB>renal failure

Offsets count characters of the text, which is never changed. A mention (`T`) has an `N` line for
each identifier. A line break splits a mention into two pieces, because brat shows lines separately.
Files are named by the percent-encoded identifiers of the documents.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote, unquote

from ...errors import AngelError
from ...files.atomic import replacing_path
from ...files.formats import Format
from ...files.reading import numbered_lines
from ..docs import NO_LABEL
from ..documents import NOTED_IDS, CorpusDocument, GoldMention, Reading
from .text import text_of

_BOUND = re.compile(r"(\S+) ([0-9]{1,12} [0-9]{1,12}(?:;[0-9]{1,12} [0-9]{1,12})*) *")
_NORMALIZED = re.compile(r"\S+ (\S+) (\S+?:\S+) *")
# In an `N` line: a vocabulary and the identifier in it.
_REFERENCE = re.compile(r"[^\s:]+:\S+")
# Written before identifiers without a vocabulary.
_NO_VOCABULARY = "NONE:"
_NO_TYPE = re.compile(r"[^A-Za-z0-9_-]+")
# Line separators in Python 2, which brat uses.
_LINE_ENDS = re.compile("[\t\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Maximum length of file names, without extension; longer identifiers are truncated.
_MAX_NAME = 240


@dataclass
class _Bound:
    """A `T` line (text-bound annotation), with data from related lines."""

    line: int
    type: str
    spans: list[tuple[int, int]]
    text: str
    ids: list[str] = field(default_factory=list)


def read_brat(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Read a brat folder, including subfolders. Documents are named after their files. A
    discontinuous mention is read as one span and counted. Relations, attributes, and notes
    are skipped and counted.

    path (Path): the folder, or one `.ann` or `.txt` file in it.
    reading (Reading): handles counts and faults.
    RETURNS (Iterator[CorpusDocument]): the documents, sorted by name.
    RAISES (AngelError): if a file cannot be read; for other faults if `reading.strict` is set.
    """
    folder = path if path.is_dir() else path.parent
    files = [*path.rglob("*.ann")] if path.is_dir() else [path.with_suffix(".ann")]
    names = {file.relative_to(folder).with_suffix("").as_posix(): file for file in files}
    for text in sorted(path.rglob("*.txt")):
        if not text.with_suffix(".ann").exists():
            reading.report.count("texts_without_annotations", note=f"{text} has no .ann file")
    for name in sorted(names):
        yield from _document(names[name], unquote(name), reading)


def _document(file: Path, doc_id: str, reading: Reading) -> Iterator[CorpusDocument]:
    text = text_of(file.with_suffix(".txt"), reading)
    if text is None:
        return
    here = replace(reading, name=str(file))
    bounds = _bounds(file, here).values()
    # Tools on Windows may count `\r\n` as one character, and brat counts a byte order mark.
    bare = text.removeprefix("\ufeff")
    texts = dict.fromkeys((bare, bare.replace("\r\n", "\n"), text))
    text = max(texts, key=lambda text: sum(_pieces(b, text) == b.text.split() for b in bounds))
    found = (_mention(bound, text, doc_id, here) for bound in bounds)
    yield CorpusDocument(doc_id, text, tuple(filter(None, found)))


def _bounds(file: Path, reading: Reading) -> dict[str, _Bound]:
    """Return the mentions in an `.ann` file by name."""
    bounds: dict[str, _Bound] = {}
    others: list[tuple[int, str]] = []
    for number, line in numbered_lines(file, reading):
        if not line.startswith("T"):
            others.append((number, line))
            continue
        name, place, text = [*line.split("\t", 2), "", ""][:3]
        if line.count("\t") < 2 or not (match := _BOUND.fullmatch(place)):
            expected = "`T1<TAB>type start end<TAB>text`"
            _fault(reading, number, expected, line, skipped="mentions_left_out")
        else:
            offsets = (span.split() for span in match[2].split(";"))
            spans = sorted((int(start), int(end)) for start, end in offsets)
            if name in bounds:
                note = f"{reading.where(number)}: {name} again, read as another mention"
                reading.report.count("repeated_names", note=note)
                name += f"/{number}"
            bounds[name] = _Bound(number, match[1], spans, text)
    # These lines may precede the line of their mention.
    for number, line in others:
        name, place, note = [*line.split("\t", 2), "", ""][:3]
        if name.startswith("N"):
            match = _NORMALIZED.fullmatch(place)
            if match is None or match[1] not in bounds:
                _fault(reading, number, "`N1<TAB>Reference T1 MESH:D005334<TAB>name`", line)
            else:
                bounds[match[1]].ids.append(match[2].removeprefix(_NO_VOCABULARY))
            continue
        # A note or attribute that consists of identifiers, as in QUAERO.
        _, of, noted = [*f"{place} {note}".split(maxsplit=2), "", "", ""][:3]
        noted = noted.removeprefix("CUI: ")
        if of in bounds and NOTED_IDS.fullmatch(noted):
            bounds[of].ids.extend(re.findall(r"[^\s,;|+]+", noted))
        elif line.strip():
            reading.report.count("relations_and_notes_left_out")
    return bounds


def _fault(reading: Reading, number: int, expected: str, line: str, skipped: str = "") -> None:
    reading.fault_at(number, f"expected {expected}, found {line[:60]!r}.", skipped=skipped)


def _mention(bound: _Bound, text: str, doc_id: str, reading: Reading) -> GoldMention | None:
    start, end = bound.spans[0][0], bound.spans[-1][1]
    mention = reading.whole(bound.text, bound.spans, text, bound.line)
    label = "" if bound.type == NO_LABEL else bound.type
    given = GoldMention(start, end, mention, label, "|".join(bound.ids))
    return reading.mention(given, text, doc_id, bound.line)


def _pieces(bound: _Bound, text: str) -> list[str]:
    return " ".join(text[begin:stop] for begin, stop in bound.spans).split()


def write_brat(
    documents: Iterable[CorpusDocument], path: Path, names: Callable[[str], str] | None = None
) -> None:
    """Write a folder for brat's `data`: two files per document, and `annotation.conf` with the
    types.

    documents (Iterable[CorpusDocument]): documents, which are written one by one. Characters in
        labels that brat does not allow are replaced by `_`.
    path (Path): a new folder.
    names (Callable[[str], str] | None): function that returns the name of a concept to display,
        given its identifier.
    RAISES (AngelError): if the folder exists and is not empty.
    """
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        # Do not overwrite annotations that may have been corrected.
        raise AngelError(f"{path} already exists. Give a new folder.")
    file_names: set[str] = set()
    types: dict[str, None] = {}
    with replacing_path(path) as folder:
        folder.mkdir()
        for document in documents:
            name = _file_name(document.doc_id, file_names)
            lines = "".join(line + "\n" for line in _lines(document, names))
            (folder / f"{name}.txt").write_bytes(document.text.encode("utf8"))
            (folder / f"{name}.ann").write_bytes(lines.encode("utf8"))
            types |= dict.fromkeys(_type_of(mention.label) for mention in document.mentions)
        entities = "".join(f"{each}\n" for each in types)
        sections = f"[entities]\n{entities}[relations]\n[events]\n[attributes]\n"
        (folder / "annotation.conf").write_text(sections, encoding="utf8")


def _file_name(doc_id: str, taken: set[str]) -> str:
    """RETURNS (str): the identifier, percent-encoded if needed (`notes.txt%3A3`), with a number if
    the name is taken: `25763772-2`."""
    name = quote(doc_id, safe="")[:_MAX_NAME] or "document"
    name = free = "%2E" + name[1:] if name.startswith(".") else name
    number = 1
    # Some systems do not distinguish `A` from `a`.
    while free.lower() in taken:
        number += 1
        free = f"{name}-{number}"
    taken.add(free.lower())
    return free


def _type_of(label: str) -> str:
    """label (str): a label. RETURNS (str): brat's type, e.g. `T116_T123` for `T116,T123`."""
    return _NO_TYPE.sub("_", label) or NO_LABEL


def _lines(document: CorpusDocument, names: Callable[[str], str] | None) -> Iterator[str]:
    n_ids = 0
    for number, mention in enumerate(document.mentions, start=1):
        pieces = [*re.finditer(r"[^\n]+", mention.text)]
        spans = [(mention.start + p.start(), mention.start + p.end()) for p in pieces]
        place = ";".join(f"{start} {end}" for start, end in spans)
        covered = _LINE_ENDS.sub(" ", " ".join(piece[0] for piece in pieces))
        yield f"T{number}\t{_type_of(mention.label)} {place}\t{covered}"
        for concept_id in filter(None, mention.concept_ids.split("|")):
            n_ids += 1
            name = "" if names is None else _LINE_ENDS.sub(" ", names(concept_id))
            has_vocabulary = _REFERENCE.fullmatch(concept_id)
            reference = concept_id if has_vocabulary else f"{_NO_VOCABULARY}{concept_id}"
            yield f"N{n_ids}\tReference T{number} {reference}\t{name}"


def _recognises(path: Path, head: str) -> bool:
    if path.is_dir():
        return next(path.rglob("*.ann"), None) is not None
    return path.suffix == ".ann"


FORMAT = Format(
    "brat",
    read_brat,
    _recognises,
    write=write_brat,
    is_folder=True,
    lacks=("parts", "read_as", "title_end"),
)
