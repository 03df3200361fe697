"""Names as one types them, `GET /concepts?q=`, in a vocabulary of the size of UMLS.

    python benchmarks/concepts.py --data ../shared/data

The vocabulary is that of `benchmarks/vocabulary.py`: 6,000,000 names that join halves of real ones.
The service runs in this process, its one client in another, which types: of names chosen by chance
how they begin, letter by letter, then whole names, and names with a letter too many. One JSON line
a kind of text, milliseconds by the client's clock; before them one with the seconds to open.
"""

import json
import random
import string
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import requests
import spacy
import typer
from vocabulary import build, write_model, write_names

from spacy_angel.service.app import OPEN_PATHS, make_app
from spacy_angel.service.core import Service
from spacy_angel.service.guards import access_for
from spacy_angel.service.metrics import Metrics
from spacy_angel.service.serving import serve

SEED = 0


def main(
    data: Annotated[Path, typer.Option(help="Folder with vocabularies and tokenizer.")],
    names: Annotated[int, typer.Option(help="Distinct names.")] = 6_000_000,
    concepts: Annotated[int, typer.Option(help="Concepts.")] = 3_000_000,
    words: Annotated[int, typer.Option(help="Names that are typed.")] = 200,
    folder: Annotated[Path | None, typer.Option(help="Kept for the next run.")] = None,
) -> None:
    """Measure how long who types waits."""
    with tempfile.TemporaryDirectory() as own:
        kept = Path(own) if folder is None else folder
        listed, model, stored = (kept / name for name in ("names.txt", "model", "kb"))
        context = get_context("spawn")
        if not stored.exists():
            kept.mkdir(parents=True, exist_ok=True)
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                pool.submit(write_names, data, names, listed).result()
                pool.submit(write_model, data, model).result()
                figures = pool.submit(build, listed, model, concepts, stored).result()
                print(json.dumps({"what": "built", **figures}), flush=True)
        begin = time.perf_counter()
        address = _serve(model, stored)
        opened = round(time.perf_counter() - begin, 1)
        print(json.dumps({"what": "opened", "seconds": opened}), flush=True)
        with listed.open(encoding="utf8") as file:
            some = random.Random(SEED).sample(list(islice(file, 100 * words)), words)
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            for what, texts in _texts([name.strip() for name in some]).items():
                waited = pool.submit(_ask_all, address, texts).result()
                print(json.dumps({"what": what, "n": len(texts), **_quantiles(waited)}), flush=True)


def _serve(model: Path, stored: Path) -> str:
    """RETURNS (str): the address of the service."""
    nlp = spacy.blank("en")
    config = {"model": str(model), "vocabulary": str(stored)}
    linker = nlp.add_pipe("angel_linker", config=config)
    service = Service(nlp, linker)  # type: ignore[arg-type]
    app = make_app(service, access_for("127.0.0.1", None, [], OPEN_PATHS), Metrics())
    ready, addresses = threading.Event(), []

    def on_ready(address: str) -> None:
        addresses.append(address)
        ready.set()

    threading.Thread(target=serve, args=(app, "127.0.0.1", 0, on_ready), daemon=True).start()
    ready.wait()
    return addresses[0]


def _texts(names: list[str]) -> dict[str, list[str]]:
    """RETURNS (dict[str, list[str]]): what is typed, by kind."""
    rng = random.Random(SEED)
    slips = []
    for name in names:
        place = rng.randrange(len(name))
        slips.append(name[:place] + rng.choice(string.ascii_lowercase) + name[place:])
    return {
        "one letter": [name[0] for name in names],
        "letter by letter": [name[:n] for name in names for n in range(1, len(name) + 1)],
        "whole names": names,
        "with a letter too many": slips,
    }


def _ask_all(address: str, texts: list[str]) -> list[float]:
    """RETURNS (list[float]): milliseconds that each took, one after the other."""
    waited = []
    with requests.Session() as session:
        for text in texts:
            begin = time.perf_counter()
            session.get(f"{address}/concepts", params={"q": text}, timeout=60).raise_for_status()
            waited.append(1000 * (time.perf_counter() - begin))
    return waited


def _quantiles(waited: list[float]) -> dict[str, float]:
    ordered = sorted(waited)
    last = len(ordered) - 1
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "longest": 1.0}
    return {name: round(ordered[round(share * last)], 1) for name, share in shares.items()}


if __name__ == "__main__":
    typer.run(main)
