"""Handling of invalid content in files, and counts of what was read."""

from collections import Counter
from dataclasses import dataclass, field

from ..errors import AngelError

# Further notes are counted but not kept: a file in the wrong format has a fault on every line.
MAX_NOTES = 1000
# Maximum length of a message in characters, since it may quote a long line of the file.
MAX_NOTE = 2000


@dataclass
class ReadingReport:
    """Counts of what was read, repaired, and skipped, and a note on each case.

    counts (Counter[str]): counters by name: `faults` (with `strict=False`), `unfinished_last_lines`
        and `latin1_lines` for line-based files, and counters of the individual reader.
    notes (list[str]): one line per case, with file and line number; at most MAX_NOTES notes of
        MAX_NOTE characters each.
    position (int): number of bytes read from the file so far, before decompression.
    """

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    position: int = 0

    def count(self, key: str, number: int = 1, note: str = "") -> None:
        """Increase a counter, and optionally add a note.

        key (str): name of the counter.
        number (int): amount to add.
        note (str): line to add to the notes, if not empty.
        """
        if number:
            self.counts[key] += number
        if note and len(self.notes) < MAX_NOTES:
            self.notes.append(_shortened(note))

    def to_dict(self) -> dict[str, object]:
        """RETURNS (dict[str, object]): the counts and notes, JSON-serializable."""
        return {"counts": dict(sorted(self.counts.items())), "notes": list(self.notes)}


@dataclass
class FileReading:
    """The state of reading a file, and how faults in it are handled.

    name (str): name of the file in messages.
    strict (bool): raise an error at the first fault; otherwise, skip invalid content and count it.
    report (ReadingReport): the report that receives counts and notes.
    unit (str): what messages count, e.g. `line`.
    """

    name: str
    strict: bool = True
    report: ReadingReport = field(default_factory=ReadingReport)
    unit: str = "line"

    def where(self, line: int) -> str:
        """RETURNS (str): file name and line number, for use in messages."""
        return f"{self.name}, {self.unit} {line}"

    def fault_at(self, line: int, message: str, skipped: str = "") -> None:
        """Report a fault in a line.

        line (int): line number, included in the message.
        message (str), skipped (str): see `fault`.
        """
        self.fault(f"{self.where(line)}: {message}", skipped)

    def fault(self, message: str, skipped: str = "") -> None:
        """Report a fault: raise an error if `strict` is set, or else count it.

        message (str): what was expected and what was found.
        skipped (str): counter for the skipped content, e.g. `mentions_left_out`.
        RAISES (AngelError): if `strict` is set.
        """
        if self.strict:
            raise AngelError(f"{_shortened(message)} Without `strict` it is left out and counted.")
        self.report.count("faults", note=message)
        if skipped:
            self.report.count(skipped)


def _shortened(message: str) -> str:
    return message if len(message) <= MAX_NOTE else f"{message[:MAX_NOTE]} …"
