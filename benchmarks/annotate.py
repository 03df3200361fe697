"""Measure batch annotation: rate, memory and files, extrapolated to all of PubMed.

    python benchmarks/annotate.py abstracts.jsonl.gz [--documents 30000] [--workers 2]

The documents of a corpus are written in PubMed's XML format, annotated into a temporary folder, and
annotated again, which finds that everything is done. The time to open the pipeline is measured
separately with a few documents. Prints a JSON object.
"""

import json
import resource
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated
from xml.sax.saxutils import escape

import typer

from spacy_angel.annotation.run import annotate
from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.corpora.registry import read_corpus

PUBMED = 38_000_000
CORES = 64
PER_FILE = 10_000


def main(
    corpus: Annotated[Path, typer.Argument(help="Corpus whose documents are annotated.")],
    pipeline: Annotated[str, typer.Option(help="Pipeline.")] = "en_angel_mini",
    documents: Annotated[
        int, typer.Option(help="Documents; those of the corpus repeat if there are fewer.")
    ] = 30_000,
    workers: Annotated[int, typer.Option(help="Processes.")] = 2,
    to: Annotated[str, typer.Option(help="Output format.")] = "parquet",
) -> None:
    """Print rate, memory and number of files, and an estimate for PubMed on 64 cores."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        articles = list(islice(cycle(list(read_corpus(corpus, strict=False))), documents))
        for begin in range(0, documents, PER_FILE):
            path = folder / "in" / f"pubmed{begin // PER_FILE:04d}.xml"
            write_pubmed(path, articles[begin : begin + PER_FILE], begin)
        write_pubmed(folder / "few" / "pubmed.xml", articles[:workers], 0)
        seconds = {}
        for run, source, output in (
            ("start", "few", "warm"),
            ("annotate", "in", "out"),
            ("again", "in", "out"),
        ):
            begin_time = time.perf_counter()
            # One shard per worker, so that each worker opens its pipeline.
            manifest = annotate(
                folder / source,
                pipeline,
                output=folder / output,
                output_format=to,
                shard_size=1 if run == "start" else 1000,
                workers=workers,
            )
            seconds[run] = time.perf_counter() - begin_time
        files = [path.stat().st_size for path in (folder / "out").iterdir()]
    rate = documents / (seconds["annotate"] - seconds["start"])
    figures = {
        "documents": documents,
        "workers": workers,
        "documents_per_second": round(rate, 2),
        "mentions_per_second": round(rate * manifest["counts"]["mentions"] / documents, 1),
        "start_seconds": round(seconds["start"], 1),
        "again_seconds": round(seconds["again"], 1),
        "worker_memory_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        "main_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "files": len(files),
        "output_mb": round(sum(files) / 1e6, 1),
        "pubmed_days_on_64_cores": round(PUBMED * workers / rate / CORES / 86_400, 2),
        "pubmed_files": round(PUBMED * len(files) / documents),
        "pubmed_output_gb": round(PUBMED / documents * sum(files) / 1e9, 1),
    }
    print(json.dumps(figures, indent=1))


def write_pubmed(path: Path, documents: list[CorpusDocument], first: int) -> None:
    """Write documents in the format of PubMed's baseline.

    path (Path): file to write; its folder is created.
    documents (list[CorpusDocument]): title and abstract of each article.
    first (int): PMIDs are numbered from `first + 1`.
    """
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf8") as file:
        file.write("<PubmedArticleSet>\n")
        for pmid, document in enumerate(documents, first + 1):
            end = document.title_end or 0
            title, abstract = escape(document.text[:end]), escape(document.text[end:].strip())
            file.write(
                f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article>'
                f"<ArticleTitle>{title}</ArticleTitle><Abstract><AbstractText>{abstract}"
                "</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>\n"
            )
        file.write("</PubmedArticleSet>\n")


if __name__ == "__main__":
    typer.run(main)
