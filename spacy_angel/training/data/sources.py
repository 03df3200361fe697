"""Vocabulary and mentions of a config, read when they are first asked for."""

import logging
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import AngelError
from ...vocabulary.lookup.tfidf import TrigramTfidf
from ...vocabulary.species.suffixes import SEPARATOR
from ..settings.config_tables import TrainingConfig
from .corpus import LabelledMention, label_mentions
from .development import Development, even_sample

if TYPE_CHECKING:
    from ...vocabulary.kb import ConceptKB
    from ...vocabulary.names.concepts import Concept

logger = logging.getLogger(__name__)


@dataclass
class TrainingData:
    """What the stages share, read when first asked for.

    config (TrainingConfig): paths and sizes.
    """

    config: TrainingConfig

    @cached_property
    def kb(self) -> "ConceptKB":
        """The vocabulary."""
        from ...vocabulary.kb import ConceptKB

        return ConceptKB.from_disk(Path(self.config.data.kb))

    @cached_property
    def names(self) -> list[str]:
        """All its names in normal form, by index."""
        return [self.kb.name(i) for i in range(self.kb.n_names)]

    @cached_property
    def tfidf(self) -> TrigramTfidf:
        """Fitted on all its names."""
        return TrigramTfidf().fit(self.names)

    @cached_property
    def train(self) -> list[LabelledMention]:
        """Training mentions that the vocabulary knows."""
        return [*chain.from_iterable(self._mentions(self.config.data.train, "data.train"))]

    @cached_property
    def development(self) -> Development | None:
        """How accuracy is measured; None without development files."""
        if not self.config.data.dev:
            return None
        files = self._mentions(self.config.data.dev, "data.dev")
        sample = self.config.development.sample
        mentions = chain.from_iterable(even_sample(mentions, sample) for mentions in files)
        return Development([*mentions], self.kb, self.config.development)

    def written(self, concept: "Concept", name: str) -> tuple[str, str]:
        """concept (Concept): of the vocabulary. name (str): one of its names in normal form.
        RETURNS (tuple[str, str]): what a model writes, and what a document would have to say for
        it to know the suffix."""
        i = self.kb.name_index(name)
        if self.kb.suffixes is None or i is None:
            return name, ""
        written = self.kb.written_for(i, concept.concept_id)
        _, *suffix = written.split(SEPARATOR)
        return written, suffix[0] if suffix else ""

    def without(self, mentions: list[LabelledMention]) -> "TrainingData":
        """mentions (list[LabelledMention]): to leave out. RETURNS (TrainingData): the other
        training mentions with the same vocabulary, and no development set."""
        left_out = {id(labelled) for labelled in mentions}
        rest = copy(self)
        rest.kb, rest.names, rest.tfidf = self.kb, self.names, self.tfidf
        rest.train = [labelled for labelled in self.train if id(labelled) not in left_out]
        rest.development = None
        return rest

    def pretraining_concepts(self) -> "Iterator[Concept]":
        """RETURNS (Iterator[Concept]): those of the vocabulary that pre-training is about."""
        types = set(self.config.pretrain.vocabulary.types)
        return (c for c in self.kb if not types or not types.isdisjoint(c.types))

    def _mentions(self, paths: tuple[str, ...], setting: str) -> list[list[LabelledMention]]:
        from ...corpora.registry import read_corpus
        from ...vocabulary.names.identifiers import split_ids

        settings = self.config.data
        files: list[list[LabelledMention]] = []
        for path in paths:
            labelled = label_mentions(
                read_corpus(Path(path), settings.format),
                self.kb.resolve,
                split_ids,
                self.kb.species_reader,
            )
            files.append(labelled.mentions)
            logger.info(
                "%s: %d mentions, %d more without an identifier of the vocabulary",
                path,
                len(labelled.mentions),
                labelled.unknown,
            )
        if not any(files):
            raise AngelError(
                f"{setting} has no mention with an identifier of the vocabulary (files: "
                f"{list(paths)})."
            )
        return files
