"""The version of the package, its data files, and where the shipped pipelines are installed."""

from importlib.util import find_spec
from pathlib import Path

from .errors import AngelError

__version__ = "0.3.0"
SHIPPED_NAME = "en_angel_mini"
SHIPPED_NAMES = (SHIPPED_NAME, "en_angel_bio")
"""The pipeline packages; the first is the default, and has the model of both."""
DATA = Path(__file__).parent / "data"


def shipped_folder(name: str = SHIPPED_NAME) -> Path:
    """Find the folder of a shipped pipeline.

    name (str): one of `SHIPPED_NAMES`.
    RETURNS (Path): in a checkout `spacy_angel/data/NAME`, else the folder of the installed package.
    RAISES (AngelError): the package is not installed.
    """
    if (DATA / name).is_dir():
        return DATA / name
    spec = find_spec(name)
    # A folder of that name in the working directory has no origin.
    if spec is None or spec.origin is None:
        raise AngelError(
            f"The pipeline {name} is not installed. Install it from a checkout of spacy-angel: "
            f"pip install ./pipelines/{name}"
        )
    return Path(spec.origin).parent
