"""The scripts beside the package: their command lines."""

import importlib.util
import runpy
import sys
from functools import cache, wraps
from types import ModuleType
from unittest.mock import patch

import typer
from typer.testing import CliRunner

from .helpers import ROOT


def load_script(script: str) -> ModuleType:
    """script (str): as for `app_of`. RETURNS (ModuleType): it, as a module."""
    path = ROOT / script
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    with patch.object(sys, "path", [str(path.parent), *sys.path]):
        spec.loader.exec_module(module)
    return module


@cache
def app_of(script: str) -> typer.Typer:
    """script (str): of scripts/, benchmarks/ or tools/, with a command line made by typer.
    RETURNS (typer.Typer): that command line, which the script itself was kept from running."""
    apps: list[typer.Typer] = []

    def take_function(function):
        app = typer.Typer()
        app.command()(function)
        apps.append(app)

    def take_app(app):
        apps.append(app)

    path = [str((ROOT / script).parent), *sys.path]
    with (
        patch("typer.run", take_function),
        patch.object(typer.Typer, "__call__", take_app),
        patch.object(sys, "path", path),
    ):
        runpy.run_path(str(ROOT / script), run_name="__main__")
    (app,) = apps
    return app


def refusal(script: str, words: list[str]) -> str | None:
    """script (str): as for `app_of`. words (list[str]): behind it.
    RETURNS (str | None): what its command line says against the words; nothing is run."""
    idle = typer.Typer()
    for command in app_of(script).registered_commands:
        assert command.callback is not None
        idle.command(command.name)(_doing_nothing(command.callback))
    done = CliRunner().invoke(idle, words)
    return None if done.exit_code == 0 else done.output


def _doing_nothing(function):
    @wraps(function)
    def nothing(*args, **kwargs):
        return None

    return nothing
