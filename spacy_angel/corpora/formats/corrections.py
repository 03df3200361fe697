"""A curator's corrections as documents, a line each.

{"mention": "MLD", "left": "a gene for", "right": "was found", "chosen_id": "MESH:D007966",
 "rejected_ids": ["MESH:D008209"]}
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from ...files.formats import Format, first_line
from ...files.json_values import Text, parse_as
from ...files.reading import numbered_lines
from ..documents import CorpusDocument, Reading


class _Row(BaseModel):
    """What is read of a line."""

    mention: Text
    chosen_id: Text
    left: Text = ""
    right: Text = ""
    label: Text = ""


def read_corrections(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """JSON lines with `mention` and `chosen_id`, and where they are known `left`, `right` and
    `label`; the file that `train negative --data.corrections` reads.

    path (Path): UTF-8, plain or gzip. reading (Reading): gets faults.
    RETURNS (Iterator[CorpusDocument]): one a line, named `file:line`, with one mention.
    """
    for number, line in numbered_lines(path, reading):
        if not line.strip():
            continue
        try:
            row = parse_as(line, _Row)
        except ValueError as error:
            reading.fault(
                f"{reading.where(number)}: not a correction: {error}. Expected an object with "
                "`mention` and `chosen_id`.",
                lost="documents_left_out",
            )
            continue
        doc_id = f"{path.name}:{number}"
        left = f"{row.left} " if row.left else ""
        text = f"{left}{row.mention}{' ' if row.right else ''}{row.right}"
        span = len(left), len(left) + len(row.mention)
        mention = reading.mention(
            text, span, row.mention, doc_id, number, label=row.label, raw_ids=row.chosen_id
        )
        mentions = () if mention is None else (mention,)
        yield CorpusDocument(doc_id, text, mentions, reading.split)


# Other JSON lines are whole documents.
FORMAT = Format(
    "corrections",
    read_corrections,
    lambda path, head: '"chosen_id"' in first_line(head) and head.startswith("{"),
    holds="mentions",
)
