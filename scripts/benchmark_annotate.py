"""Measure batch annotation: rates, the model's share, memory.

    python scripts/benchmark_annotate.py speed CORPUS --pipeline PIPELINE
    python scripts/benchmark_annotate.py memory CORPUS --pipeline PIPELINE
    python scripts/benchmark_annotate.py sizing --seconds-per-mention 0.01 --mentions 12

`speed` annotates the gold mentions of a corpus with one process and with two, and links them with
scispaCy's candidate generator over the same vocabulary, all in the same run. `memory` annotates
100,000 documents and plots the memory of the process. `sizing` computes what PubMed takes.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_angel.annotation import annotate
from spacy_angel.annotation.linking import DocumentLinker, LinkingSettings
from spacy_angel.annotation.manifest import JOURNAL
from spacy_angel.corpora import CorpusDocument, read_corpus, write_bioc_json
from spacy_angel.pipelines import open_pipeline

app = typer.Typer(add_completion=False)

PUBMED = 37_000_000
Corpus = Annotated[Path, typer.Argument(help="Corpus with gold mentions.")]
Pipeline = Annotated[Path, typer.Option(help="Folder of a pipeline with angel_linker.")]


@app.command()
def speed(
    corpus: Corpus,
    pipeline: Pipeline,
    n: Annotated[int, typer.Option(help="Documents.")] = 200,
    rounds: Annotated[int, typer.Option(help="Times that each is run; the best counts.")] = 3,
    scispacy: Annotated[bool, typer.Option(help="Run scispaCy as well.")] = True,
) -> None:
    """Print rates, and one JSON object as the last line."""
    documents = list(islice(read_corpus(corpus), n))
    mentions = sum(len(document.mentions) for document in documents)
    figures: dict[str, Any] = {"documents": len(documents), "mentions": mentions}
    for key, value in model_share(documents, pipeline, rounds).items():
        figures[key] = value
    for workers in (1, 2):
        seconds = min(annotation_seconds(documents, pipeline, workers) for _ in range(rounds))
        figures[f"seconds_{workers}_processes"] = seconds
    if scispacy:
        figures["seconds_scispacy"] = scispacy_seconds(documents, pipeline, rounds)
    for key, seconds in figures.items():
        if key.startswith("seconds"):
            print(
                f"{key:<26} {seconds:8.2f} s {len(documents) / seconds:8.1f} documents/s "
                f"{mentions / seconds:8.1f} mentions/s"
            )
    print(json.dumps({key: round(value, 4) for key, value in figures.items()}))


def model_share(documents: list[CorpusDocument], pipeline: Path, rounds: int) -> dict[str, float]:
    """Link in this process, on one thread. RETURNS (dict[str, float]): the best round's time, and
    the share of the generator's search (model and constraint) in it."""
    import torch

    torch.set_num_threads(1)
    nlp, linker = open_pipeline(pipeline)
    link = DocumentLinker(nlp, linker, LinkingSettings(mentions="input"))
    inner = linker.generator.search
    spent = [0.0]

    def timed(*arguments: Any, **keywords: Any) -> Any:
        start = time.perf_counter()
        try:
            return inner(*arguments, **keywords)
        finally:
            spent[0] += time.perf_counter() - start

    linker.generator.search = timed  # type: ignore[method-assign]
    link(documents[:8])
    times = []
    for _ in range(rounds):
        spent[0], start = 0.0, time.perf_counter()
        link(documents)
        times.append((time.perf_counter() - start, spent[0]))
    seconds, model = min(times)
    return {"seconds_linking": seconds, "share_of_model": model / seconds}


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
            shard_size=max(1, len(documents) // 8),
        )
        return time.perf_counter() - start


