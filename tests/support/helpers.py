"""Helpers shared by several tests."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_angel.about import shipped_folder
from spacy_angel.cli.app import app

SHIPPED_MODEL = shipped_folder() / "angel_linker" / "model"
ROOT = Path(__file__).parents[2]


def shared_data(relative: str) -> Path:
    """Find a file of the public data that is not part of the project, e.g.
    `mesh/mesh_2019_descriptors.tsv`; without it, the test is skipped."""
    folder = Path(os.environ.get("SPACY_ANGEL_DATA", ROOT.parent / "shared/data"))
    path = folder / relative
    if not path.exists():
        pytest.skip(f"needs {relative} in {folder} (set SPACY_ANGEL_DATA)")
    return path


def run(*arguments: object) -> tuple[int, str, str]:
    """Run a command in this process, and return its exit code, output, and errors."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.stdout, result.stderr
