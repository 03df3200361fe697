"""`spacy-angel info`: versions, machine, pipelines, vocabularies: what a bug report needs."""

from collections.abc import Iterator
from pathlib import Path

import typer

_PACKAGES = (
    *("spacy", "thinc", "torch", "transformers", "tokenizers", "scispacy", "numpy"),
    *("spacy-transformers", "trl", "datasets", "accelerate", "deepspeed", "pyab3p", "negspacy"),
    *("pyarrow", "ray", "fastapi", "mcp"),
)


def info() -> None:
    """Print what a bug report needs: versions, machine, pipelines and vocabularies with their
    SHA-256, formats, and the type that `dtype="auto"` chooses."""
    import torch

    from ..about import DATA, SHIPPED_NAMES, __version__
    from ..annotation.pipeline_folder import folder_fingerprint
    from ..corpora.registry import FORMATS as corpus_formats
    from ..model.fastest import fastest_dtype, measure_dtypes
    from ..vocabulary.sources.formats.registry import FORMATS as vocabulary_formats

    typer.echo(f"spacy-angel {__version__}")
    for name, value in _environment():
        typer.echo(f"  {name:<18} {value}")
    for name in SHIPPED_NAMES:
        fingerprint = folder_fingerprint(DATA / name)
        typer.echo(f"Pipeline {name}: {DATA / name}, sha256 {fingerprint}")
    for line in _vocabularies():
        typer.echo(line)
    typer.echo(f"Vocabulary formats: {', '.join(vocabulary_formats)}")
    typer.echo(f"Corpus formats: {', '.join(corpus_formats)}")
    chosen = fastest_dtype(torch.device("cpu"), with_int8=True)
    measured = ", ".join(f"{name} {1000 * s:.1f} ms" for name, s in measure_dtypes().items())
    typer.echo(f'Type of dtype="auto" on this CPU: {chosen} (a layer takes {measured})')
    typer.echo(
        "Where to look next: docs/how_to/troubleshooting.md. For a bug report, copy all of this."
    )


def _environment() -> Iterator[tuple[str, str]]:
    import platform
    from contextlib import suppress
    from importlib.metadata import PackageNotFoundError, version

    import torch

    from ..files.download import cache_folder
    from ..model.fastest import describe_cpu

    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            yield package, version(package)
    yield "python", platform.python_version()
    yield "system", platform.platform()
    yield "cpu", describe_cpu()
    names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    yield "gpu", f"CUDA {torch.version.cuda}: {', '.join(names) or 'none'}"
    yield "cache", str(cache_folder())


def _vocabularies() -> Iterator[str]:
    """The meta.json of a vocabulary has the checksums of its arrays."""
    from hashlib import sha256

    from ..vocabulary.sources.installed import installed_vocabularies
    from ..vocabulary.storage.arrays import META

    for name, folder in installed_vocabularies().items():
        digest = sha256(Path(folder, META).read_bytes()).hexdigest()
        yield f"Vocabulary {name}: {folder}, meta.json sha256 {digest}"
