"""Abstracts in which nothing is marked, for a recogniser that learns from a teacher.

    python tools/build_unmarked_texts.py DATA OUT

DATA has `raw_text/evidence_inference_articles.jsonl.gz` (trials; title and abstract are taken) and
`raw_text/pubmedqa_pqal_contexts.jsonl.gz`; OUT is what `tools/build_six_types.py` wrote, where
`raw/` gets `abstracts.jsonl`.
"""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.files.atomic import replacing

TRIALS = "evidence_inference_articles.jsonl.gz"
QUESTIONS = "pubmedqa_pqal_contexts.jsonl.gz"
# `ABSTRACT.METHODS:` on a line of its own, and where the article itself begins.
_HEADING = re.compile(r"^(?:TITLE|ABSTRACT)[^\n:]*:\s*", re.MULTILINE)
_BODY = re.compile(r"^BODY", re.MULTILINE)


def build(
    data: Annotated[Path, typer.Argument(help="Folder of the texts.")],
    output: Annotated[Path, typer.Argument(help="Folder of the six types.")],
) -> None:
    """Write the file, a document a line."""
    with replacing(output / "raw" / "abstracts.jsonl") as file:
        for number, text in texts(data / "raw_text"):
            line = {"id": number, "text": text, "mentions": []}
            file.write(json.dumps(line, ensure_ascii=False).encode("utf8") + b"\n")


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """YIELDS (tuple[str, str]): number of an article, its title and abstract."""
    for name in (TRIALS, QUESTIONS):
        with gzip.open(folder / name, "rt", encoding="utf8") as file:
            for article in map(json.loads, file):
                yield article["id"], plain(article["text"])


def plain(text: str) -> str:
    """text (str): of an article, with its headings. RETURNS (str): title and abstract, a paragraph
    a line."""
    text = _HEADING.sub("", _BODY.split(text, maxsplit=1)[0])
    return "\n".join(filter(None, map(str.strip, text.splitlines())))


if __name__ == "__main__":
    typer.run(build)
