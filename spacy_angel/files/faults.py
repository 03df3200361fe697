"""What a fault in a file does, and the counts of reading."""

from collections import Counter
from dataclasses import dataclass, field

from ..errors import AngelError

# Further notes are counted but not kept: a file of another kind has a fault on every line.
MAX_NOTES = 1000
# Characters of a message, which may quote a long line of the file.
MAX_NOTE = 2000


@dataclass
class ReadingReport:
    """What was read, repaired and skipped: counters, and one line of text for each case.

    counts (Counter[str]): with `strict=False` the `faults`; `unfinished_last_lines` and
        `latin1_lines` of line-based files; the reader's own counters.
    notes (list[str]): the cases by file and line; at most MAX_NOTES of MAX_NOTE characters.
    position (int): compressed bytes of the file read so far.
    """

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    position: int = 0

    def count(self, key: str, number: int = 1, note: str = "") -> None:
        """key (str): counter. number (int): added to it. note (str): a line to keep."""
        if number:
            self.counts[key] += number
        if note and len(self.notes) < MAX_NOTES:
            self.notes.append(_shortened(note))

    def to_dict(self) -> dict[str, object]:
        """RETURNS (dict[str, object]): plain values for JSON."""
        return {"counts": dict(sorted(self.counts.items())), "notes": list(self.notes)}


@dataclass
class FileReading:
    """One reading of a file: its name, and what a fault does.

    name (str): the file as messages name it.
    strict (bool): raise at the first fault; otherwise skip what it affects and count it.
    report (ReadingReport): gets the counts.
    progress (bool): show a progress bar for long files.
    """

    name: str
    strict: bool = True
    report: ReadingReport = field(default_factory=ReadingReport)
    progress: bool = False

    def where(self, line: int) -> str:
        """RETURNS (str): file and line for a message."""
        return f"{self.name}, line {line}"

    def fault_at(self, line: int, message: str, skipped: str = "") -> None:
        """line (int): named by the message. message (str), skipped (str): see `fault`."""
        self.fault(f"{self.where(line)}: {message}", skipped)

    def fault(self, message: str, skipped: str = "") -> None:
        """Raise, or count and continue.

        message (str): what was expected and what was found.
        skipped (str): counter of what is skipped, e.g. `mentions_left_out`.
        RAISES (AngelError): with `strict`.
        """
        if self.strict:
            raise AngelError(f"{_shortened(message)} Without `strict` it is left out and counted.")
        self.report.count("faults", note=message)
        if skipped:
            self.report.count(skipped)


def _shortened(message: str) -> str:
    return message if len(message) <= MAX_NOTE else f"{message[:MAX_NOTE]} …"
