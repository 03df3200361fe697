"""Measure how many links are lost when the layout of a text changes, and check a file of cases.

    python benchmarks/texts.py [--most 12] [--cases benchmarks/sentences/cases.tsv]

1. Layouts: texts are rewritten (capitals, tabs, HTML, Markdown, …). `lost` counts links in the
   plain text without a link to the same concept at the same position in the rewritten text;
   `added` counts links in the rewritten text without a counterpart in the plain text.
2. Cases: a tab-separated file with `pipeline`, `text` and `check`: `WORDS=ID|ID` for the link of a
   mention with these words, `WORDS#2` for its second occurrence, `NIL` for no link.

To measure accuracy on corpora, use `spacy-angel evaluate`.
"""

import csv
import html
import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import spacy_angel
from spacy_angel.corpora.registry import read_corpus

DATA = Path(__file__).parents[2] / "shared" / "data"
SENTENCES = Path(__file__).parent / "sentences" / "texts.jsonl"
# File, index of the first document.
CORPORA = {
    "NCBI-disease": ("ncbi-disease/NCBIdevelopset_corpus.txt", 10),
    "BC5CDR": ("bc5cdr/CDR_DevelopmentSet.PubTator.txt", 10),
    "BioRED": ("aioner/BioRED_TrainDev.PubTator", 250),
}
Pieces = list[str]
"""For each character of the plain text, what replaces it."""


class Link(NamedTuple):
    """A linked mention.

    start, end (int): character offsets.
    concept_id (str): identifier of the concept.
    """

    start: int
    end: int
    concept_id: str


def _between(text: str, sentence: str, clause: str) -> Pieces:
    """Put sentences and clauses in separate cells or lines, without their full stops and commas."""
    pieces: Pieces = []
    for i, one in enumerate(text):
        behind = text[i + 1 : i + 3]
        if one in ".;," and behind[:1] == " " and (one == "," or behind[1:].isupper()):
            pieces.append(clause if one == "," else sentence)
        elif one == " " and pieces and text[i - 1] in ".;," and pieces[-1] in (sentence, clause):
            pieces.append("")
        else:
            pieces.append(one)
    return pieces


def _pipes(text: str) -> Pieces:
    first, *others = _between(text, "|F\nOBX|2|TX|REPORT^^L||", "|")
    return [f"OBX|1|TX|REPORT^^L||{first}", *others]


def _wrapped(text: str) -> Pieces:
    pieces, column = [], 0
    for one in text:
        column += 1
        if one == " " and column > 40:
            one, column = "\n", 0
        pieces.append(one)
    return pieces


def _html(text: str) -> Pieces:
    """Write paragraphs, words in tags, and HTML entities: named, numeric, and escaped
    characters."""
    marks = [("<b>", "</b>"), ("<i>", "</i>"), ('<a href="/wiki?a=1&amp;b=2">', "</a>")]
    return _marked(text, marks, "</p>\n<p>", ("<p>", "</p>"), _entity)


def _markdown(text: str) -> Pieces:
    marks = [("**", "**"), ("_", "_"), ("[", "](https://example.org/page)"), ("`", "`")]
    return _marked(text, marks, "\n- ", ("## Report\n\n- ", "\n"), lambda one, draw: one)


def _entity(one: str, draw: random.Random) -> str:
    if one == " " and draw.random() < 0.1:
        return "&nbsp;"
    if one in "-'" and draw.random() < 0.3:
        return f"&#{ord(one)};"
    return html.escape(one).encode("ascii", "xmlcharrefreplace").decode()


def _marked(
    text: str,
    marks: Sequence[tuple[str, str]],
    sentence: str,
    edges: tuple[str, str],
    write: Callable[[str, random.Random], str],
) -> Pieces:
    """Mark up every seventh word, and put every sentence on a separate line."""
    draw = random.Random(len(text))
    first = {found.start(): found.end() for found in re.finditer(r"[^\W_]{3,}(?![^\s.,;])", text)}
    closing: dict[int, str] = {}
    pieces: Pieces = []
    for i, one in enumerate(text):
        before = (edges[0] if i == 0 else "") + closing.pop(i, "")
        if i in first and (i == 0 or text[i - 1] == " ") and draw.random() < 0.15:
            opened, closing[first[i]] = draw.choice(marks)
            before += opened
        is_break = one == " " and text[i - 1] == "." and text[i + 1 : i + 2].isupper()
        pieces.append(before + (sentence if is_break else write(one, draw)))
    pieces[-1] += "".join(closing.values()) + edges[1]
    return pieces


