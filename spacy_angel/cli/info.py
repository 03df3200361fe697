"""`spacy-angel info`: versions, what ships, the known formats."""

import typer


def info() -> None:
    """Print versions, what ships, and the known formats."""
    from importlib.metadata import version

    from ..about import DATA, SHIPPED_NAMES, __version__
    from ..corpora.registry import FORMATS as corpus_formats
    from ..vocabulary.formats.registry import FORMATS as vocabulary_formats

    typer.echo(f"spacy-angel {__version__}")
    for package in ("spacy", "torch", "transformers", "scispacy", "numpy"):
        typer.echo(f"  {package:<14} {version(package)}")
    for name in SHIPPED_NAMES:
        typer.echo(f"  {name:<14} {DATA / name}")
    typer.echo(f"Vocabulary formats: {', '.join(vocabulary_formats)}")
    typer.echo(f"Corpus formats: {', '.join(corpus_formats)}")
