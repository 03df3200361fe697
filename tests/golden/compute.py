"""Compute what the golden test compares: links, annotated rows, and training losses.

Run `python tests/golden/compute.py` to write the expected values anew; commit them together with
the change that moved them, and say in the commit why they moved.
"""

import gzip
import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from typer.testing import CliRunner

import spacy_angel
from spacy_angel.cli.app import app

ROOT = Path(__file__).parents[2]
EXPECTED = Path(__file__).parent / "expected"
SHARED = Path(os.environ.get("SPACY_ANGEL_DATA", ROOT.parent / "shared" / "data"))
PIPELINES = ("en_angel_mini", "en_angel_bio")
LOSSES = {
    "dpo": {},
    "dpo_likelihood": {"kind": "dpo", "nll_weight": 0.2},
    "pairwise": {},
    "cpo": {},
    "simpo": {},
}
# PubTator files of the public corpora, and how many of their first documents are linked.
CORPORA = {
    "bc5cdr/CDR_DevelopmentSet.PubTator.txt": 10,
    "ncbi-disease/NCBIdevelopset_corpus.txt": 10,
    "aioner/BioRED_TrainDev.PubTator": 10,
    "aioner/NLMgene_Train.PubTator": 8,
    "aioner/tmVar3_Train.PubTator": 4,
    "aioner/BioID_Train_revision.PubTator": 8,
}


def own_texts() -> Iterator[tuple[str, str]]:
    """Yield the identifiers and texts of the repository."""
    sentences = ROOT / "benchmarks" / "sentences"
    with (sentences / "texts.jsonl").open(encoding="utf8") as file:
        for number, line in enumerate(file):
            if number % 2 == 0:
                row = json.loads(line)
                yield row["id"], row["text"]
    for number, (doc_id, text) in enumerate(pubtator_texts(sentences / "written.pubtator")):
        if number % 7 == 0:
            yield doc_id, text
    lines = (Path(__file__).parent / "cell_lines.txt").read_text(encoding="utf8").splitlines()
    for number, line in enumerate(lines):
        yield f"cell-lines-{number}", line


def corpus_texts() -> Iterator[tuple[str, str]]:
    """Yield the identifiers and texts of the first documents of the public corpora, if there."""
    for name, count in CORPORA.items():
        path = SHARED / name
        if path.exists():
            for (doc_id, text), _ in zip(pubtator_texts(path), range(count), strict=False):
                yield f"{path.parent.name}/{doc_id}", text