def scispacy_seconds(documents: list[CorpusDocument], pipeline: Path, rounds: int) -> float:
    """The same mentions through scispaCy's candidate generator, exact neighbours, over the
    vocabulary of the pipeline. RETURNS (float): seconds of the best round, index not counted."""
    from spacy_angel.baselines import ScispacyCandidates

    baseline = ScispacyCandidates(open_pipeline(pipeline)[1].kb, approximate=True)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for document in documents:
            baseline.link([mention.text for mention in document.mentions], 5)
        times.append(time.perf_counter() - start)
    return min(times)


@app.command()
def memory(
    corpus: Corpus,
    pipeline: Pipeline,
    plot: Annotated[Path, typer.Option(help="SVG to write.")] = Path("docs/annotate_memory.svg"),
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
            done = documents_done(output / JOURNAL)
            if done and (used := resident_mib(process.pid)) is not None:
                samples.append((done, used))
            time.sleep(0.5)
    if process.returncode:
        raise typer.Exit(process.returncode)
    plot.write_text(draw(samples, n), encoding="utf8")
    tenth = len(samples) // 10
    first, last = (max(m for _, m in part) for part in (samples[: 2 * tenth], samples[-tenth:]))
    print(
        f"{n:,} documents; highest {first:.0f} MiB in the first fifth, {last:.0f} in the last tenth"
    )


def documents_done(journal: Path) -> int:
    """RETURNS (int): documents of the shards in a journal that is being written."""
    if not journal.exists():
        return 0
    lines = [line for line in journal.read_bytes().split(b"\n")[:-1] if b'"shard"' in line]
    return sum(json.loads(line).get("read", 0) for line in lines)


def resident_mib(process: int) -> float | None:
    """RETURNS (float | None): resident memory (Linux); None where the process has ended."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def draw(samples: Iterable[tuple[int, float]], n: int) -> str:
    """samples: documents done and MiB. n (int): right end of the axis. RETURNS (str): the SVG."""
    points = list(samples)
    top = 1.25 * max(used for _, used in points)
    width, height, left, bottom = 720, 320, 70, 45

    def x(documents: float) -> float:
        return left + (width - left - 20) * documents / n

    def y(used: float) -> float:
        return (height - bottom) * (1 - used / top) + 10 * used / top

    line = " ".join(f"{x(done):.1f},{y(used):.1f}" for done, used in points)
    marks = []
    for fifth in range(6):
        at, used = n * fifth // 5, top * fifth / 5
        marks.append(f'<text x="{x(at):.0f}" y="{height - 25}" text-anchor="middle">{at:,}</text>')
        marks.append(
            f'<text x="{left - 8}" y="{y(used) + 4:.0f}" text-anchor="end">{used:.0f}</text>'
        )
        marks.append(
            f'<line x1="{left}" x2="{width - 20}" y1="{y(used):.1f}" y2="{y(used):.1f}" '
            'stroke="#ddd"/>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12" fill="#333">\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n'
        + "\n".join(marks)
        + f'\n<text x="{width / 2:.0f}" y="{height - 6}" text-anchor="middle">documents</text>\n'
        f'<text x="8" y="{height - bottom + 20}">MiB</text>\n'
        f'<polyline points="{line}" fill="none" stroke="#c4532d" stroke-width="1.5"/>\n</svg>\n'
    )


@app.command()
def sizing(
    seconds_per_mention: Annotated[float, typer.Option(help="Of one process, measured.")],
    mentions: Annotated[float, typer.Option(help="Mentions of a document.")],
    memory_gib: Annotated[float, typer.Option(help="Of one process, measured.")] = 0.0,
    documents: Annotated[int, typer.Option(help="Documents to annotate.")] = PUBMED,
) -> None:
    """Print mentions and hours for a document set, as docs/ANNOTATE.md computes them."""
    total = documents * mentions
    hours = total * seconds_per_mention / 3600
    print(f"{documents:,} documents, {total:,.0f} mentions, {hours:,.0f} hours of one process")
    for processes in (1, 8, 64):
        print(
            f"{processes:>3} processes: {hours / processes:10,.1f} hours, "
            f"{processes * memory_gib:8,.1f} GiB"
        )


if __name__ == "__main__":
    app()
