"""The vocabulary of a config and the gold mentions of its corpora."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from ...corpora.documents import CorpusDocument
from ...corpora.registry import read_corpus
from ...errors import AngelError, AngelWarning
from ...model.mention import mention_at
from ...vocabulary.kb import ConceptKB
from ...vocabulary.lookup.tfidf import TrigramTfidf
from ...vocabulary.names.concepts import Concept
from ...vocabulary.names.identifiers import split_ids
from ..settings.config_tables import TrainingConfig
from .development import Development, LabelledMention, even_sample


def label_mentions(
    documents: Iterable[CorpusDocument],
    resolve: Callable[[str], str | None],
) -> tuple[list[LabelledMention], int]:
    """Extract the gold mentions of documents.

    documents (Iterable[CorpusDocument]): preprocessed, with abbreviations expanded.
    resolve (Callable[[str], str | None]): identifier → canonical identifier, or None if unknown.
    RETURNS (tuple[list[LabelledMention], int]): the gold mentions whose concept is in the
        vocabulary, and the number of those without one.
    """
    mentions = []
    unknown = 0
    for document in documents:
        for gold in document.mentions:
            ids = {resolve(concept_id) for concept_id in split_ids(gold.concept_ids)} - {None}
            if not ids:
                unknown += 1
                continue
            # Spaces are handled by the prompt format of the model.
            mention = mention_at(
                document.text,
                gold.start,
                gold.end,
                collapse_spaces=False,
                read_as=gold.read_as,
            )
            mentions.append(LabelledMention(mention, tuple(sorted(filter(None, ids)))))
    return mentions, unknown


@dataclass
class TrainingData:
    """The data shared by all stages, loaded when first used.

    config (TrainingConfig): paths and sizes.
    """

    config: TrainingConfig

    @cached_property
    def kb(self) -> ConceptKB:
        """The vocabulary."""
        return ConceptKB.from_disk(Path(self.config.data.kb))

    @cached_property
    def names(self) -> list[str]:
        """All its names in normal form, by index."""
        return [self.kb.name(i) for i in range(self.kb.n_names)]

    @cached_property
    def tfidf(self) -> TrigramTfidf:
        """Tf-idf, fitted on all names."""
        return TrigramTfidf(self.names)

    @cached_property
    def train(self) -> list[LabelledMention]:
        """Training mentions whose concepts are in the vocabulary."""
        return [*chain.from_iterable(label_files(self.config.data.train, "data.train", self.kb))]

    @cached_property
    def development(self) -> Development | None:
        """The development set; None without development files."""
        if not self.config.data.dev:
            return None
        files = label_files(self.config.data.dev, "data.dev", self.kb)
        sample = self.config.development.sample
        mentions = chain.from_iterable(even_sample(mentions, sample) for mentions in files)
        return Development([*mentions], self.kb, self.config.development)

    def pretraining_concepts(self) -> Iterator[Concept]:
        """RETURNS (Iterator[Concept]): the concepts of the vocabulary that are used for
        pre-training."""
        types = set(self.config.pretrain.vocabulary.types)
        return (c for c in self.kb if not types or not types.isdisjoint(c.types))


def label_files(paths: Sequence[str], setting: str, kb: ConceptKB) -> list[list[LabelledMention]]:
    """Read the gold mentions of corpus files.

    paths (Sequence[str]): preprocessed files.
    setting (str): the setting that lists them, for messages.
    kb (ConceptKB): the vocabulary.
    RETURNS (list[list[LabelledMention]]): mentions whose concept is in the vocabulary, for each
        file.
    RAISES (AngelError): there are none.
    """
    files: list[list[LabelledMention]] = []
    for path in paths:
        mentions, unknown = label_mentions(read_corpus(Path(path)), kb.resolve)
        files.append(mentions)
        if unknown:
            warnings.warn(
                f"{path}: {unknown:,} of {unknown + len(mentions):,} mentions have no identifier "
                "of the vocabulary and are left out.",
                AngelWarning,
                stacklevel=2,
            )
    if not any(files):
        raise AngelError(
            f"{setting} has no mention with an identifier of the vocabulary (files: {list(paths)})."
        )
    return files


def gold_names(concept_ids: Iterable[str], kb: ConceptKB) -> list[str]:
    """RETURNS (list[str]): distinct names of concepts in normal form, canonical ones first."""
    indices = dict.fromkeys(i for concept_id in concept_ids for i in kb.names_of(concept_id))
    return kb.name_texts(list(indices))