def pubtator_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Read a PubTator file without the package, whose readers might change.

    YIELDS (tuple[str, str]): identifier, and title and abstract with a space between them.
    """
    title = ""
    with path.open(encoding="utf8") as file:
        for line in file:
            parts = line.rstrip("\n").split("|", 2)
            if len(parts) == 3 and parts[1] == "t":
                title = parts[2]
            elif len(parts) == 3 and parts[1] == "a":
                yield parts[0], f"{title} {parts[2]}".strip()


@cache
def pipeline(name: str) -> Any:
    """Open a shipped pipeline once, in float32."""
    return spacy_angel.load(name, dtype="float32")


def compute_links(name: str, texts: Iterable[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Link texts with a shipped pipeline in float32.

    YIELDS (dict[str, Any]): a row per text, with its identifier and its mentions: offsets, label,
        identifier of the link, and the first five candidates with their probabilities.
    """
    nlp = pipeline(name)
    pairs = ((text, doc_id) for doc_id, text in texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for doc, doc_id in nlp.pipe(pairs, as_tuples=True, batch_size=32):
            mentions = []
            for ent in doc.ents:
                ranked = [[kb_id, round(float(p), 4)] for kb_id, p in ent._.kb_ents[:5]]
                candidates = [
                    [c["concept_id"], c["name"], _rounded(c["probability"])]
                    for c in ent._.candidates[:5]
                ]
                link = [ent.start_char, ent.end_char, ent.label_, ent._.kb_id]
                mentions.append([*link, ranked, candidates])
            yield {"id": doc_id, "mentions": mentions}


def compute_rows(folder: Path) -> list[dict[str, Any]]:
    """Annotate texts in an empty folder and return the rows of all shards."""
    texts, output = folder / "texts", folder / "annotated"
    texts.mkdir()
    for doc_id, text in list(own_texts())[:40]:
        (texts / f"{doc_id}.txt").write_text(text, encoding="utf8")
    nlp = pipeline(PIPELINES[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spacy_angel.annotate(texts, nlp, output=output, candidates=True, shard_size=15)
    shards = sorted(p for p in output.iterdir() if p.is_file() and not p.name.startswith("_"))
    rows = [json.loads(line) for path in shards for line in path.read_text("utf8").splitlines()]
    for row in rows:
        for mention in row["mentions"]:
            mention["candidates"] = mention["candidates"][:5]
    return rows


def compute_losses(folder: Path) -> dict[str, list[float]]:
    """Train each stage for 20 steps on the invented sentences of `assets/tiny`.

    folder (Path): an empty folder to work in.
    RETURNS (dict[str, list[float]]): the loss of each step, by stage and preference loss.
    """
    torch.set_num_threads(1)
    kb, positive = folder / "kb", folder / "positive"
    run("kb", "build", ROOT / "assets/tiny/vocabulary.jsonl", "-o", kb)

    def train(stage: str, name: str, *options: Any, **settings: Any) -> list[float]:
        settings = {
            "data.kb": str(kb),
            "data.train": json.dumps([str(ROOT / "assets/tiny/train.txt")]),
            "data.dev": "[]",
            **settings,
        }
        overrides = [part for key, value in settings.items() for part in (f"--{key}", value)]
        output = folder / name
        run("train", stage, ROOT / "configs/tiny/tiny.cfg", "-o", output, *options, *overrides)
        return _losses_in(output)

    steps = {"steps": 20, "log_every": 1, "checkpoint_every": 20}
    losses = {
        "pretrain": train(
            "pretrain",
            "pretrain",
            **{f"pretrain.positive.optimizer.{key}": value for key, value in steps.items()},
            **{f"pretrain.negative.optimizer.{key}": value for key, value in steps.items()},
        ),
        "positive": train(
            "positive",
            "positive",
            *("--start", folder / "pretrain/negative/model"),
            **{f"positive.optimizer.{key}": value for key, value in steps.items()},
        ),
    }
    start = ("--start", positive / "model")
    for name, loss in LOSSES.items():
        kind = {"kind": name} | loss
        losses[name] = train(
            *("negative", name, *start),
            **{f"negative.optimizer.{key}": value for key, value in steps.items()},
            **{f"negative.loss.{key}": value for key, value in kind.items()},
            **{"negative.rounds": 1},
        )
    settings = {
        "recogniser.start": folder / "pretrain/negative/model",
        "corpora.tiny.path": ROOT / "assets/tiny/train.txt",
    }
    overrides = [part for key, value in settings.items() for part in (f"--{key}", value)]
    config, output = Path(__file__).parent / "recognizer.cfg", folder / "recognizer"
    run("train", "recogniser", config, "-o", output, *overrides)
    losses["recognizer"] = _losses_in(output)
    return losses


def run(*arguments: Any) -> None:
    """Run a command of the package in this process."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exit_code:
        raise RuntimeError(f"{arguments}: {result.output}") from result.exception


def read_expected(name: str) -> list[dict[str, Any]]:
    with gzip.open(EXPECTED / f"{name}.jsonl.gz", "rt", encoding="utf8") as file:
        return [json.loads(line) for line in file]


def write_expected(name: str, rows: Iterable[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path = EXPECTED / f"{name}.jsonl.gz"
    path.write_bytes(gzip.compress(lines.encode("utf8"), mtime=0))


def main() -> None:
    """Write all expected values; the links of corpora that are not there stay as they are."""
    names = sys.argv[1:] or ["links", "rows", "losses"]
    if "links" in names:
        for name in PIPELINES:
            write_expected(f"{name}-texts", compute_links(name, own_texts()))
            if corpus := list(corpus_texts()):
                write_expected(f"{name}-corpora", compute_links(name, corpus))
    with TemporaryDirectory() as folder:
        if "rows" in names:
            write_expected("rows", compute_rows(Path(folder)))
        if "losses" in names:
            losses = compute_losses(Path(folder))
            write_expected("losses", [{"stage": k, "losses": v} for k, v in losses.items()])


def _losses_in(folder: Path) -> list[float]:
    files = sorted(folder.rglob("metrics.jsonl"), reverse=True)
    lines = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    return [line["loss"] for line in lines if "loss" in line]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 4)


if __name__ == "__main__":
    main()
