"""Measure the whole pipeline: mentions a second with mentions given, abstracts a second from text,
and memory over many documents.

    python benchmarks/pipeline.py --data ../shared/data

The linker with all mentions searched, the linker as it ships, and scispaCy's candidate generator
(its index of character 3-grams built here over the same names, without a model or context) run in
turn in this process on the same abstracts of BC5CDR's development set; of each the best round
counts. One JSON line a measurement, with both sides and their ratio.
"""

import json
import time
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import torch
import typer
from tqdm import tqdm

import spacy_angel
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
FULL = {"exact_names_unsearched": False, "once_a_document": False}
K = 5  # candidates of a mention
BATCH = 64  # documents
STEPS = 10  # of the memory's course


def main(
    data: Annotated[Path, typer.Option(help="Folder with bc5cdr/.")],
    documents: Annotated[int, typer.Option(help="Abstracts.")] = 100,
    dtype: Annotated[str, typer.Option(help="Type of the weights.")] = "float32",
    threads: Annotated[int, typer.Option(help="Threads.")] = 2,
    rounds: Annotated[int, typer.Option(help="Times that all run; the best counts.")] = 3,
    baseline: Annotated[
        str,
        typer.Option(
            help="scispacy-hnsw, as scispaCy has it, or scispacy, "
            "which compares with every name; `` for none."
        ),
    ] = "scispacy-hnsw",
    memory: Annotated[
        int,
        typer.Option(
            help="Send so many documents through the pipeline, the abstracts again "
            "and again, and print the memory as it goes."
        ),
    ] = 0,
) -> None:
    """Print one JSON line a measurement."""
    torch.set_num_threads(threads)
    corpus = list(islice(read_corpus(data / CORPUS), documents))
    nlp = spacy_angel.load(dtype=dtype)
    linker: Any = nlp.get_pipe("angel_linker")
    settings = {"dtype": dtype, "threads": threads, "documents": len(corpus)}
    if memory:
        mib = memory_course(nlp, corpus, memory)
        print(json.dumps({"what": "memory", **settings, "sent": memory, "mib": mib}))
        return
    print(json.dumps(mentions_given(nlp, linker, corpus, rounds, baseline) | settings))
    print(json.dumps(from_text(nlp, corpus, rounds) | settings))


def mentions_given(
    nlp: "Language",
    linker: AngelLinker,
    corpus: Sequence[CorpusDocument],
    rounds: int,
    baseline: str,
) -> dict[str, Any]:
    """RETURNS (dict[str, Any]): mentions, and mentions a second of each side; ratios to scispaCy's
    generator; of our sides also the CPU time of a mention in ms."""
    docs = [given(nlp, linker, document) for document in corpus]
    texts = [[span.text for span in doc.ents] for doc in docs]
    n_mentions = sum(map(len, texts))

    def link(settings: dict[str, Any]) -> Callable[[], None]:
        def run() -> None:
            with linker.using(**settings):
                for start in range(0, len(docs), BATCH):
                    linker.predict(docs[start : start + BATCH])

        return run

    sides: dict[str, Callable[[], None]] = {"full_search": link(FULL), "as_shipped": link({})}
    if baseline:
        generator = BASELINES[baseline](linker.kb)
        flat = [text for row in texts for text in row]

        def generate() -> None:
            generator.link(flat, K)

        sides["scispacy"] = generate
    seconds, cpu = interleaved(sides, rounds)
    row: dict[str, Any] = {"what": "mentions given", "mentions": n_mentions}
    for name in sides:
        row[f"{name}_per_s"] = round(n_mentions / seconds[name], 1)
        row[f"{name}_cpu_ms"] = round(1000 * cpu[name] / n_mentions, 2)
        if baseline:
            row[f"{name}_ratio"] = round(seconds["scispacy"] / seconds[name], 3)
    row["speedup"] = round(seconds["full_search"] / seconds["as_shipped"], 2)
    return row


def from_text(nlp: "Language", corpus: Sequence[CorpusDocument], rounds: int) -> dict[str, Any]:
    """RETURNS (dict[str, Any]): abstracts a second of the whole pipeline, of it without the
    linker, and the mentions that it links."""
    texts = [document.text for document in corpus]
    found = [0]

    def run(**options: Any) -> Callable[[], None]:
        def all_texts() -> None:
            found[0] = sum(len(doc.ents) for doc in nlp.pipe(texts, **options))

        return all_texts

    sides = {"pipeline": run(), "without_linker": run(disable=["angel_linker"])}
    seconds, _ = interleaved(sides, rounds)
    return {
        "what": "from text",
        "mentions": found[0],
        **{f"{name}_abstracts_per_s": round(len(texts) / seconds[name], 1) for name in sides},
    }


def interleaved(
    sides: dict[str, Callable[[], None]], rounds: int
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
            course.append(resident_mib())
    return course


def resident_mib() -> float:
    """RETURNS (float): of this process, now."""
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * resource.getpagesize() / 2**20, 1)


def given(nlp: "Language", linker: AngelLinker, document: CorpusDocument) -> "Doc":
    """RETURNS (Doc): the document with its mentions, ready to be linked."""
    doc = to_doc(document, nlp)
    for name in components_before(nlp, linker, given_mentions=True):
        doc = nlp.get_pipe(name)(doc)
    return doc


if __name__ == "__main__":
    typer.run(main)
