"""brat standoff: a folder with two files for each document, the text and its annotations.

    1.txt   Fever and renal or hepatic failure
    1.ann   T1<TAB>Disease 0 5<TAB>Fever
            N1<TAB>Reference T1 MESH:D005334<TAB>
            T2<TAB>Disease 10 15;27 34<TAB>renal failure
            #1<TAB>AnnotatorNotes T2<TAB>spacy-angel: {"parts": ["renal failure"]}

Offsets count characters of the text, which is never changed. A mention (`T`) has an `N` line for
each identifier. A line end within a mention divides it in two pieces, since brat shows lines apart.
What brat has no place for stands, of a mention, in a note; of a document, in `documents.jsonl`
beside, a line each, where `labels` says what a type stands for: brat's types have no spaces.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ...files.atomic import replacing
from ...files.formats import Format
from ...files.json_values import parse_as
from ...files.reading import numbered_lines
from ...vocabulary.names.identifiers import split_ids
from ..docs import NO_LABEL
from ..documents import CorpusDocument, GoldMention, Reading
from .folders import FileNames, new_folder
from .text import text_of

DOCUMENTS = "documents.jsonl"

_BOUND = re.compile(r"(\S+) ([0-9]{1,12} [0-9]{1,12}(?:;[0-9]{1,12} [0-9]{1,12})*) *")
_NORMALISED = re.compile(r"\S+ (\S+) (\S+?:\S+) *")
_NOTE = "spacy-angel: "
# What stands in an `N` line: a vocabulary and the identifier in it.
_REFERENCE = re.compile(r"[^\s:]+:\S+")
_NO_TYPE = re.compile(r"[^A-Za-z0-9_-]+")
# Python 2, which brat runs on, ends a line at each of these.
_LINE_ENDS = re.compile("[\t\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


class _MentionExtras(BaseModel):
    concept_ids: str = ""
    parts: tuple[str, ...] = ()
    read_as: str = ""


class _DocumentExtras(BaseModel):
    file: str
    doc_id: str | None = None
    title_end: int | None = None
    split: str = ""
    steps: tuple[str, ...] = ()
    labels: dict[str, str] = {}


@dataclass
class _Bound:
    """A `T` line, with what other lines say of it."""

    line: int
    type: str
    spans: list[tuple[int, int]]
    text: str
    ids: list[str] = field(default_factory=list)
    extras: _MentionExtras = field(default_factory=_MentionExtras)


def read_brat(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Documents of a folder of brat's, those of folders in it as well, named by their files. A
    mention in several pieces is read as a whole and counted, as are relations, attributes and notes
    that are not read.

    path (Path): the folder, or one `.ann` or `.txt` file of it.
    reading (Reading): gets counts and faults.
    RETURNS (Iterator[CorpusDocument]): in the order of `documents.jsonl`, then of the names.
    RAISES (AngelError): a file cannot be read; for other faults with `reading.strict`.
    """
    folder = path if path.is_dir() else path.parent
    files = [*path.rglob("*.ann")] if path.is_dir() else [path.with_suffix(".ann")]
    if path.is_dir():
        for text in sorted(set(path.rglob("*.txt")) - {file.with_suffix(".txt") for file in files}):
            note = f"{text} has no annotations beside it and is not read"
            reading.report.count("texts_without_annotations", note=note)
    known = _document_extras(folder / DOCUMENTS, reading)
    names = {file.relative_to(folder).with_suffix("").as_posix(): file for file in files}
    order = {name: number for number, name in enumerate(known)}
    for name in sorted(names, key=lambda name: (order.get(name, len(order)), name)):
        extras = known.get(name) or _DocumentExtras(file=name)
        document = _document(names[name], extras, reading)
        if document is not None:
            yield document


def _document_extras(path: Path, reading: Reading) -> dict[str, _DocumentExtras]:
    """path (Path): `documents.jsonl`, if it is there. RETURNS (dict[str, _DocumentExtras]): by the
    name of the files, without ending."""
    known: dict[str, _DocumentExtras] = {}
    if not path.exists():
        return known
    reading = replace(reading, name=str(path))
    for number, line in numbered_lines(path, reading):
        try:
            extras = parse_as(line, _DocumentExtras)
        except ValueError as error:
            expected = f"what spacy-angel writes of a document ({error})"
            _fault(reading, number, expected, line)
        else:
            known[extras.file] = extras
    return known


