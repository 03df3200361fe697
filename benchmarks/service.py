"""Load-test a web service on the loopback interface.

    python benchmarks/service.py throughput --data ../shared/data
    python benchmarks/service.py memory --data ../shared/data

Each command starts a service in a separate process and prints one JSON line. On a busy machine, CPU
seconds remain comparable, wall-clock seconds do not. Requires Linux.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import requests
import typer

from spacy_angel.corpora.registry import read_corpus
from spacy_angel.pipelines.load import open_pipeline

CORPUS = "bc5cdr/CDR_DevelopmentSet.PubTator.txt"
Data = Annotated[Path, typer.Option(help="Folder with bc5cdr/.")]
app = typer.Typer()


@app.command()
def throughput(data: Data, documents: int = 100, clients: int = 32) -> None:
    """Compare requests with one BC5CDR abstract each with `nlp.pipe` in this process."""
    texts = [document.text for document in read_corpus(data / CORPUS)][:documents]
    nlp, _ = open_pipeline("en_angel_mini")
    list(nlp.pipe(texts[:8]))
    begin = _seconds(os.getpid())
    list(nlp.pipe(texts))
    alone = [b - a for a, b in zip(begin, _seconds(os.getpid()), strict=True)]
    with _service() as (address, process), ThreadPoolExecutor(clients) as pool:
        _link(address, *texts[:8])
        begin = _seconds(process)
        list(pool.map(lambda text: _link(address, text), texts))
        served = [b - a for a, b in zip(begin, _seconds(process), strict=True)]
    figures = dict(zip(("wall", "cpu"), zip(alone, served, strict=True), strict=True))
    _print(
        documents=documents,
        clients=clients,
        **{f"{name}_seconds": [round(x, 2) for x in pair] for name, pair in figures.items()},
        **{f"of_{name}": round(pair[0] / pair[1], 3) for name, pair in figures.items()},
    )


@app.command()
def memory(data: Data, n_requests: int = 5000, every: int = 1000) -> None:
    """Send sentences from BC5CDR with new words, and print the resident memory."""
    words = " ".join(document.text for document in read_corpus(data / CORPUS)).split()
    choose = random.Random(0)
    sizes = []
    with _service() as (address, process):
        for i in range(1, n_requests + 1):
            begin = choose.randrange(len(words) - 10)
            new = "".join(choose.choices("abcdefghijklmnoprstuvwxyz", k=9))
            _link(address, " ".join([*words[begin : begin + 10], f"{new} {new[::-1]}itis."]))
            if i % every == 0:
                sizes.append(round(_resident(process) / 2**20))
                _print(requests=i, rss_mib=sizes[-1])
    _print(growth=round(sizes[-1] / sizes[0] - 1, 4))


@contextmanager
def _service() -> Iterator[tuple[str, int]]:
    """YIELDS (tuple[str, int]): address and process ID of a running service."""
    command = [sys.executable, "-m", "spacy_angel", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = next(line.strip() for line in process.stderr if line.startswith("http"))
            yield address, process.pid
        finally:
            process.terminate()


def _link(address: str, *texts: str) -> None:
    body = {"documents": [{"text": text} for text in texts]}
    requests.post(f"{address}/link", json=body, timeout=3600).raise_for_status()


def _seconds(pid: int) -> tuple[float, float]:
    """RETURNS (tuple[float, float]): wall-clock time, and CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return time.perf_counter(), sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> int:
    """RETURNS (int): resident memory of a process in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _print(**figures: Any) -> None:
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    app()
