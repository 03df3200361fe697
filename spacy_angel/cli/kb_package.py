"""`spacy-angel kb package`: a vocabulary as a wheel."""

from pathlib import Path
from typing import Annotated

import typer

from .options import Vocabulary


def kb_package(
    kb: Vocabulary,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder that gets the wheel.")],
    name: Annotated[
        str | None, typer.Option(help="By which `load(kb=NAME)` finds it; else the folder's.")
    ] = None,
    version: Annotated[
        str | None, typer.Option(help="Of the package; else the numbers of the release.")
    ] = None,
    licence: Annotated[
        Path | None, typer.Option(help="Text of the terms; else what the metadata say of them.")
    ] = None,
) -> None:
    """Make a wheel of a vocabulary; `pip install` puts it in reach of `load(kb=NAME)`."""
    from ..vocabulary.sources.package import package_vocabulary

    wheel = package_vocabulary(kb, output, name=name, version=version, licence=licence)
    typer.echo(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB. Use it: pip install {wheel}")
