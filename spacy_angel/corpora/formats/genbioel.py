"""GenBioEL's folders: what its preprocessing wrote for each split.

    train.source      ["the patient had START brca1 cancer END since 1990 ."]
    train.target      ["brca1 cancer is", "breast cancer type 1"]
    trainlabel.txt    D001943|D061325

All three files have a line for each mention. The source is a JSON list with one string, the mention
between the words ` START ` and ` END `; the target a JSON list of decoder prefix and name, of which
the prefix must agree with the mention; the label file (`trainlabel.txt`, `train.label`,
`train_label.txt`) has the ids, composites with `|`. Texts were lower-cased, abbreviations expanded
and contexts cut when they were written, which cannot be undone.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from ...errors import AngelError
from ...files.formats import Format
from ...files.json_values import Text, parse_as
from ...files.reading import numbered_lines
from ..documents import CorpusDocument, Reading

_MARK = re.compile(r"(?<!\S)(?:START|END)(?!\S)")


def read_genbioel(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Each line as a document with one mention, named by file and line.

    path (Path): folder with `<split>.source`, `<split>.target` and a label file.
    reading (Reading): gets counts and faults; with a split only that one is read.
    RETURNS (Iterator[CorpusDocument]): without the marks.
    RAISES (AngelError): a file is missing, lines do not belong together, or are broken.
    """
    names = sorted(source.stem for source in path.glob("*.source"))
    if reading.split:
        names = [name for name in names if name == reading.split]
    if not names:
        raise AngelError(
            f"{path} has no file `{reading.split or 'train'}.source` as GenBioEL writes it."
        )
    for name in names:
        yield from _read_split(path, name, replace(reading, split=name))


def _read_split(path: Path, split: str, reading: Reading) -> Iterator[CorpusDocument]:
    labels = [p for p in sorted(path.glob(f"{split}*label*")) if p.is_file()]
    if not labels:
        raise AngelError(f"{path} has no label file for {split}, e.g. `{split}label.txt`.")
    files = [path / f"{split}.source", path / f"{split}.target", labels[0]]
    for lines in zip_longest(*(numbered_lines(file, reading) for file in files)):
        if None in lines:
            short, names = files[lines.index(None)], ", ".join(map(str, files))
            raise AngelError(f"{short} has fewer lines than the files that belong to it: {names}.")
        (number, source), (_, target), (_, raw_ids) = lines
        try:
            left, mention, right = _parse(source, target)
        except ValueError:
            reading.fault(
                f"{files[0]}, line {number}: expected a JSON list with one string with START and "
                f"END, found {source[:60]!r}.",
                lost="mentions_left_out",
            )
            continue
        start = len(left) + 1 if left else 0
        text = " ".join(part for part in (left, mention, right) if part)
        span = start, start + len(mention)
        yield from reading.single_mention(text, span, f"{split}:{number}", number, raw_ids)


def _parse(source: str, target: str) -> tuple[str, str, str]:
    """RETURNS (tuple[str, str, str]): left context, mention, right context.

    RAISES (ValueError): the lines have another layout or do not belong together.
    """
    [text] = parse_as(source, tuple[Text])
    prefix, _ = parse_as(target, tuple[Text, Text])
    text = text.strip(" ")
    # Further marks would leave open which mention is meant.
    begin, end = _MARK.finditer(text)
    mention = text[begin.end() + 1 : end.start() - 1]
    if (begin[0], end[0]) != ("START", "END") or not mention:
        raise ValueError("expected a mention between START and END")
    if html.unescape(prefix).split() != [*mention.split(), "is"]:
        raise ValueError("the target is that of another mention")
    return text[: begin.start()].removesuffix(" "), mention, text[end.end() + 1 :]


def _recognises(path: Path, head: str) -> bool:
    return path.is_dir() and any(path.glob("*.source"))


FORMAT = Format("genbioel", read_genbioel, _recognises, holds="mentions")
