"""Measure batch annotation: rates, the model's share, memory.

    python benchmarks/annotate.py speed CORPUS --pipeline PIPELINE | tee speed.txt
    python benchmarks/annotate.py sizing speed.txt
    python benchmarks/annotate.py memory CORPUS --pipeline PIPELINE

`speed` annotates the gold mentions of a corpus with one process and with two, each on one core, and
links them with scispaCy's candidate generator over the same vocabulary, all in the same run.
`sizing` computes from its figures what PubMed takes. `memory` annotates 100,000 documents and plots
the memory of the process.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from enum import Enum
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated, Any

import typer
from measuring import memory_mib

from spacy_angel.annotation.document_linker import LinkingSettings, open_linker
from spacy_angel.annotation.run import annotate
from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.corpora.formats.bioc import write_bioc_json
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.evaluation.charts import line_chart, picture
from spacy_angel.pipelines.load import open_pipeline

app = typer.Typer(add_completion=False)

PUBMED = 37_000_000
Corpus = Annotated[Path, typer.Argument(help="Corpus with gold mentions.")]
PLOT = Path("docs/img/annotate_memory.svg")
Pipeline = Annotated[Path, typer.Option(help="Folder of a pipeline with angel_linker.")]


class Index(str, Enum):
    """Where scispaCy's candidate generator finds the nearest names."""

    hnsw = "hnsw"
    exact = "exact"
    none = "none"


