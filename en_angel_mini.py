"""`spacy.load("en_angel_mini")`: the pipeline that comes with spacy-angel, as spaCy loads the
pipelines that are packages."""

from typing import Any

from spacy_angel.about import DATA, SHIPPED_NAME
from spacy_angel.about import __version__ as __version__


def load(**options: Any) -> Any:
    """options (Any): as spaCy hands them on: `vocab`, `disable`, `enable`, `exclude`, `config`.
    RETURNS (Language): the pipeline."""
    from spacy_angel.pipelines.lazy import load_folder

    return load_folder(DATA / SHIPPED_NAME, **options)
