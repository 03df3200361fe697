"""AskAPatient folds: `id<TAB>preferred term<TAB>phrase`, no context; UTF-8 or ISO-8859-1.

Train and validation files begin with the preferred terms themselves and repeat phrases as often
as patients wrote them; both are read as they are.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...files.formats import Format, first_line
from ...files.reading import numbered_lines
from ...vocabulary.names.concepts import Concept
from ..documents import CorpusDocument, Reading

_ROW = re.compile(r"[0-9]+\t[^\t]+\t[^\t]+")
_CODE = re.compile(r"[0-9]+")


def read_askapatient(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Each phrase as a document of its own, named by file and line.

    path (Path): a fold's file, e.g. `AskAPatient.fold-0.test.txt`.
    reading (Reading): gets counts and faults; ids without prefix are SNOMED CT's.
    RETURNS (Iterator[CorpusDocument]): one mention each, the whole phrase.
    RAISES (AngelError): at a line that is not three columns, with `reading.strict`.
    """
    reading = reading.with_prefix("SNOMEDCT")
    for number, code, _, phrase in _rows(path, reading):
        doc_id = f"{path.name}:{number}"
        mention = reading.mention(phrase, (0, len(phrase)), phrase, doc_id, number, raw_ids=code)
        if mention is not None:
            yield CorpusDocument(doc_id, phrase, (mention,), reading.split)


def askapatient_concepts(
    paths: Iterable[Path], phrases: Iterable[Path] = (), prefix: str = "SNOMEDCT"
) -> Iterator[Concept]:
    """The vocabulary of AskAPatient, which comes with its folds only.

    paths (Iterable[Path]): files whose preferred terms are the names; a fold's three files hold
        all 1,036 concepts.
    phrases (Iterable[Path]): files whose phrases are names, too: train, never test.
    prefix (str): vocabulary of the ids.
    RETURNS (Iterator[Concept]): one for each id, in the order in which they first stand.
    RAISES (AngelError): at a line that is not three columns.
    """
    names: dict[str, dict[str, None]] = {}
    for column, files in enumerate((paths, phrases)):
        for path in files:
            reading = Reading(str(path), prefix=prefix)
            for _, code, *columns in _rows(path, reading):
                names.setdefault(reading.concept_ids(code), {}).setdefault(columns[column])
    for concept_id, (canonical_name, *aliases) in names.items():
        yield Concept(concept_id, canonical_name, tuple(aliases))


def _rows(path: Path, reading: Reading) -> Iterator[tuple[int, str, str, str]]:
    """Line number, code, preferred term, phrase."""
    for number, line in numbered_lines(path, reading, fallback="iso-8859-1"):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != 3 or not all(fields) or not _CODE.fullmatch(fields[0]):
            reading.fault(
                f"{reading.where(number)}: expected AskAPatient's code, preferred term, phrase "
                f"with tabs, found {line[:60]!r}.",
                lost="mentions_left_out",
            )
            continue
        yield number, fields[0], fields[1], fields[2]


def _recognises(path: Path, head: str) -> bool:
    return _ROW.fullmatch(first_line(head)) is not None


FORMAT = Format("askapatient", read_askapatient, _recognises, holds="mentions")
