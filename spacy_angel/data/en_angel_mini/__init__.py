"""The pipeline `en_angel_mini` as a package, which `pipelines/en_angel_mini` installs."""

from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.util import get_model_meta, load_model_from_path

__version__ = get_model_meta(Path(__file__).parent)["version"]


def load(**overrides: Any) -> Language:
    """overrides (Any): arguments of `spacy.load`. RETURNS (Language): the pipeline."""
    return load_model_from_path(Path(__file__).parent, **overrides)
