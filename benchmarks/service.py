"""Measure the web service on loopback: what many clients get together of what the pipeline gives
alone, and how long a small request takes beside a large one.

    python benchmarks/service.py --data ../shared/data
    python benchmarks/service.py --data ../shared/data --processes 2

The service runs in this process, its clients in another. Abstracts of BC5CDR's development set go
through `nlp.pipe`, then one a request through the service, from so many clients at a time, then
all in one request with small ones beside it. One JSON line a measurement, with seconds by the clock
and of this process's work; the latter hold on a machine that has other work, too.

With `--processes`, so many services in processes of their own, a thread each, are asked by turns,
as a balancer would ask them; before them one alone, and after them once more.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import cycle
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import requests
import torch
import typer

from spacy_angel.corpora.registry import read_corpus
from spacy_angel.pipelines.components import components_before
from spacy_angel.pipelines.load import open_pipeline
from spacy_angel.service.app import OPEN_PATHS, make_app
from spacy_angel.service.core import Service
from spacy_angel.service.guards import access_for
from spacy_angel.service.metrics import Metrics
from spacy_angel.service.serving import serve

CORPUS = "bc5cdr/CDR_DevelopmentSet.PubTator.txt"
SMALL = {"text": "She had a heart attack."}
TIMEOUT = 3600


def main(
    data: Annotated[Path, typer.Option(help="Folder with bc5cdr/.")],
    pipeline: Annotated[str, typer.Option(help="What is served.")] = "en_angel_mini",
    documents: Annotated[int, typer.Option(help="Abstracts.")] = 500,
    clients: Annotated[int, typer.Option(help="At a time.")] = 32,
    threads: Annotated[int, typer.Option(help="Threads of the model.")] = 2,
    processes: Annotated[int, typer.Option(help="Services side by side; 0: in this one.")] = 0,
) -> None:
    """Measure throughput and waiting."""
    if processes:
        texts = [document.text for document in read_corpus(data / CORPUS)][:documents]
        _measure_processes(pipeline, texts, clients, processes)
        return
    torch.set_num_threads(threads)
    nlp, linker = open_pipeline(pipeline)
    texts = [document.text for document in read_corpus(data / CORPUS)][:documents]
    not_run = set(nlp.pipe_names).difference(components_before(nlp, linker))
    others = [name for name in not_run if nlp.get_pipe(name) is not linker]
    list(nlp.pipe(texts[:8], disable=others))

    begin = _now()
    n_mentions = sum(len(doc.ents) for doc in nlp.pipe(texts, disable=others))
    alone = _since(begin)
    _print("nlp.pipe", alone, documents=len(texts), mentions=n_mentions)

    metrics = Metrics()
    batches: list[float] = []

    def on_batch(documents: int, seconds: float) -> None:
        metrics.batch(documents, seconds)
        batches.append(seconds)

    service = Service(nlp, linker, on_batch=on_batch)
    app = make_app(service, access_for("127.0.0.1", None, [], OPEN_PATHS), metrics)
    ready = threading.Event()
    addresses: list[str] = []

    def on_ready(address: str) -> None:
        addresses.append(address)
        ready.set()

    threading.Thread(target=serve, args=(app, "127.0.0.1", 0, on_ready), daemon=True).start()
    ready.wait()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        pool.submit(int).result()
        begin = _now()
        waited = pool.submit(_ask_all, addresses[:1], texts, clients).result()
        together = _since(begin)
        ratios = {f"of_{name}": round(alone[name] / together[name], 3) for name in alone}
        _print("service", together, clients=clients, **ratios, **_quantiles(waited))
        batches.clear()
        begin = _now()
        waited = pool.submit(_ask_beside, addresses[0], texts).result()
        beside = _since(begin)
        longest = round(max(batches), 3)
        _print(
            "small beside large",
            beside,
            small=len(waited),
            over_a_second=sum(seconds > 1 for seconds in waited),
            longest_batch=longest,
            **_quantiles(waited),
        )


def _measure_processes(pipeline: str, texts: list[str], clients: int, n: int) -> None:
    with ExitStack() as stack:
        addresses = [stack.enter_context(_served(pipeline)) for _ in range(n)]
        for address in addresses:
            _ask_all([address], texts[:8], 8)
        for some in (addresses[:1], addresses, addresses[:1]):
            begin = time.perf_counter()
            waited = _ask_all(some, texts, clients)
            seconds = time.perf_counter() - begin
            figures = {"seconds": round(seconds, 2), "a_second": round(len(texts) / seconds, 2)}
            _print("processes", figures, processes=len(some), **_quantiles(waited))


@contextmanager
def _served(pipeline: str) -> Iterator[str]:
    """A service in a process of its own, with one thread. YIELDS (str): its address."""
    command = [sys.executable, "-m", "spacy_angel", "serve", pipeline, "--port", "0"]
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield next(line.strip() for line in process.stderr if line.startswith("http"))
        finally:
            process.terminate()


def _ask_all(addresses: list[str], texts: list[str], clients: int) -> list[float]:
    """RETURNS (list[float]): seconds that each text waited for its links, of services that are
    asked by turns."""
    with ThreadPoolExecutor(clients) as pool:
        return list(
            pool.map(lambda one: _ask(one[0], {"text": one[1]}), zip(cycle(addresses), texts))
        )


def _ask_beside(address: str, texts: list[str]) -> list[float]:
    """RETURNS (list[float]): seconds that small requests waited while a large one was linked."""
    waited = []
    with ThreadPoolExecutor(1) as pool:
        large = pool.submit(_ask, address, {"texts": texts})
        while not large.done():
            time.sleep(0.5)
            waited.append(_ask(address, SMALL))
        large.result()
    return waited


def _ask(address: str, body: dict[str, Any]) -> float:
    begin = time.perf_counter()
    requests.post(f"{address}/link", json=body, timeout=TIMEOUT).raise_for_status()
    return time.perf_counter() - begin


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(begin: tuple[float, float]) -> dict[str, float]:
    clock, work = (b - a for a, b in zip(begin, _now(), strict=True))
    return {"seconds": round(clock, 2), "work_seconds": round(work, 2)}


def _quantiles(waited: list[float]) -> dict[str, float]:
    ordered = sorted(waited)
    return {
        name: round(ordered[min(int(share * len(ordered)), len(ordered) - 1)], 3)
        for name, share in (("median_wait", 0.5), ("p99_wait", 0.99), ("longest_wait", 1.0))
    }


def _print(name: str, figures: dict[str, float], **more: Any) -> None:
    print(json.dumps({"what": name, **figures, **more}), flush=True)


if __name__ == "__main__":
    typer.run(main)
