"""Put a recognizer into `en_angel_mini`, and keep its vocabulary and model.

    python scripts/shipped/build_mini.py RECOGNISER -o FOLDER

RECOGNISER is the output of `spacy-angel train recogniser recogniser`; only its labels for diseases
and chemicals are used.
"""

import json
import shutil
from pathlib import Path
from typing import Annotated

import spacy
import typer
from build_bio import with_mentions

from spacy_angel.about import SHIPPED_NAME, __version__, shipped_folder
from spacy_angel.files.atomic import replacing_folder
from spacy_angel.linking.settings.linker_settings import types_of
from spacy_angel.pipelines.assemble import LINKER

ASSETS = Path(__file__).resolve().parents[2] / "assets"


def build(
    recogniser: Annotated[Path, typer.Argument(help="Folder of the recogniser's model.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the pipeline.")],
) -> None:
    """Write the pipeline; the linker keeps its files and settings."""
    shipped = shipped_folder()
    meta = json.loads((shipped / "meta.json").read_text("utf8"))
    config = spacy.util.load_config(shipped / "config.cfg").interpolate()
    # Like spaCy's own recognizers, it keeps existing entities.
    finds = {"labels": [*types_of(SHIPPED_NAME)], "overwrite": False}
    nlp = with_mentions(recogniser, None, finds)
    settings = dict(config["components"][LINKER])
    del settings["factory"], settings["scorer"]
    nlp.add_pipe(LINKER, config=settings)
    about = json.loads((ASSETS / f"{SHIPPED_NAME}.json").read_text("utf8"))
    calibration = meta["performance"]["calibration"]
    needs = [f"spacy-angel>={__version__}"]
    own = {"version": __version__, "requirements": needs}
    nlp.meta.update({**about, **own, "performance": {"calibration": calibration}})
    with replacing_folder(output, lambda entry: entry.name != "__init__.py") as new:
        nlp.to_disk(new, exclude=[LINKER])
        ignored = shutil.ignore_patterns("tries")
        shutil.copytree(shipped / LINKER, new / LINKER, ignore=ignored)


if __name__ == "__main__":
    typer.run(build)
