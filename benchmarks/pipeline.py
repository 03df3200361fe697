"""Measure the speed of a pipeline: mentions per second with given mentions, and abstracts per
second from text.

    python benchmarks/pipeline.py --data ../shared/data

The linker with a search for every mention and the linker with its shipped settings alternate on the
same abstracts from BC5CDR's development set; then the whole pipeline alternates with and without
the linker. The best round of each is reported. With `--processes N`, they run in N processes, which
share the abstracts and threads evenly. Prints one JSON line per measurement.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
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
from spacy_angel.linking.linker import AngelLinker
from spacy_angel.pipelines.components import components_before

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

CORPUS = "bc5cdr/CDR_DevelopmentSet.PubTator.txt"
GIVEN: dict[str, dict[str, Any]] = {
    "full_search": {"candidates": {"shortcuts": False}},
    "as_shipped": {},
}
FROM_TEXT: dict[str, list[str]] = {"pipeline": [], "without_linker": ["angel_linker"]}
BATCH = 64  # documents


def main(
    data: Annotated[Path, typer.Option(help="Folder with bc5cdr/.")],
    documents: Annotated[int, typer.Option(help="Abstracts.")] = 100,
    dtype: Annotated[str, typer.Option(help="Type of the weights.")] = "float32",
    threads: Annotated[int, typer.Option(help="Threads.")] = 2,
    rounds: Annotated[int, typer.Option(help="Times that all run; the best counts.")] = 3,
    processes: Annotated[int, typer.Option(help="Processes that share abstracts, threads.")] = 1,
    pipeline: Annotated[
        str, typer.Option(help="One that ships, or the folder of a saved one.")
    ] = SHIPPED_NAME,
) -> None:
    """Print one JSON line per measurement."""
    settings: dict[str, Any] = {"dtype": dtype, "threads": threads, "processes": processes}
    settings |= {"documents": documents, "pipeline": pipeline}
    own = Workload(data, documents, dtype, threads // processes, pipeline)
    with workers(own, processes) as run:
        seconds = best_seconds(run, [*GIVEN], rounds)
        n = sum(len(doc.ents) for doc in own.docs)
        figures = {f"{side}_per_s": round(n / seconds[side], 1) for side in GIVEN}
        figures["speedup"] = round(seconds["full_search"] / seconds["as_shipped"], 2)
        print(json.dumps({"what": "mentions given", "mentions": n, **figures, **settings}))
        seconds = best_seconds(run, [*FROM_TEXT], rounds)
        n = len(own.corpus)
        figures = {f"{side}_abstracts_per_s": round(n / seconds[side], 1) for side in FROM_TEXT}
        mentions = run("pipeline")
        print(json.dumps({"what": "from text", "mentions": mentions, **figures, **settings}))


class Workload:
    """A pipeline and its input.

    data (Path), documents (int): folder of the corpus, and number of abstracts from its beginning.
    dtype (str), threads (int): data type of the weights, and number of threads of this process.
    pipeline (str): name or folder.
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
        """side (str): an element of `GIVEN` or `FROM_TEXT`.
        part (slice): range of documents.
        RETURNS (int): number of mentions."""
        if side in GIVEN:
            docs = self.docs[part]
            with self.linker.using(**GIVEN[side]):
                for start in range(0, len(docs), BATCH):
                    self.linker.predict(docs[start : start + BATCH])
            return sum(len(doc.ents) for doc in docs)
        texts = [document.text for document in self.corpus[part]]
        return sum(len(doc.ents) for doc in self.nlp.pipe(texts, disable=FROM_TEXT[side]))


_OWN: list[Workload] = []


def begin_worker(*arguments: Any) -> None:
    """Initializer of a worker process."""
    _OWN.append(Workload(*arguments))


def run_in_worker(side: str, part: slice) -> int:
    """RETURNS (int): number of mentions, see `Workload.run`."""
    return _OWN[0].run(side, part)


@contextmanager
def workers(own: Workload, n: int) -> Iterator[Callable[[str], int]]:
    """own (Workload): workload of this process.
    n (int): number of processes; with 1, only this one is used.
    YIELDS (Callable[[str], int]): side → number of mentions; returns when all processes have
    finished."""
    if n == 1:
        yield lambda side: own.run(side, slice(None))
        return
    # A forked process would inherit the state of threads that do not run in it.
    with ProcessPoolExecutor(n, get_context("spawn"), begin_worker, own.arguments) as pool:
        parts = [slice(i, None, n) for i in range(n)]
        yield lambda side: sum(pool.map(run_in_worker, [side] * n, parts))


def best_seconds(run: Callable[[str], int], sides: Sequence[str], rounds: int) -> dict[str, float]:
    """RETURNS (dict[str, float]): shortest time of each side in seconds, after a warm-up run."""
    seconds = dict.fromkeys(sides, float("inf"))
    for number in tqdm(range(rounds + 1), desc="Rounds"):
        for side in sides:
            begin = time.perf_counter()
            run(side)
            if number:
                seconds[side] = min(seconds[side], time.perf_counter() - begin)
    return seconds


def given(nlp: "Language", linker: AngelLinker, document: CorpusDocument) -> "Doc":
    """RETURNS (Doc): the document with its gold mentions, ready for linking."""
    doc = to_doc(document, nlp)
    for name in components_before(nlp, linker, given_mentions=True):
        doc = nlp.get_pipe(name)(doc)
    return doc


if __name__ == "__main__":
    typer.run(main)
