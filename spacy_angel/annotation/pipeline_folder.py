"""The pipeline of a run as a folder that every process can open, and what identifies it."""

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..errors import AngelError
from ..files.json_values import parse_json

if TYPE_CHECKING:
    from spacy.language import Language

# The name of a Ray cluster on this machine.
LOCAL = "local"

# Strings that a vocab has met are no part of what a pipeline does; tries are made from the rest.
_NOT_HASHED = ("strings.json", "tries")


@dataclass(frozen=True, slots=True)
class PipelineFolder:
    """A pipeline on the disk.

    path (Path): the folder.
    fingerprint (str): SHA-256 over its files.
    """

    path: Path
    fingerprint: str


@contextmanager
def pipeline_folder(
    pipeline: "str | Path | Language | None",
    kb: str | Path | None = None,
    *,
    everywhere: bool = False,
) -> Iterator[PipelineFolder]:
    """Make sure that a pipeline can be opened, and compile its name trie.

    pipeline (str | Path | Language | None): folder or installed package, None for the shipped
        one; a loaded pipeline is saved to a temporary folder.
    kb (str | Path | None): another vocabulary for what ships, a folder or file.
    everywhere (bool): other machines open it as well.
    YIELDS (PipelineFolder): until then the folder is there.
    RAISES (AngelError): it cannot be opened, has no linker, or would be on this machine only; a
        vocabulary was given as well as a pipeline.
    """
    from ..about import SHIPPED_NAME, SHIPPED_NAMES
    from ..pipelines.load import load, open_pipeline

    if kb is not None:
        if pipeline not in (None, *SHIPPED_NAMES):
            raise AngelError(
                "--pipeline cannot be combined with --model, --tokenizer, --preset or --kb."
            )
        pipeline = load(pipeline, kb=kb)
    with TemporaryDirectory(prefix="spacy-angel-") as temporary:
        pipeline = SHIPPED_NAME if pipeline is None else pipeline
        nlp, linker = open_pipeline(pipeline)
        linker.kb.search_space(linker.generator.prompts, [None])
        # A loaded pipeline may have changed since; what ships lies elsewhere on other machines.
        elsewhere = everywhere and pipeline in SHIPPED_NAMES
        if isinstance(pipeline, str | Path) and nlp.path is not None and not elsewhere:
            path = Path(nlp.path)
        elif everywhere:
            raise AngelError(
                "Annotation on many machines needs --pipeline FOLDER on a shared disk."
            )
        else:
            path = Path(temporary)
            nlp.to_disk(path)
        # The workers have their own; a large model need not stay in memory here.
        del nlp, linker
        gc.collect()
        yield PipelineFolder(path, folder_fingerprint(path))


def folder_fingerprint(folder: Path) -> str:
    """RETURNS (str): SHA-256 over names and contents of the files of a pipeline."""
    state = sha256()
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and not any(part in _NOT_HASHED for part in relative.parts):
            state.update(f"{relative.as_posix()}\0{path.stat().st_size}\0".encode())
            for block in _blocks(path, in_folder=path.parent == folder):
                state.update(block)
    return state.hexdigest()


def _blocks(path: Path, in_folder: bool) -> Iterator[bytes]:
    if in_folder and path.suffix == ".json":
        # spaCy's sentencizer writes a set, in another order each time. What is damaged is told of
        # where it is opened.
        with suppress(ValueError):
            values = parse_json(path.read_bytes())
            if isinstance(values, dict) and isinstance(values.get("punct_chars"), list):
                in_order = sorted(values["punct_chars"], key=str)
                yield json.dumps(values | {"punct_chars": in_order}).encode()
                return
    with open(path, "rb") as file:
        while block := file.read(2**20):
            yield block


def find_devices(device: str | None, workers: int) -> list[str | None]:
    """One entry for each process.

    device (str | None): of linker and recogniser, e.g. `cpu`, `cuda:1`; `cuda` is every GPU that
        can be seen; None is the pipeline's own setting.
    workers (int): processes, for each GPU with `cuda`.
    RETURNS (list[str | None]): e.g. `["cuda:0", "cuda:1"]`.
    RAISES (AngelError): no GPU is there.
    """
    if device is None or not device.startswith("cuda"):
        return [device] * workers
    import torch

    seen = [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    wanted = seen if device == "cuda" else [device]
    if not wanted or not set(wanted) <= set(seen):
        raise AngelError(f"torch finds no GPU for the device {device!r}.")
    return [d for d in wanted for _ in range(workers)]


def versions(device: str | None) -> dict[str, str]:
    """RETURNS (dict[str, str]): what may decide the last decimal place of a score."""
    packages = ("spacy-angel", "spacy", "torch", "transformers", "tokenizers")
    return {
        **{package: version(package) for package in packages},
        "device": (device or "pipeline").partition(":")[0],
    }
