"""`spacy-angel info`: versions, what ships, the known formats, and what runs fastest here."""

import typer


def info() -> None:
    """Print versions, what ships, the known formats, and the type that `dtype="auto"` takes."""
    from importlib.metadata import version

    import torch

    from ..about import DATA, SHIPPED_NAMES, __version__
    from ..corpora.registry import FORMATS as corpus_formats
    from ..model.fastest import fastest_dtype, measure_dtypes
    from ..vocabulary.formats.registry import FORMATS as vocabulary_formats

    typer.echo(f"spacy-angel {__version__}")
    for package in ("spacy", "torch", "transformers", "scispacy", "numpy"):
        typer.echo(f"  {package:<14} {version(package)}")
    for name in SHIPPED_NAMES:
        typer.echo(f"  {name:<14} {DATA / name}")
    typer.echo(f"Vocabulary formats: {', '.join(vocabulary_formats)}")
    typer.echo(f"Corpus formats: {', '.join(corpus_formats)}")
    chosen = fastest_dtype(torch.device("cpu"), with_int8=True)
    measured = ", ".join(f"{name} {1000 * s:.1f} ms" for name, s in measure_dtypes().items())
    typer.echo(f'Type of dtype="auto" on this CPU: {chosen} (a layer takes {measured})')