LAYOUTS: dict[str, Callable[[str], Pieces]] = {
    "capitals": lambda text: [one.upper() for one in text],
    "small letters": lambda text: [one.lower() for one in text],
    "wrapped lines": _wrapped,
    "tabs for spaces": lambda text: ["\t" if one == " " else one for one in text],
    "cells": lambda text: _between(text, "\n", "\t"),
    "HL7": _pipes,
    "HTML": _html,
    "Markdown": _markdown,
}


def links_of(nlp: Any, texts: Iterable[str]) -> list[list[Link]]:
    """RETURNS (list[list[Link]]): links of each text."""
    return [
        [Link(e.start_char, e.end_char, e.kb_id_) for e in doc.ents if e.kb_id_ not in ("", "NIL")]
        for doc in nlp.pipe(texts, batch_size=32)
    ]


def layout_losses(nlp: Any, texts: Sequence[str], layout: str) -> tuple[int, int, int]:
    """RETURNS (tuple[int, int, int]): number of links in the plain texts, links lost, and links
    added."""
    written = [LAYOUTS[layout](text) for text in texts]
    total = lost = added = 0
    links = links_of(nlp, texts), links_of(nlp, map("".join, written))
    for pieces, before, after in zip(written, *links, strict=True):
        offsets = [0, *accumulate(map(len, pieces))]
        moved = [Link(offsets[start], offsets[end], own) for start, end, own in before]
        total += len(moved)
        lost += sum(not _has(after, link) for link in moved)
        added += sum(not _has(moved, link) for link in after)
    return total, lost, added


def _has(links: Iterable[Link], wanted: Link) -> bool:
    return any(
        link.concept_id == wanted.concept_id and link.start < wanted.end and wanted.start < link.end
        for link in links
    )


def case_figures(nlps: dict[str, Any], path: Path) -> tuple[int, int]:
    """RETURNS (tuple[int, int]): number of checks that pass, and of all checks; failures are
    printed."""
    right = total = 0
    with path.open(encoding="utf8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            for name in row["pipeline"].split(","):
                is_escaped = "\\" in row["text"]
                text = row["text"].encode().decode("unicode_escape") if is_escaped else row["text"]
                found = [(e.text, e.kb_id_ or "NIL") for e in nlps[f"en_angel_{name}"](text).ents]
                for check in row["check"].split("; "):
                    words, _, wanted = check.rpartition("=")
                    words, _, number = words.partition("#")
                    own = [kb_id for text, kb_id in found if text == words]
                    place = int(number or 1) - 1
                    answer = own[place] if place < len(own) else "NIL"
                    total += 1
                    right += answer in wanted.split("|")
                    if answer not in wanted.split("|"):
                        print(f"{row['id']}, {name}: {check}, found {found}")
    return right, total


def main(
    most: Annotated[int, typer.Option(help="Documents of each corpus to rewrite.")] = 12,
    layout: Annotated[list[str] | None, typer.Option(help="These layouts alone.")] = None,
    cases: Annotated[Path | None, typer.Option(help="Table of cases, in place of them.")] = None,
) -> None:
    """Print a line for each layout, or check the cases."""
    pipelines = ("en_angel_mini", "en_angel_bio")
    if cases is not None:
        nlps = {name: spacy_angel.load(name, dtype="float32") for name in pipelines}
        print("cases", *case_figures(nlps, cases))
        return
    nlp = spacy_angel.load("en_angel_mini", dtype="float32")
    rows = SENTENCES.read_text("utf8").splitlines()[1::2]
    texts = [json.loads(row)["text"] for row in rows[: 3 * most]]
    for file, first in CORPORA.values():
        texts += [d.text for d in [*read_corpus(DATA / file, strict=False)][first : first + most]]
    for name in layout or LAYOUTS:
        print(name, *layout_losses(nlp, texts, name))


if __name__ == "__main__":
    typer.run(main)
