"""GenBioEL's folders: what its preprocessing wrote for each split.

    train.source      ["the patient had START brca1 cancer END since 1990 ."]
    train.target      ["brca1 cancer is", "breast cancer type 1"]
    trainlabel.txt    D001943|D061325

One line a mention in all three files. The source is a JSON list with one string, the mention
between the words ` START ` and ` END `; the target a JSON list of decoder prefix and name, of which
the prefix must agree with the mention; the label file (`trainlabel.txt`, `train.label`,
`train_label.txt`) has the ids, composites with `|`. Texts were lower-cased, abbreviations expanded
and contexts cut when they were written; neither can be undone.
"""

import html
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ...errors import AngelError, cannot_read
from ...files.formats import Format
from ...files.json_values import parse_json
from ...files.reading import numbered_lines
from ..documents import CorpusDocument, Reading


def read_genbioel(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Each line as a document with one mention, named by file and line.

    path (Path): folder with `<split>.source`, `<split>.target` and a label file.
    reading (Reading): gets counts and faults; with a split only that one is read, otherwise all.
    RETURNS (Iterator[CorpusDocument]): marks taken out.
    RAISES (AngelError): where a file is missing, lines do not belong together, or are broken.
    """
    names = sorted(source.stem for source in path.glob("*.source"))
    if reading.split:
        names = [name for name in names if name == reading.split]
    if not names:
        raise AngelError(
            f"{path} has no file `{reading.split or 'train'}.source` as GenBioEL writes it."
        )
    for name in names:
        yield from _read_split(path, name, reading)


def _read_split(path: Path, split: str, reading: Reading) -> Iterator[CorpusDocument]:
    labels = [p for p in sorted(path.glob(f"{split}*label*")) if p.is_file()]
    if not labels:
        raise AngelError(f"{path} has no label file for {split}, e.g. `{split}label.txt`.")
    files = [path / f"{split}.source", path / f"{split}.target", labels[0]]
    for lines in zip_longest(*(_lines(file, reading) for file in files)):
        if None in lines:
            short = files[lines.index(None)]
            raise AngelError(
                f"{short} has fewer lines than the files that belong to it: "
                f"{', '.join(map(str, files))}."
            )
        number, source = lines[0]
        where = f"{files[0]}, line {number}"
        parsed = _parse(source, lines[1][1])
        if parsed is None:
            reading.fault(
                f"{where}: expected a JSON list with one string with START and END, found "
                f"{source[:60]!r}.",
                lost="mentions_left_out",
            )
            continue
        left, mention, right = parsed
        span = ((start := len(left) + 1 if left else 0), start + len(mention))
        text = " ".join(part for part in (left, mention, right) if part)
        doc_id = f"{split}:{number}"
        gold = reading.mention(text, span, mention, doc_id, number, raw_ids=lines[2][1])
        if gold is not None:
            yield CorpusDocument(doc_id, text, (gold,), split)


def _lines(file: Path, reading: Reading) -> Iterator[tuple[int, str]]:
    if not file.is_file():
        raise AngelError(cannot_read(file, "there is no such file"))
    return numbered_lines(file, reading)


def _parse(source: str, target: str) -> tuple[str, str, str] | None:
    """RETURNS (tuple[str, str, str] | None): left context, mention, right context; None where the
    lines are not of this layout or do not belong together."""
    sources, targets = _strings(source, 1), _strings(target, 2)
    if not sources or not targets:
        return None
    left, start, rest = f" {sources[0].strip(' ')} ".partition(" START ")
    mention, end, right = rest.partition(" END ")
    left, right = left[1:], right[:-1]
    # Two marks of a kind would leave open which mention is meant.
    if not (start and end and mention) or any(
        mark in f" {part} " for mark in (" START ", " END ") for part in (left, mention, right)
    ):
        return None
    prefix = html.unescape(targets[0]).split()
    if prefix[-1:] != ["is"] or prefix[:-1] != mention.split():
        return None
    return left, mention, right


def _strings(line: str, number: int) -> list[str]:
    try:
        value: Any = parse_json(line)
    except ValueError:
        return []
    if not isinstance(value, list) or len(value) != number:
        return []
    if not all(isinstance(text, str) for text in value):
        return []
    try:
        # JSON can spell halves of characters, which no text holds.
        "".join(value).encode("utf8")
    except UnicodeEncodeError:
        return []
    return value


def _recognises(path: Path, head: str) -> bool:
    return path.is_dir() and any(path.glob("*.source"))


FORMAT = Format("genbioel", read_genbioel, _recognises, holds="mentions")
