"""Texts in which nothing is marked, for a recogniser that learns from a teacher or predicts masked
words.

    python tools/build_unmarked_texts.py DATA OUT

DATA has a folder `raw_text`; OUT is what `tools/build_six_types.py` wrote, where `raw/` gets

abstracts.jsonl      title and abstract of the trials of Evidence Inference, and PubMedQA's
articles.jsonl       the same trials in full text, PubMedQA's abstracts, some of MEDLINE's
lower_cased.jsonl    articles of BMC as SumPubMed has them, without capitals; some number is put in
                     the place of its `<dig>`
"""

import gzip
import json
import lzma
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from spacy_angel.files.atomic import replacing

TRIALS = "evidence_inference_articles.jsonl.gz"
QUESTIONS = "pubmedqa_pqal_contexts.jsonl.gz"
CITATIONS = "medline16n0005.jsonl.gz"
LOWER_ABSTRACTS = "bmc_abstracts.txt.xz"
LOWER_ARTICLES = "bmc_full_text.txt.xz"
# Of BMC's full texts so many sentences, two fifths, in parts of so many.
_SENTENCES, _PART = 781_000, 40
_NUMBERS = ("1", "2", "3", "4", "5", "6", "7", "8", "10", "12", "16", "24", "53", "95")
# `ABSTRACT.METHODS:` on a line of its own, and where the article itself begins.
_HEADING = re.compile(r"^(?:TITLE|ABSTRACT|BODY)[^\n:]*:\s*", re.MULTILINE)
_BODY = re.compile(r"^BODY", re.MULTILINE)


def build(
    data: Annotated[Path, typer.Argument(help="Folder of the texts.")],
    output: Annotated[Path, typer.Argument(help="Folder of the six types.")],
) -> None:
    """Write the files, a document a line."""
    folder, raw = data / "raw_text", output / "raw"
    trials, questions = list(_articles(folder / TRIALS)), list(_articles(folder / QUESTIONS))
    abstracts = [(number, _BODY.split(text, maxsplit=1)[0]) for number, text in trials]
    _write(raw / "abstracts.jsonl", chain(abstracts, questions))
    _write(raw / "articles.jsonl", chain(trials, questions, _citations(folder / CITATIONS)))
    _write(raw / "lower_cased.jsonl", _lower_cased(folder))


def _write(path: Path, texts: Iterable[tuple[str, str]]) -> None:
    with replacing(path) as file:
        for number, text in texts:
            line = {"id": number, "text": plain(text), "mentions": []}
            file.write(json.dumps(line, ensure_ascii=False).encode("utf8") + b"\n")


def _articles(path: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf8") as file:
        for article in map(json.loads, file):
            yield article["id"], article["text"]


def _citations(path: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf8") as file:
        for citation in map(json.loads, file):
            if citation["abstract"]:
                yield citation["id"], f"{citation['title']}\n{citation['abstract']}"


def _lower_cased(folder: Path) -> Iterator[tuple[str, str]]:
    chance = Random(5)
    with lzma.open(folder / LOWER_ABSTRACTS, "rt", encoding="utf8") as file:
        for number, text in enumerate(file.read().split("\n\n")):
            yield f"abstract {number}", with_numbers(text, chance)
    with lzma.open(folder / LOWER_ARTICLES, "rt", encoding="utf8") as file:
        sentences = islice(file, _SENTENCES)
        number = 0
        while part := "".join(islice(sentences, _PART)):
            yield f"part {number}", with_numbers(part, chance)
            number += 1


def with_numbers(text: str, chance: Random) -> str:
    """text (str): of SumPubMed. chance (Random): chooses. RETURNS (str): with numbers in the place
    of `<dig>`, on one line."""
    return re.sub("<dig>", lambda _: chance.choice(_NUMBERS), text.replace("\n", " "))


def plain(text: str) -> str:
    """text (str): of an article, perhaps with headings. RETURNS (str): without them, a paragraph a
    line."""
    return "\n".join(filter(None, map(str.strip, _HEADING.sub("", text).splitlines())))


if __name__ == "__main__":
    typer.run(build)
