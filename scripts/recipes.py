"""Read and validate the entries of configs/datasets.yml."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import srsly
from pydantic import TypeAdapter

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.storage.table import SharedNames

DATASETS = Path("configs/datasets.yml")


@dataclass(frozen=True)
class VocabularyStep:
    """Vocabulary files that are read together.

    files (tuple[str, ...]): in order of precedence.
    format (str | None): a format of `spacy-angel kb build`, or `askapatient`.
    file_options (dict[str, str]): options of the reader whose value is a file.
    options (dict[str, Any]): other options of the reader.
    shared_names (str): as in `spacy-angel kb build --shared-names`; only the first step's value is
        used.
    """

    files: tuple[str, ...]
    format: str | None = None
    file_options: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    shared_names: SharedNames = "all"


@dataclass(frozen=True)
class CorpusPart:
    """One corpus of a split.

    file (str): published file.
    preprocessing (str): one of `preprocessing.PUBLISHED`.
    file_options (dict[str, str]): options of the reader whose value is a file.
    """

    file: str
    preprocessing: str
    file_options: dict[str, str] = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): all files that are read."""
        return (self.file, *self.file_options.values())


@dataclass(frozen=True)
class Recipe:
    """A dataset.

    train, dev, test (dict[str, CorpusPart]): corpora by name.
    vocabulary (tuple[tuple[VocabularyStep, ...], ...]): alternatives; the first one whose files are
        available is used.
    """

    train: dict[str, CorpusPart]
    dev: dict[str, CorpusPart]
    test: dict[str, CorpusPart] = field(default_factory=dict)
    vocabulary: tuple[tuple[VocabularyStep, ...], ...] = ()

    @property
    def corpora(self) -> dict[str, dict[str, CorpusPart]]:
        """RETURNS (dict[str, dict[str, CorpusPart]]): split → name → corpus."""
        splits = {"train": self.train, "dev": self.dev, "test": self.test}
        return {split: parts for split, parts in splits.items() if parts}

    def parts(self, *splits: str) -> Iterator[CorpusPart]:
        """RETURNS (Iterator[CorpusPart]): the corpora of these splits."""
        for split in splits:
            yield from self.corpora.get(split, {}).values()


def read_recipe(name: str, path: Path = DATASETS) -> Recipe:
    """Read the entry of a dataset.

    name (str): name of the dataset.
    path (Path): configuration file.
    RETURNS (Recipe): its entry.
    RAISES (AngelError): there is no such dataset.
    """
    known = srsly.read_yaml(path)
    if name not in known:
        raise AngelError(f"{path} has no dataset {name!r}. Known: {', '.join(known)}.")
    return TypeAdapter(Recipe).validate_python(known[name])


def needs(choice: tuple[VocabularyStep, ...]) -> list[str]:
    """RETURNS (list[str]): all files that an alternative requires."""
    return [name for step in choice for name in (*step.files, *step.file_options.values())]