@app.command()
def speed(
    corpus: Corpus,
    pipeline: Pipeline,
    n: Annotated[int, typer.Option(help="Documents.")] = 200,
    rounds: Annotated[int, typer.Option(help="Times that each is run; the best counts.")] = 3,
    index: Annotated[
        Index, typer.Option(help="scispaCy's neighbours: its own HNSW index, exact, or none.")
    ] = Index.hnsw,
) -> None:
    """Print rates, and one JSON object as the last line."""
    documents = list(islice(read_corpus(corpus), n))
    mentions = sum(len(document.mentions) for document in documents)
    figures: dict[str, Any] = {"documents": len(documents), "mentions": mentions}
    figures |= in_this_process(documents, pipeline, rounds)
    for workers in (1, 2):
        starting, whole = (
            min(annotation_seconds(part, pipeline, workers) for _ in range(rounds))
            for part in (documents[:workers], documents)
        )
        figures[f"seconds_{workers}_starting"] = starting
        # Started, it has the rest of the documents to do.
        left = 1 - workers / len(documents)
        figures[f"seconds_{workers}_annotating"] = (whole - starting) / left
    # The largest process that this one has started and that has ended: a worker.
    figures["worker_mib"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
    if index is not Index.none:
        figures |= scispacy_seconds(documents, pipeline, rounds, index)
    for key, value in figures.items():
        rates = f"{len(documents) / value:8.1f} documents/s {mentions / value:8.1f} mentions/s"
        is_rate = key.endswith(("linking", "annotating", "scispacy"))
        print(f"{key:<26} {value:10,.2f}" + (f" s {rates}" if is_rate else ""))
    print(json.dumps({key: round(value, 4) for key, value in figures.items()}))


def in_this_process(
    documents: list[CorpusDocument], pipeline: Path, rounds: int
) -> dict[str, float]:
    """Find mentions, and link those of the corpus, on one thread. RETURNS (dict[str, float]): the
    best round's times, the share of the generator's search (model and constraint) in the linking,
    and the size of the vocabulary on the disk."""
    link = open_linker(str(pipeline), None, LinkingSettings(mentions="input"))
    linker = link.linker
    inner = linker.generator.search
    spent = [0.0]

    def timed(*arguments: Any, **keywords: Any) -> Any:
        start = time.perf_counter()
        try:
            return inner(*arguments, **keywords)
        finally:
            spent[0] += time.perf_counter() - start

    linker.generator.search = timed  # type: ignore[method-assign]
    texts = [document.text for document in documents]
    after = link.nlp.pipe_names[[c for _, c in link.nlp.pipeline].index(linker) :]
    link(documents[:8])
    finding, linking = [], []
    with warnings.catch_warnings():
        # scispaCy's detector warns of every text without an abbreviation.
        warnings.filterwarnings("ignore", message=r"\[W036\]")
        for _ in range(rounds):
            spent[0], start = 0.0, time.perf_counter()
            link(documents)
            linking.append((time.perf_counter() - start, spent[0]))
            start = time.perf_counter()
            found = sum(len(doc.ents) for doc in link.nlp.pipe(texts, disable=after))
            finding.append(time.perf_counter() - start)
    seconds, model = min(linking)
    return {
        "mentions_found": found,
        "seconds_finding": min(finding),
        "seconds_linking": seconds,
        "share_of_model": model / seconds,
        "vocabulary_mib": vocabulary_mib(pipeline),
    }


def vocabulary_mib(pipeline: Path) -> float:
    """RETURNS (float): size of what the processes share, names, concepts and name tries."""
    folders = [path.parent for path in pipeline.glob("*/kb/meta.json")]
    files = [path for folder in folders for path in folder.rglob("*.npy")]
    return sum(path.stat().st_size for path in files) / 2**20


def annotation_seconds(documents: list[CorpusDocument], pipeline: Path, workers: int) -> float:
    """Annotate files from end to end, starting included, in shards small enough for two
    processes. RETURNS (float): seconds."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.json"
        write_bioc_json(documents, source)
        start = time.perf_counter()
        annotate(
            source,
            pipeline,
            output=Path(folder) / "out",
            mentions="input",
            workers=workers,
            shard_size=max(1, len(documents) // 16),
        )
        return time.perf_counter() - start


def scispacy_seconds(
    documents: list[CorpusDocument], pipeline: Path, rounds: int, index: Index
) -> dict[str, float]:
    """The same mentions, a document at a time, through scispaCy's candidate generator, in which
    its linker spends its time, over the vocabulary of the pipeline, on one core as a process of
    ours. RETURNS (dict[str, float]): seconds of the best round, and of building the index."""
    from spacy_angel.evaluation.baselines import ScispacyCandidates

    start = time.perf_counter()
    kb = open_pipeline(pipeline)[1].kb
    baseline = ScispacyCandidates(kb, approximate=index is Index.hnsw)
    building = time.perf_counter() - start
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    times = []
    try:
        for _ in range(rounds):
            start = time.perf_counter()
            for document in documents:
                if document.mentions:
                    baseline.link([mention.text for mention in document.mentions], 5)
            times.append(time.perf_counter() - start)
    finally:
        os.sched_setaffinity(0, cores)
    return {"seconds_scispacy_building": building, "seconds_scispacy": min(times)}


@app.command()
def memory(
    corpus: Corpus,
    pipeline: Pipeline,
    plot: Annotated[Path, typer.Option(help="SVG to write.")] = PLOT,
    n: Annotated[int, typer.Option(help="Documents.")] = 100_000,
    characters: Annotated[int, typer.Option(help="Longest text of a repeated document.")] = 400,
) -> None:
    """Annotate repeated short documents and plot the resident memory of the process."""
    texts = [d.text[:characters] for d in read_corpus(corpus)]
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "in.jsonl", Path(folder) / "out"
        with open(source, "w", encoding="utf8") as file:
            for number, text in enumerate(islice(cycle(texts), n)):
                file.write(json.dumps({"doc_id": str(number), "text": text}) + "\n")
        command = [sys.executable, "-m", "spacy_angel", "annotate", source, "-o", output]
        command += ["--pipeline", pipeline]
        process = subprocess.Popen(list(map(str, command)))
        samples = []
        while process.poll() is None:
            done = documents_done(output)
            if done and (used := memory_mib(process=process.pid)) is not None:
                samples.append((done, used))
            time.sleep(0.5)
    if process.returncode:
        raise typer.Exit(process.returncode)
    chart = line_chart("Memory, MiB", {"MiB": samples}, "documents", in_per_cent=False)
    plot.write_bytes(picture(chart))
    tenth = len(samples) // 10
    first, last = (max(m for _, m in part) for part in (samples[: 2 * tenth], samples[-tenth:]))
    print(
        f"{n:,} documents; highest {first:.0f} MiB in the first fifth, {last:.0f} in the last tenth"
    )


def documents_done(output: Path) -> int:
    """RETURNS (int): documents of the shards in an output that is being written."""
    records = output.glob("_[0-9]*-*.json")
    return sum(json.loads(path.read_bytes())["record"]["read"] for path in records)


@app.command()
def sizing(
    figures: Annotated[Path, typer.Argument(help="File whose last line is that of `speed`.")],
    mentions: Annotated[float | None, typer.Option(help="Of a document; else as measured.")] = None,
    gpu_seconds_per_mention: Annotated[
        float | None, typer.Option(help="Of one GPU, measured elsewhere.")
    ] = None,
    documents: Annotated[int, typer.Option(help="Documents to annotate.")] = PUBMED,
) -> None:
    """Print what annotating a document set takes, as the table of docs/notebook/speed.md."""
    measured = json.loads(figures.read_text("utf8").splitlines()[-1])
    for line in sizing_table(measured, documents, mentions, gpu_seconds_per_mention):
        print(line)


def sizing_table(
    measured: dict[str, float], documents: int, mentions: float | None, gpu: float | None
) -> list[str]:
    """measured: figures of `speed`. documents (int). mentions (float | None): of a document.
    gpu (float | None): seconds a mention. RETURNS (list[str]): lines of Markdown.

    A process links as fast as one of two side by side, which share the memory's bandwidth.
    """
    each = measured["mentions"] / measured["documents"] if mentions is None else mentions
    per_mention = 2 * measured["seconds_2_annotating"] / measured["mentions"]
    per_document = measured["seconds_finding"] / measured["documents"] + each * per_mention
    hours = documents * per_document / 3600
    shared = measured["vocabulary_mib"] / 2**10
    own = max(0.0, measured["worker_mib"] / 2**10 - shared)
    lines = [
        f"{documents:,} documents, {documents * each:,.0f} mentions ({each:.1f} a document); "
        f"{per_mention:.4f} s a mention, {own:.2f} GiB a process, {shared:.2f} GiB shared",
        "",
        "| processes | hours | days | memory, GiB |",
        "|--:|--:|--:|--:|",
    ]
    for n in (1, 16, 64, 256):
        row = f"{hours / n:,.0f} | {hours / n / 24:,.1f} | {n * own + shared:,.1f}"
        lines.append(f"| {n} | {row} |")
    gpu_hours = None if gpu is None else documents * each * gpu / 3600
    said = "not measured" if gpu_hours is None else f"{gpu_hours:,.0f} ({gpu} s a mention)"
    return [*lines, "", f"GPU hours: {said}"]


if __name__ == "__main__":
    app()