def _document(file: Path, extras: _DocumentExtras, reading: Reading) -> CorpusDocument | None:
    text_file = file.with_suffix(".txt")
    for one, companion in ((text_file, file), (file, text_file)):
        if not one.exists():
            reading.fault(
                f"{companion} is missing {one.name}. brat keeps texts and annotations in two "
                "files of one name.",
                lost="documents_left_out",
            )
            return None
    # brat counts a byte order mark as a character.
    text = text_of(text_file, reading)
    if text is None:
        return None
    doc_id = extras.file if extras.doc_id is None else extras.doc_id
    end = extras.title_end
    if end is not None and not 0 <= end <= len(text):
        end = None
        reading.report.count("titles_left_out", note=f"{text_file}: it ends before its title")
    here = replace(reading, name=str(file))
    found = (
        _mention(bound, text, doc_id, extras.labels, here) for bound in _bounds(file, here).values()
    )
    return CorpusDocument(
        doc_id,
        text,
        tuple(mention for mention in found if mention is not None),
        extras.split or reading.split,
        end,
        extras.steps,
    )


def _bounds(file: Path, reading: Reading) -> dict[str, _Bound]:
    """The mentions of an `.ann` file by their names."""
    bounds: dict[str, _Bound] = {}
    others: list[tuple[int, str, list[str]]] = []
    for number, line in numbered_lines(file, reading):
        if not line.strip():
            continue
        name, *columns = line.split("\t", 2)
        if not name.startswith("T"):
            others.append((number, line, [name, *columns]))
        elif len(columns) < 2 or not (match := _BOUND.fullmatch(columns[0])):
            expected = "`T1<TAB>type start end<TAB>text`"
            _fault(reading, number, expected, line, lost="mentions_left_out")
        else:
            spans = [tuple(map(int, span.split())) for span in match[2].split(";")]
            bounds[name] = _Bound(number, match[1], sorted(spans), columns[1])  # type: ignore[arg-type]
    # A line may come before that of the mention which it speaks of.
    for number, line, (name, *columns) in others:
        if name.startswith("N"):
            match = _NORMALISED.fullmatch(columns[0]) if columns else None
            if match is None or match[1] not in bounds:
                _fault(reading, number, "`N1<TAB>Reference T1 MESH:D005334<TAB>name`", line)
            else:
                bounds[match[1]].ids.append(match[2])
        elif len(columns) == 2 and columns[1].startswith(_NOTE):
            _, _, target = columns[0].strip().partition(" ")
            try:
                extras = parse_as(columns[1].removeprefix(_NOTE), _MentionExtras)
                bounds[target].extras = extras
            except (KeyError, ValueError):
                _fault(reading, number, "a note of spacy-angel on a mention", line)
        else:
            what = {"#": "notes_left_out", "A": "attributes_left_out", "M": "attributes_left_out"}
            reading.report.count(what.get(name[:1], "relation_rows"))
    return bounds


def _fault(reading: Reading, number: int, expected: str, line: str, lost: str = "") -> None:
    where = reading.where(number)
    reading.fault(f"{where}: expected {expected}, found {line[:60]!r}.", lost=lost)


def _mention(
    bound: _Bound, text: str, doc_id: str, labels: dict[str, str], reading: Reading
) -> GoldMention | None:
    start, end = bound.spans[0][0], bound.spans[-1][1]
    mention = bound.text
    gaps = [
        text[before[1] : after[0]]
        for before, after in zip(bound.spans, bound.spans[1:], strict=False)
    ]
    if " ".join(text[begin:stop] for begin, stop in bound.spans).split() == mention.split():
        mention = text[start:end]
        if any(gap.strip() for gap in gaps):
            note = f"{reading.where(bound.line)}: {bound.text!r} in pieces, taken as a whole"
            reading.report.count("discontinuous_mentions", note=note)
    ids = "|".join(bound.ids)
    # What the `N` lines cannot say holds as long as nobody has changed them.
    if bound.extras.concept_ids and _references(bound.extras.concept_ids) == bound.ids:
        ids = bound.extras.concept_ids
    label = labels.get(bound.type, bound.type)
    found = reading.mention(
        text, (start, end), mention, doc_id, bound.line, label, ids, bound.extras.parts
    )
    read_as = bound.extras.read_as
    return replace(found, read_as=read_as) if found is not None and read_as else found


