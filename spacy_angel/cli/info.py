"""`spacy-angel info`: versions, machine, pipelines, vocabularies: what a bug report needs."""

from collections.abc import Iterator
from pathlib import Path

import typer

_PACKAGES = ("spacy", "thinc", "torch", "transformers", "tokenizers", "scispacy", "numpy")
_OF_EXTRAS = (
    *("spacy-transformers", "trl", "datasets", "accelerate", "deepspeed", "pyab3p", "negspacy"),
    *("pyarrow", "ray", "fastapi", "mcp"),
)
_GUIDE = "docs/how_to/troubleshooting.md"


def info() -> None:
    """Print what a bug report needs: versions, machine, pipelines and vocabularies with their
    SHA-256, formats, and the type that `dtype="auto"` takes."""
    import platform

    import torch

    from ..about import __version__
    from ..corpora.registry import FORMATS as corpus_formats
    from ..files.download import cache_folder
    from ..model.fastest import describe_cpu, fastest_dtype, measure_dtypes
    from ..vocabulary.sources.formats.registry import FORMATS as vocabulary_formats

    typer.echo(f"spacy-angel {__version__}")
    for name, value in (
        *_versions(),
        ("python", platform.python_version()),
        ("system", platform.platform()),
        ("cpu", describe_cpu()),
        ("gpu", _gpus()),
        ("cache", str(cache_folder())),
    ):
        typer.echo(f"  {name:<18} {value}")
    for line in (*_pipelines(), *_vocabularies()):
        typer.echo(line)
    typer.echo(f"Vocabulary formats: {', '.join(vocabulary_formats)}")
    typer.echo(f"Corpus formats: {', '.join(corpus_formats)}")
    chosen = fastest_dtype(torch.device("cpu"), with_int8=True)
    measured = ", ".join(f"{name} {1000 * s:.1f} ms" for name, s in measure_dtypes().items())
    typer.echo(f'Type of dtype="auto" on this CPU: {chosen} (a layer takes {measured})')
    typer.echo(f"Where to look next: {_GUIDE}. For a bug report, copy all of this.")


def _versions() -> Iterator[tuple[str, str]]:
    from importlib.metadata import PackageNotFoundError, version

    for package in _PACKAGES + _OF_EXTRAS:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            if package in _PACKAGES:
                yield package, "not installed"


def _gpus() -> str:
    import torch

    if torch.version.cuda is None:
        return "none: torch is built for the CPU"
    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return f"CUDA {torch.version.cuda}: {', '.join(names) or 'none is seen'}"


def _pipelines() -> Iterator[str]:
    from ..about import DATA, SHIPPED_NAMES
    from ..annotation.pipeline_folder import folder_fingerprint

    for name in SHIPPED_NAMES:
        yield f"Pipeline {name}: {DATA / name}, sha256 {folder_fingerprint(DATA / name)}"


def _vocabularies() -> Iterator[str]:
    """The checksums of the columns stand in meta.json, so that its own stands for all."""
    from hashlib import sha256

    from ..vocabulary.sources.installed import installed_vocabularies
    from ..vocabulary.storage.arrays import META

    for name, folder in installed_vocabularies().items():
        digest = sha256(Path(folder, META).read_bytes()).hexdigest()
        yield f"Vocabulary {name}: {folder}, meta.json sha256 {digest}"
