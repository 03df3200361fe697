"""Compare the abbreviation detector of the pipelines with scispaCy's own, pair by pair.

    python benchmarks/abbreviations.py ../shared/data/bc5cdr/CDR_DevelopmentSet.PubTator.txt \
        ../shared/data/raw_text/pubmedqa_pqal_contexts.jsonl.gz

Sentences are the sentencizer's. Prints a table, then each pair that only one of them finds, with
the words around it.
"""

import gzip
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import spacy
import typer
from scispacy.abbreviation import AbbreviationDetector
from spacy.tokens import Doc

from spacy_angel.corpora.registry import read_corpus
from spacy_angel.linking.mentions.detector import LinearAbbreviationDetector

_AROUND = 8


def main(
    texts: Annotated[
        list[Path], typer.Argument(help="Corpora, or gzipped JSON lines with `text` or `abstract`.")
    ],
    most: Annotated[int | None, typer.Option(help="Documents of a file at most.")] = None,
) -> None:
    """Print a Markdown table, and the differences."""
    # Of texts without an abbreviation.
    warnings.filterwarnings("ignore", message=r"\[W036\]")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    theirs = AbbreviationDetector(nlp, make_serializable=True)
    ours = LinearAbbreviationDetector(nlp, make_serializable=True)
    differences: list[str] = []
    print("| texts | documents | pairs | only scispaCy's | only ours |")
    print("|---|---|---|---|---|")
    for path in texts:
        n_documents = n_pairs = n_theirs = n_ours = 0
        for number, text in enumerate(read_texts(path)):
            if number == most:
                break
            doc = nlp(text)
            expected, found = pairs(theirs, doc), pairs(ours, doc)
            n_documents += 1
            n_pairs += len(expected)
            n_theirs += len(expected - found)
            n_ours += len(found - expected)
            differences += [
                f"{path.name}, {who}: {show(doc, *pair)}"
                for who, some in (
                    ("only scispaCy's", expected - found),
                    ("only ours", found - expected),
                )
                for pair in sorted(some)
            ]
        print(f"| {path.name} | {n_documents:,} | {n_pairs:,} | {n_theirs} | {n_ours} |")
    print()
    print(*differences, sep="\n")


def read_texts(path: Path) -> Iterator[str]:
    """YIELDS (str): title and text of each document."""
    if not path.name.endswith(".jsonl.gz"):
        yield from (document.text for document in read_corpus(path))
        return
    with gzip.open(path, "rt", encoding="utf8") as lines:
        for row in map(json.loads, lines):
            text = row.get("text") or row.get("abstract")
            if text:
                yield f"{row.get('title', '')} {text}".strip()


def pairs(detector: AbbreviationDetector, doc: Doc) -> set[tuple[int, int, int, int]]:
    """RETURNS (set[tuple[int, int, int, int]]): of a document, tokens of short and long forms."""
    doc.user_data.clear()
    detector(doc)
    return {
        (one["short_start"], one["short_end"], one["long_start"], one["long_end"])
        for one in doc._.abbreviations
    }


def show(doc: Doc, short: int, short_end: int, long: int, long_end: int) -> str:
    """RETURNS (str): a pair, and where its long form stands."""
    around = doc[max(long - _AROUND, 0) : long_end + _AROUND].text.replace("\n", " ")
    return f"{doc[short:short_end].text} = {doc[long:long_end].text!r} in {around!r}"


if __name__ == "__main__":
    typer.run(main)
