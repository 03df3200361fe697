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
    mention: Text
    chosen_id: Text
    left: Text = ""
    right: Text = ""
    label: Text = ""


def read_corrections(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """JSON lines with `mention` and `chosen_id`, and optionally `left`, `right` and `label`; the
    file that `train negative --data.corrections` reads.

    path (Path): UTF-8, plain or gzip. reading (Reading): gets faults.
    RETURNS (Iterator[CorpusDocument]): one a line, named `file:line`, with one mention.
    """
    for number, line in numbered_lines(path, reading):
        if not line.strip():
            continue
        with reading.leaving_out(number, "a correction with `mention` and `chosen_id`"):
            row = parse_as(line, _Row)
            doc_id = f"{path.name}:{number}"
            text = " ".join(part for part in (row.left, row.mention, row.right) if part)
            start = len(row.left) + 1 if row.left else 0
            span = start, start + len(row.mention)
            mention = reading.mention(
                text, span, row.mention, doc_id, number, row.label, row.chosen_id
            )
            yield CorpusDocument(doc_id, text, (mention,) if mention else ())


# Other JSON lines are whole documents.
FORMAT = Format(
    "corrections",
    read_corrections,
    lambda path, head: '"chosen_id"' in first_line(head) and head.startswith("{"),
    holds="mentions",
)
