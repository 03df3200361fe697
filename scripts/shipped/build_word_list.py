"""Count the words of biomedical abstracts: what `linking/mentions/spelling.py` takes for a word.

    python scripts/shipped/build_word_list.py DATA spacy_angel/data/words.txt.gz

DATA holds `raw_text/`, `medmentions/`, `chemdisgene_silver/`, `ncbi-disease/` and `bc5cdr/`. A word
stands in the list where two documents or more have it; those of the development sets do not count.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from build_training_data import documents

from spacy_angel.files.atomic import replacing
from spacy_angel.files.reading import open_binary

RAW = (
    "raw_text/medline16n0005.jsonl.gz",
    "raw_text/pubmedqa_pqal_contexts.jsonl.gz",
    "raw_text/evidence_inference_articles.jsonl.gz",
)
PUBTATOR = (
    "medmentions/st21pv_train.rebuilt.pubtator.gz",
    "chemdisgene_silver/ctd_derived_dev_abstracts.txt.gz",
    "chemdisgene_silver/curated_abstracts.txt.gz",
    "ncbi-disease/NCBItrainset_corpus.txt",
    "bc5cdr/CDR_TrainingSet.PubTator.txt",
)
DEV = (
    "ncbi-disease/NCBIdevelopset_corpus.txt",
    "bc5cdr/CDR_DevelopmentSet.PubTator.txt",
    "aioner/tmVar3_Train.PubTator",
    "aioner/BioRED_TrainDev.PubTator",
)
# What is in capitals throughout is a short form.
WORD = re.compile(r"(?<![^\W_])[A-Za-z][a-z]{3,23}(?![^\W_])")


def build(
    data: Annotated[Path, typer.Argument(help="Folder of the texts.")],
    output: Annotated[Path, typer.Argument(help="File to write: a word and its count a line.")],
    least: Annotated[int, typer.Option(help="Documents that must have the word.")] = 2,
) -> None:
    """Write the words, the most frequent first."""
    counts: Counter[str] = Counter()
    for text in texts(data):
        counts.update({word.lower() for word in WORD.findall(text)})
    kept = [(word, n) for word, n in counts.items() if n >= least]
    kept.sort(key=lambda pair: (-pair[1], pair[0]))
    lines = "".join(f"{word}\t{n}\n" for word, n in kept)
    with replacing(output) as file:
        # Without a time, so that the same words are the same bytes.
        file.write(gzip.compress(lines.encode(), mtime=0))
    typer.echo(f"{len(kept):,} words of {len(counts):,}")


def texts(data: Path) -> Iterator[str]:
    """YIELDS (str): title, abstract and body of each document."""
    for name in RAW:
        with open_binary(data / name) as stream, closing(stream):
            for line in stream:
                values = json.loads(line).values()
                yield " ".join(str(value) for value in values if value)
    unseen = {document.doc_id for document in documents(data, DEV)}
    yield from (d.text for d in documents(data, PUBTATOR) if d.doc_id not in unseen)


if __name__ == "__main__":
    typer.run(build)
