"""The pipeline of a run as a folder that every process can open, and its fingerprint."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from spacy.language import Language

from ..errors import AngelError
from ..files.digests import digest

# The name of a Ray cluster on this machine.
LOCAL = "local"

# Strings that a vocab has seen do not change what a pipeline does; tries are built from the rest.
_NOT_HASHED = ("strings.json", "tries", "__init__.py", "__pycache__")


@contextmanager
def pipeline_folder(
    pipeline: str | Path | Language | None, *, everywhere: bool = False
) -> Iterator[tuple[Path, str]]:
    """Make sure that a pipeline can be opened, and compile its name trie.

    pipeline (str | Path | Language | None): folder or installed package, or None for the shipped
        one; a loaded pipeline is saved to a temporary folder.
    everywhere (bool): other machines open the pipeline as well.
    YIELDS (tuple[Path, str]): a folder that exists until the context ends, and its fingerprint.
    RAISES (AngelError): the pipeline cannot be opened, has no linker, or is on this machine only.
    """
    from ..about import SHIPPED_NAME, SHIPPED_NAMES
    from ..pipelines.load import open_pipeline

    with TemporaryDirectory(prefix="spacy-angel-") as temporary:
        pipeline = SHIPPED_NAME if pipeline is None else pipeline
        nlp, linker = open_pipeline(pipeline)
        linker.kb.search_space(linker.generator.prompts, [None])
        # A loaded pipeline may have changed; a shipped one has another path on other machines.
        if isinstance(pipeline, str | Path) and nlp.path is not None:
            path = Path(nlp.path)
        else:
            path = Path(temporary)
            nlp.to_disk(path)
        if everywhere and (pipeline in SHIPPED_NAMES or path == Path(temporary)):
            raise AngelError("Many machines need --pipeline FOLDER on a disk that all of them see.")
        # The workers open their own; a large model need not stay in memory here.
        del nlp, linker
        gc.collect()
        yield path, folder_fingerprint(path)


def folder_fingerprint(folder: Path) -> str:
    """RETURNS (str): SHA-256 of the names and contents of the files of a pipeline."""
    files = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return digest(
        (name.as_posix(), path)
        for name, path in files.items()
        # JSON in the folder itself repeats config.cfg; spaCy's sentencizer writes a set.
        if not {*_NOT_HASHED} & {*name.parts} and (name.parts[1:] or name.suffix != ".json")
    )


def find_devices(device: str | None, workers: int) -> list[str | None]:
    """Choose the device of each process.

    device (str | None): of linker and recognizer, e.g. `cpu`, `cuda:1`; `cuda` is every visible
        GPU; None is the pipeline's own setting.
    workers (int): number of processes; with `cuda`, for each GPU.
    RETURNS (list[str | None]): e.g. `["cuda:0", "cuda:1"]`.
    RAISES (AngelError): there is no such GPU.
    """
    if device != "cuda":
        return [device] * workers
    import torch

    if not (n_gpus := torch.cuda.device_count()):
        raise AngelError("torch finds no GPU for the device 'cuda'.")
    return [f"cuda:{i}" for i in range(n_gpus) for _ in range(workers)]


def versions(device: str | None) -> dict[str, str]:
    """RETURNS (dict[str, str]): what may affect the last decimal place of a score."""
    packages = ("spacy-angel", "spacy", "torch", "transformers", "tokenizers")
    return {
        **{package: version(package) for package in packages},
        "device": (device or "pipeline").partition(":")[0],
    }
