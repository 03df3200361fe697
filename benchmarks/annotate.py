"""Measure batch annotation: documents and mentions per second, memory, and what PubMed would take.

    python benchmarks/annotate.py CORPUS [--pipeline en_angel_bio] [--workers 2]

The texts of a corpus are annotated twice, by one process and by several, into a temporary folder;
the first run of each is not counted. Prints one JSON object per run.
"""

import json
import resource
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.annotation.run import annotate
from spacy_angel.corpora.registry import read_corpus

PUBMED = 38_000_000
CORES = 64


def main(
    corpus: Annotated[Path, typer.Argument(help="Corpus whose texts are annotated.")],
    pipeline: Annotated[str, typer.Option(help="Pipeline.")] = "en_angel_mini",
    documents: Annotated[
        int, typer.Option(help="Documents; texts repeat if there are fewer.")
    ] = 1000,
    workers: Annotated[int, typer.Option(help="Processes of the second run.")] = 2,
) -> None:
    """Print rates and memory with one process and with several."""
    texts = [document.text for document in read_corpus(corpus)]
    for processes in (1, workers):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            few, all_texts = folder / "few.jsonl", folder / "all.jsonl"
            write_texts(few, texts[: 8 * processes])
            write_texts(all_texts, list(islice(cycle(texts), documents)))
            begin = time.perf_counter()
            annotate(few, pipeline, output=folder / "warm", workers=processes)
            warm = time.perf_counter() - begin
            begin = time.perf_counter()
            manifest = annotate(all_texts, pipeline, output=folder / "out", workers=processes)
            seconds = time.perf_counter() - begin - warm
        children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rate = documents / seconds
        print(
            json.dumps(
                {
                    "workers": processes,
                    "documents_per_second": round(rate, 2),
                    "mentions_per_second": round(manifest["counts"]["mentions"] / seconds, 1),
                    "start_seconds": round(warm, 1),
                    "memory_mb": max(children, own) // 1024,
                    "pubmed_days": round(PUBMED * processes / rate / CORES / 86_400, 1),
                }
            )
        )


def write_texts(path: Path, texts: list[str]) -> None:
    """Write texts as JSON lines.

    path (Path): file to write.
    texts (list[str]): a document each.
    """
    rows = (json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(texts))
    path.write_text("".join(rows), encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
