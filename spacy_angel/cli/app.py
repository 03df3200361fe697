"""Command line `spacy-angel`. Only typer is imported at the top, so that help answers at once."""

import os
import warnings
from typing import Any

import typer
from typer.core import TyperGroup

from ..errors import AngelError, AngelWarning
from ..files.system import advice, reason
from .annotate import annotate
from .assemble import assemble
from .calibrate import calibrate
from .corpus import corpus
from .corrections import corrections
from .evaluate import compare, evaluate
from .info import info
from .kb import kb_app
from .link import link
from .mcp import mcp
from .serve import serve
from .train import train_app


class _Commands(TyperGroup):
    """Known errors end with their message and exit code 1, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        default = warnings.formatwarning

        def plain(message: Any, category: Any, *place: Any) -> str:
            is_plain = issubclass(category, AngelWarning)
            return f"Warning: {message}\n" if is_plain else default(message, category, *place)

        warnings.formatwarning = plain  # type: ignore[assignment]
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # `spacy-angel … | head`: typer ends quietly
            raise
        except (AngelError, OSError) as error:
            typer.echo(f"Error: {_message(error)}", err=True)
            raise typer.Exit(1) from error
        finally:
            warnings.formatwarning = default


def _message(error: Exception) -> str:
    if not isinstance(error, OSError) or error.errno is None or error.filename is None:
        return str(error)
    return f"{os.fsdecode(error.filename)}: {reason(error)}. {advice(error)}"


app = typer.Typer(
    cls=_Commands,
    help="Biomedical entity linking in spaCy by constrained generation of concept names.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(kb_app, name="kb")
app.add_typer(train_app, name="train")
_COMMANDS: tuple[Any, ...] = (
    *(corpus, corrections, link, info, calibrate, evaluate, compare, annotate),
    *(assemble, serve, mcp),
)
for command in _COMMANDS:
    app.command()(command)
