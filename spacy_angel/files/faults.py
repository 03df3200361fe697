"""What a fault in a file does, and the count of what reading met."""

from collections import Counter
from dataclasses import dataclass, field

from ..errors import AngelError

# Notes beyond this number are counted but not kept: a foreign file has a fault on every line.
MAX_NOTES = 1000
# A message that quotes a foreign file may be as long as its lines; so much of it tells enough.
MAX_NOTE = 2000


@dataclass
class ReadingReport:
    """What was read, repaired and left out: plain counters, and one line of text a case.

    counts (Counter[str]): with `strict=False` the `faults`; `unfinished_last_lines` and
        `latin1_lines` of files of lines; what a reader counts of its own.
    notes (list[str]): the cases by file and line; at most MAX_NOTES of MAX_NOTE characters.
    position (int): bytes of the file read so far, as they lie on the disk.
    """

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    position: int = 0

    def count(self, key: str, number: int = 1, note: str = "") -> None:
        """key (str): counter. number (int): added to it. note (str): a line to keep."""
        if number:
            self.counts[key] += number
        if note and len(self.notes) < MAX_NOTES:
            self.notes.append(note if len(note) <= MAX_NOTE else f"{note[:MAX_NOTE]} …")

    def to_dict(self) -> dict[str, object]:
        """RETURNS (dict[str, object]): plain values for JSON."""
        return {"counts": dict(sorted(self.counts.items())), "notes": list(self.notes)}


@dataclass
class FileReading:
    """One reading of a file: its name, and what a fault does.

    name (str): the file as messages name it.
    strict (bool): raise at the first fault; otherwise leave out what it spoils, and count it.
    report (ReadingReport): gets the counts.
    progress (bool): a bar shows how much of a long file is read.
    """

    name: str
    strict: bool = True
    report: ReadingReport = field(default_factory=ReadingReport)
    progress: bool = False

    def where(self, line: int) -> str:
        """RETURNS (str): file and line for a message."""
        return f"{self.name}, line {line}"

    def fault(self, message: str, lost: str = "") -> None:
        """Raise, or count and go on.

        message (str): what was expected and what was found.
        lost (str): counter of what the fault spoils, e.g. `mentions_left_out`.
        RAISES (AngelError): with `strict`.
        """
        if self.strict:
            shown = message if len(message) <= MAX_NOTE else f"{message[:MAX_NOTE]} …"
            raise AngelError(f"{shown} Without `strict` it is left out and counted.")
        self.report.count("faults", note=message)
        if lost:
            self.report.count(lost)