def _references(concept_ids: str) -> list[str]:
    return [one for one in split_ids(concept_ids) if _REFERENCE.fullmatch(one)]


class _Types:
    """Labels as brat's types, each its own."""

    def __init__(self) -> None:
        self.by_label: dict[str, str] = {}

    def of(self, label: str) -> str:
        """label (str): any. RETURNS (str): e.g. `T116_T123` for `T116,T123`."""
        if label not in self.by_label:
            name = free = _NO_TYPE.sub("_", label) or NO_LABEL
            number = 1
            while free in self.by_label.values():
                number += 1
                free = f"{name}_{number}"
            self.by_label[label] = free
        return self.by_label[label]


def write_brat(
    documents: Iterable[CorpusDocument], path: Path, names: Callable[[str], str] | None = None
) -> None:
    """Write a folder for brat's `data`: two files a document; `annotation.conf` with the types, and
    `visual.conf` with the labels that they stand for; `documents.jsonl`, which brat does not read.

    documents (Iterable[CorpusDocument]): written as they come.
    path (Path): a new folder.
    names (Callable[[str], str] | None): the name of a concept, for the annotator to read.
    RAISES (AngelError): there is one with something in it.
    """
    file_names, types = FileNames(), _Types()
    with new_folder(path) as folder:
        with replacing(folder / DOCUMENTS) as extras:
            for document in documents:
                name = file_names.of(document.doc_id)
                lines = "".join(line + "\n" for line in _lines(document, types, names))
                (folder / f"{name}.txt").write_bytes(document.text.encode("utf8"))
                (folder / f"{name}.ann").write_bytes(lines.encode("utf8"))
                row = _extras(document, name, types)
                extras.write(json.dumps(row, ensure_ascii=False).encode("utf8") + b"\n")
        entities = "".join(f"{each}\n" for each in types.by_label.values())
        sections = f"[entities]\n{entities}[relations]\n[events]\n[attributes]\n"
        (folder / "annotation.conf").write_text(sections, encoding="utf8")
        shown = "".join(
            f"{each} | {re.sub('[|<>,]', ' ', _LINE_ENDS.sub(' ', label))}\n"
            for label, each in types.by_label.items()
            if label not in ("", each)
        )
        (folder / "visual.conf").write_text(f"[labels]\n{shown}[drawing]\n", encoding="utf8")


def _extras(document: CorpusDocument, name: str, types: _Types) -> dict[str, Any]:
    labels = {mention.label: types.of(mention.label) for mention in document.mentions}
    return _DocumentExtras(
        file=name,
        doc_id=None if document.doc_id == name else document.doc_id,
        title_end=document.title_end,
        split=document.split,
        steps=document.steps,
        labels={each: label for label, each in labels.items() if label != each},
    ).model_dump(exclude_defaults=True)


def _lines(
    document: CorpusDocument, types: _Types, names: Callable[[str], str] | None
) -> Iterator[str]:
    n_ids = n_notes = 0
    for number, mention in enumerate(document.mentions, start=1):
        lines = [
            (mention.start + piece.start(), mention.start + piece.end())
            for piece in re.finditer(r"[^\n]+", mention.text)
        ]
        spans = ";".join(f"{start} {end}" for start, end in lines)
        covered = " ".join(document.text[start:end] for start, end in lines)
        covered = _LINE_ENDS.sub(" ", covered)
        yield f"T{number}\t{types.of(mention.label)} {spans}\t{covered}"
        references = _references(mention.concept_ids)
        for reference in references:
            n_ids += 1
            name = "" if names is None else _LINE_ENDS.sub(" ", names(reference))
            yield f"N{n_ids}\tReference T{number} {reference}\t{name}"
        extras = _MentionExtras(
            concept_ids="" if "|".join(references) == mention.concept_ids else mention.concept_ids,
            parts=mention.parts,
            read_as=mention.read_as,
        ).model_dump(exclude_defaults=True)
        if extras:
            n_notes += 1
            # Without characters that brat would take for the end of a line.
            yield f"#{n_notes}\tAnnotatorNotes T{number}\t{_NOTE}{json.dumps(extras)}"


def _recognises(path: Path, head: str) -> bool:
    if path.is_dir():
        return next(path.rglob("*.ann"), None) is not None
    return path.suffix == ".ann"


FORMAT = Format("brat", read_brat, _recognises, write=write_brat, is_folder=True)
