"""Command line `spacy-angel`. Only typer is imported at the top: help answers at once."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from ..errors import AngelError
from ..files.system import advice, reason
from .annotate import annotate
from .assemble import assemble
from .calibrate import calibrate
from .contradictions import contradictions
from .corpus import corpus
from .corrections import corrections
from .evaluate import compare, evaluate
from .info import info
from .kb import kb_app
from .link import link
from .long_forms import long_forms
from .mcp import mcp
from .relink import relink
from .serve import serve
from .train import train_app


class _Commands(TyperGroup):
    """Known errors end with their message and exit code 1, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            with _plain_warnings():
                return super().invoke(ctx)
        except BrokenPipeError:  # `spacy-angel … | head`: typer ends quietly
            raise
        except (AngelError, OSError) as error:
            typer.echo(f"Error: {_message(error)}", err=True)
            raise typer.Exit(1) from error


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Our own warnings are told as errors are, without the place in the code."""
    before = warnings.formatwarning

    def plain(message: Any, *rest: Any) -> str:
        text = str(message)
        return f"Warning: {text}\n" if text.startswith("[W") else before(message, *rest)

    warnings.formatwarning = plain  # type: ignore[assignment]
    try:
        yield
    finally:
        warnings.formatwarning = before


def _message(error: Exception) -> str:
    """What to say of an error; that of a file with what to do about it."""
    if not isinstance(error, OSError) or error.errno is None or error.filename is None:
        return str(error)
    path = os.fsdecode(error.filename)
    return f"{path}: {reason(error)}. {advice(error)}"


app = typer.Typer(
    cls=_Commands,
    help="Biomedical entity linking in spaCy by constrained generation of concept names.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(kb_app, name="kb")
app.add_typer(train_app, name="train")
for command in (
    *(
        corpus,
        contradictions,
        corrections,
        long_forms,
        link,
        info,
        calibrate,
        evaluate,
        compare,
        annotate,
        relink,
        assemble,
        serve,
        mcp,
    ),
):
    app.command()(command)
