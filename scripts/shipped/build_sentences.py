"""Convert the marked sentences of everyday text to BioC JSON, to train a recognizer on.

    python scripts/shipped/build_sentences.py OUTPUT

`everyday_sentences.txt` beside this file has one text per line, with every mention marked:
`Started {metoprolol|DRUG} 25 BID`. A language model wrote the texts.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.formats.bioc import write_bioc_json

SENTENCES = Path(__file__).with_name("everyday_sentences.txt")
# Labels of each kind of mark; a recognizer learns nothing about a label with a question mark.
LABELS = {
    "SYMPTOM": ("DISEASE", "PHENOTYPE"),
    "DISEASE": ("DISEASE", "PHENOTYPE?"),
    "DRUG": ("CHEMICAL", "GENE?"),
    "CHEMICAL": ("CHEMICAL",),
    "GENE": ("GENE",),
    "SPECIES": ("SPECIES", "DISEASE?"),
    "CELL_LINE": ("CELL_LINE",),
    "VARIANT": ("VARIANT",),
    "OPEN": (
        *("DISEASE?", "CHEMICAL?", "GENE?", "SPECIES?"),
        *("CELL_LINE?", "PHENOTYPE?", "VARIANT?"),
    ),
}
_MARK = re.compile(r"\{([^{}|]+)\|([A-Z_]+)\}")


def marked_texts(path: Path) -> Iterator[CorpusDocument]:
    """Read texts whose mentions are marked.

    path (Path): one text per line.
    YIELDS (CorpusDocument): each text, with a mention for each label of a mark.
    """
    for number, line in enumerate(path.read_text(encoding="utf8").splitlines()):
        text, end, mentions = "", 0, []
        for mark in _MARK.finditer(line):
            text += line[end : mark.start()]
            span = (len(text), len(text) + len(mark[1]))
            mentions += [GoldMention(*span, mark[1], label) for label in LABELS[mark[2]]]
            text, end = text + mark[1], mark.end()
        yield CorpusDocument(f"sentence {number}", text + line[end:], tuple(mentions))


def main(output: Annotated[Path, typer.Argument(help="BioC JSON file to write.")]) -> None:
    """Write all texts into one file."""
    write_bioc_json(list(marked_texts(SENTENCES)), output)


if __name__ == "__main__":
    typer.run(main)
