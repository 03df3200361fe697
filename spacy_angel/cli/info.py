"""`spacy-angel info`: versions, machine, pipelines, vocabularies: what a bug report needs."""

import typer

_PACKAGES = (
    *("spacy", "thinc", "torch", "transformers", "tokenizers", "scispacy", "numpy"),
    *("spacy-transformers", "trl", "datasets", "accelerate", "deepspeed", "pyab3p", "negspacy"),
    *("pyarrow", "ray", "fastapi", "mcp"),
)


def info() -> None:
    """Print what a bug report needs: versions, machine, pipelines and vocabularies with their
    SHA-256, and the type that `dtype="auto"` chooses."""
    import platform
    from contextlib import suppress
    from hashlib import sha256
    from importlib.metadata import PackageNotFoundError, version

    import torch

    from ..about import DATA, SHIPPED_NAMES, __version__
    from ..annotation.pipeline_folder import folder_fingerprint
    from ..files.download import cache_folder
    from ..model.fastest import describe_cpu, fastest_dtype
    from ..vocabulary.sources.installed import installed_vocabularies
    from ..vocabulary.storage.arrays import META

    rows = {}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            rows[package] = version(package)
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    rows |= {
        "python": platform.python_version(),
        "system": platform.platform(),
        "cpu": describe_cpu(),
        "gpu": f"CUDA {torch.version.cuda}: {', '.join(gpus) or 'none'}",
        "cache": str(cache_folder()),
    }
    typer.echo(f"spacy-angel {__version__}")
    for name, value in rows.items():
        typer.echo(f"  {name:<18} {value}")
    for name in SHIPPED_NAMES:
        typer.echo(f"Pipeline {name}: {DATA / name}, sha256 {folder_fingerprint(DATA / name)}")
    for name, folder in installed_vocabularies().items():
        # It has the checksums of the arrays.
        digest = sha256((folder / META).read_bytes()).hexdigest()
        typer.echo(f"Vocabulary {name}: {folder}, {META} sha256 {digest}")
    chosen = fastest_dtype(torch.device("cpu"), with_int8=True)
    typer.echo(f'Type of dtype="auto" on this CPU: {chosen}')
    typer.echo("For a bug report, copy all of this. See also docs/how_to/troubleshooting.md.")
