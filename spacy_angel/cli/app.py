"""Command line `spacy-angel`. Only typer is imported at the top, so that help answers at once."""

import os
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from ..errors import AngelError
from .annotate import annotate
from .assemble import assemble
from .calibrate import calibrate
from .corpus import corpus
from .corrections import corrections
from .evaluate import compare, evaluate
from .ground import ground
from .info import info
from .kb import kb_app
from .link import link
from .mcp import mcp
from .serve import serve
from .train import train_app


class _Commands(TyperGroup):
    """Known errors end with their message and exit code 1, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # `spacy-angel … | head`: typer ends quietly
                raise
            except (AngelError, OSError) as error:
                typer.echo(f"Error: {_message(error)}", err=True)
                raise typer.Exit(1) from error


def _show_warning(message: Warning, *place: Any) -> None:
    typer.echo(f"Warning: {message}", err=True)


def _message(error: Exception) -> str:
    if not isinstance(error, OSError) or error.strerror is None or error.filename is None:
        return str(error)
    return f"{os.fsdecode(error.filename)}: {error.strerror}."


app = typer.Typer(
    cls=_Commands,
    help="Biomedical entity linking in spaCy by constrained generation of concept names.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(kb_app, name="kb")
app.add_typer(train_app, name="train")
_COMMANDS: tuple[Any, ...] = (corpus, corrections, link, ground, info, calibrate, evaluate, compare)
for command in (*_COMMANDS, annotate, assemble, serve, mcp):
    app.command()(command)
