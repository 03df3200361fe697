"""Measure the whole pipeline: mentions a second with mentions given, abstracts a second from text,
and memory over many documents.

    python benchmarks/pipeline.py --data ../shared/data

The linker with all mentions searched, the linker as it ships, and a baseline over the same names
(without a model or context) run in turn in this process on the same abstracts of BC5CDR's
development set; of each the best round counts. With `--processes N` our sides run in N processes
of their own, an Nth of the abstracts and of the threads each. One JSON line a
measurement, with both sides and their ratio.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import cycle, islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import torch
import typer
from tqdm import tqdm

import spacy_angel
from spacy_angel.about import SHIPPED_NAME
from spacy_angel.corpora.docs import to_doc
from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.evaluation.baselines import BASELINES
from spacy_angel.linking.linker import AngelLinker
from spacy_angel.pipelines.components import components_before

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

CORPUS = "bc5cdr/CDR_DevelopmentSet.PubTator.txt"
FULL = {"candidates": {"shortcuts": False}}
SIDES: dict[str, dict[str, Any]] = {"full_search": FULL, "as_shipped": {}}
K = 5  # candidates of a mention
BATCH = 64  # documents
STEPS = 10  # of the memory's course


def main(
    data: Annotated[Path, typer.Option(help="Folder with bc5cdr/.")],
    documents: Annotated[int, typer.Option(help="Abstracts.")] = 100,
    dtype: Annotated[str, typer.Option(help="Type of the weights.")] = "float32",
    threads: Annotated[int, typer.Option(help="Threads.")] = 2,
    rounds: Annotated[int, typer.Option(help="Times that all run; the best counts.")] = 3,
    processes: Annotated[int, typer.Option(help="Processes that share abstracts, threads.")] = 1,
    baseline: Annotated[str, typer.Option(help="tfidf or exact; `` for none.")] = "tfidf",
    pipeline: Annotated[
        str, typer.Option(help="One that ships, or the folder of a saved one.")
    ] = SHIPPED_NAME,
    memory: Annotated[
        int,
        typer.Option(
            help="Send so many documents through the pipeline, the abstracts again "
            "and again, and print the memory as it goes."
        ),
    ] = 0,
) -> None:
    """Print one JSON line a measurement."""
    settings: dict[str, Any] = {"dtype": dtype, "threads": threads, "processes": processes}
    settings |= {"documents": documents, "pipeline": pipeline}
    own = Workload(data, documents, dtype, threads // processes, pipeline)
    if memory:
        mib = memory_course(own.nlp, own.corpus, memory)
        print(json.dumps({"what": "memory", **settings, "sent": memory, "mib": mib}))
        return
    with workers(own, processes) as run:
        print(json.dumps(mentions_given(own, run, rounds, baseline) | settings))
        print(json.dumps(from_text(own, run, rounds) | settings))


class Workload:
    """A pipeline and what goes through it.

    data (Path), documents (int): the first abstracts of the corpus in that folder.
    dtype (str), threads (int): of the model, and of this process. pipeline (str): name or folder.
    """

    def __init__(self, data: Path, documents: int, dtype: str, threads: int, pipeline: str) -> None:
        torch.set_num_threads(threads)
        self.arguments = data, documents, dtype, threads, pipeline
        self.corpus = list(islice(read_corpus(data / CORPUS), documents))
        self.nlp = spacy_angel.load(pipeline, dtype=dtype)
        linker: Any = self.nlp.get_pipe("angel_linker")
        self.linker: AngelLinker = linker
        self.docs = [given(self.nlp, self.linker, document) for document in self.corpus]

    def run(self, side: str, part: slice) -> int:
        """side (str): one of `SIDES`, else with or without the linker, from text. part (slice): of
        the documents. RETURNS (int): mentions."""
        if side in SIDES:
            docs = self.docs[part]
            with self.linker.using(**SIDES[side]):
                for start in range(0, len(docs), BATCH):
                    self.linker.predict(docs[start : start + BATCH])
            return sum(len(doc.ents) for doc in docs)
        disable = [] if side == "pipeline" else ["angel_linker"]
        texts = [document.text for document in self.corpus[part]]
        return sum(len(doc.ents) for doc in self.nlp.pipe(texts, disable=disable))


_OWN: list[Workload] = []


def begin_worker(*arguments: Any) -> None:
    """What `workers` begins a process with."""
    _OWN.append(Workload(*arguments))


def run_in_worker(side: str, part: slice) -> int:
    """RETURNS (int): mentions, see `Workload.run`."""
    return _OWN[0].run(side, part)


@contextmanager
def workers(own: Workload, n: int) -> Iterator[Callable[[str], int]]:
    """own (Workload): of this process. n (int): processes; 1 is this one. YIELDS (Callable[[str],
    int]): side → mentions, once all processes have done their part."""
    if n == 1:
        yield lambda side: own.run(side, slice(None))
        return
    # A fork would take over threads that do not run in it.
    with ProcessPoolExecutor(n, get_context("spawn"), begin_worker, own.arguments) as pool:
        parts = [slice(i, None, n) for i in range(n)]
        yield lambda side: sum(pool.map(run_in_worker, [side] * n, parts))


def mentions_given(
    own: Workload, run: Callable[[str], int], rounds: int, baseline: str
) -> dict[str, Any]:
    """RETURNS (dict[str, Any]): mentions, and mentions a second of each side; ratios to the
    baseline; also the CPU time of a mention in ms, of this process."""
    texts = [span.text for doc in own.docs for span in doc.ents]
    sides: dict[str, Callable[[], object]] = {side: partial(run, side) for side in SIDES}
    if baseline:
        rank = BASELINES[baseline](own.linker.kb)
        sides[baseline] = lambda: rank(texts, K)
    seconds, cpu = interleaved(sides, rounds)
    row: dict[str, Any] = {"what": "mentions given", "mentions": len(texts)}
    for name in sides:
        row[f"{name}_per_s"] = round(len(texts) / seconds[name], 1)
        row[f"{name}_cpu_ms"] = round(1000 * cpu[name] / len(texts), 2)
        if baseline:
            row[f"{name}_ratio"] = round(seconds[baseline] / seconds[name], 3)
    row["speedup"] = round(seconds["full_search"] / seconds["as_shipped"], 2)
    return row


def from_text(own: Workload, run: Callable[[str], int], rounds: int) -> dict[str, Any]:
    """RETURNS (dict[str, Any]): abstracts a second of the whole pipeline, of it without the
    linker, and the mentions that it links."""
    sides = {side: partial(run, side) for side in ("pipeline", "without_linker")}
    seconds, _ = interleaved(sides, rounds)
    return {
        "what": "from text",
        "mentions": run("pipeline"),
        **{f"{name}_abstracts_per_s": round(len(own.corpus) / seconds[name], 1) for name in sides},
    }


def interleaved(
    sides: Mapping[str, Callable[[], object]], rounds: int
) -> tuple[dict[str, float], dict[str, float]]:
    """RETURNS (tuple[dict[str, float], dict[str, float]]): of each side the least seconds and the
    least CPU seconds; it runs once before."""
    seconds = dict.fromkeys(sides, float("inf"))
    cpu = dict(seconds)
    for number in tqdm(range(rounds + 1), desc="Rounds"):
        for name, run in sides.items():
            begin, begin_cpu = time.perf_counter(), time.process_time()
            run()
            if number:
                seconds[name] = min(seconds[name], time.perf_counter() - begin)
                cpu[name] = min(cpu[name], time.process_time() - begin_cpu)
    return seconds, cpu


def memory_course(nlp: "Language", corpus: Sequence[CorpusDocument], n: int) -> list[float]:
    """RETURNS (list[float]): resident memory in MiB after each tenth of the documents."""
    texts = islice(cycle(document.text for document in corpus), n)
    course = []
    for number, _ in enumerate(tqdm(nlp.pipe(texts), total=n, desc="Documents"), start=1):
        if number % max(n // STEPS, 1) == 0:
            course.append(round(memory_mib(), 1))
    return course


def memory_mib() -> float:
    """RETURNS (float): resident memory of this process in MiB (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def given(nlp: "Language", linker: AngelLinker, document: CorpusDocument) -> "Doc":
    """RETURNS (Doc): the document with its mentions, ready to be linked."""
    doc = to_doc(document, nlp)
    for name in components_before(nlp, linker, given_mentions=True):
        doc = nlp.get_pipe(name)(doc)
    return doc


if __name__ == "__main__":
    typer.run(main)
