"""Remove folders made by the project's commands, or check that they belong to the current
inputs."""

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer
from command import run

from spacy_angel.errors import AngelError
from spacy_angel.files.atomic import write_json
from spacy_angel.files.digests import digest
from spacy_angel.files.json_values import parse_json

INPUTS = "inputs.json"

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False)


@app.command()
def remove(folders: Annotated[list[Path], typer.Argument(help="Inside the project.")]) -> None:
    """Remove folders of the project with all their contents."""
    for folder in folders:
        _inside(folder)
    for folder in folders:
        if folder.exists():
            shutil.rmtree(folder)
            print(f"{folder} removed")


@app.command()
def renew(
    folder: Annotated[Path, typer.Argument(help="Folder of a training stage.")],
    inputs: Annotated[list[Path], typer.Argument(help="Files and folders it is trained on.")],
    settings: Annotated[str, typer.Option(help="What else it depends on.")] = "",
) -> None:
    """Keep the output of a stage only if it was started with the same inputs: an interrupted run is
    resumed, and a run on other data starts from scratch."""
    _inside(folder)
    now = {"settings": settings, "files": {str(path): _digest(path) for path in inputs}}
    noted = _noted(folder)
    if noted == now:
        return
    if noted is not None:
        print(f"{folder}: its inputs have changed, it begins anew")
        shutil.rmtree(folder)
    elif folder.exists() and any(folder.iterdir()):
        raise AngelError(f"{folder} holds a run of another origin. Move it away or remove it.")
    write_json(folder / INPUTS, now)


def _noted(folder: Path) -> Any:
    """RETURNS (Any): the inputs a stage was started with; None if the record is missing or
    damaged."""
    try:
        return parse_json((folder / INPUTS).read_bytes())
    except (FileNotFoundError, ValueError):
        return None


def _inside(folder: Path) -> None:
    """Refuse folders outside the project, so that a mistake in a variable cannot remove anything
    else."""
    if Path.cwd().resolve() not in folder.resolve().parents:
        raise AngelError(
            f"{folder} is outside of the project {Path.cwd()}. Check the variables of project.yml."
        )


def _digest(path: Path) -> str:
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return digest((str(file.relative_to(path)), file) for file in files if file.is_file())


if __name__ == "__main__":
    run(app)
