"""What configs/datasets.yml says of a dataset, checked."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import srsly

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.storage.table import SharedNames

DATASETS = Path("configs/datasets.yml")
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class VocabularyStep:
    """Vocabulary files that are read in one go.

    files (tuple[str, ...]): in order of precedence.
    format (str | None): as `spacy-angel kb build` takes it, or `askapatient`.
    file_options (dict[str, str]): options of the reader that name a file.
    options (dict[str, Any]): its other options.
    shared_names (str): as `spacy-angel kb build --shared-names`; what a first step says holds.
    """

    files: tuple[str, ...]
    format: str | None = None
    file_options: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    shared_names: SharedNames = "all"

    @property
    def needs(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): every file that is read."""
        return (*self.files, *self.file_options.values())


@dataclass(frozen=True)
class CorpusPart:
    """One corpus of a split.

    file (str): as published.
    preprocessing (str): one of `preprocessing.PUBLISHED`.
    file_options (dict[str, str]): options of the reader that name a file.
    """

    file: str
    preprocessing: str
    file_options: dict[str, str] = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """RETURNS (tuple[str, ...]): every file that is read."""
        return (self.file, *self.file_options.values())


@dataclass(frozen=True)
class Recipe:
    """A dataset.

    name (str): of the dataset; its files lie in `assets/NAME`.
    vocabulary (tuple[tuple[VocabularyStep, ...], ...]): choices, the first that can be had counts;
        empty where there is none.
    corpora (dict[str, dict[str, CorpusPart]]): split → name → corpus.
    """

    name: str
    vocabulary: tuple[tuple[VocabularyStep, ...], ...]
    corpora: dict[str, dict[str, CorpusPart]]

    def parts(self, *splits: str) -> Iterator[CorpusPart]:
        """RETURNS (Iterator[CorpusPart]): the corpora of these splits."""
        for split in splits:
            yield from self.corpora.get(split, {}).values()


def read_recipe(name: str, path: Path = DATASETS) -> Recipe:
    """Read what is known of a dataset.

    name (str): of the dataset.
    path (Path): the file.
    RETURNS (Recipe): its values.
    RAISES (AngelError): there is no such dataset.
    """
    known: dict[str, dict[str, Any]] = srsly.read_yaml(path)
    if name not in known:
        raise AngelError(f"{path} has no dataset {name!r}. Known: {', '.join(known)}.")
    values = known[name]
    return Recipe(
        name,
        tuple(
            tuple(VocabularyStep(**{**step, "files": tuple(step["files"])}) for step in choice)
            for choice in values.get("vocabulary", ())
        ),
        {
            split: {
                part: CorpusPart(
                    corpus["file"], corpus["preprocessing"], dict(corpus.get("file_options", {}))
                )
                for part, corpus in values[split].items()
            }
            for split in SPLITS
            if split in values
        },
    )


def needs(choice: tuple[VocabularyStep, ...]) -> list[str]:
    """RETURNS (list[str]): every file of a choice of vocabulary."""
    return [name for step in choice for name in step.needs]
