"""The vocabulary of a config, and the gold mentions of its corpora."""

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
from ...vocabulary.names.entity_types import is_species, may_need_species
from ...vocabulary.names.identifiers import split_ids
from ...vocabulary.species.reader import SpeciesReader
from ...vocabulary.species.suffixes import SEPARATOR
from ..settings.config_tables import TrainingConfig
from .development import Development, LabelledMention, even_sample


def label_mentions(
    documents: Iterable[CorpusDocument],
    resolve: Callable[[str], str | None],
    species_reader: SpeciesReader | None = None,
) -> tuple[list[LabelledMention], int]:
    """Cut the gold mentions out of their documents.

    documents (Iterable[CorpusDocument]): preprocessed, abbreviations replaced.
    resolve (Callable[[str], str | None]): identifier → the vocabulary's own, None where unknown.
    species_reader (SpeciesReader | None): of a vocabulary whose names have suffixes: mentions get
        their species contexts.
    RETURNS (tuple[list[LabelledMention], int]): the gold mentions that the vocabulary knows, and
        the number of those without an identifier, or with none that is in the vocabulary.
    """
    mentions = []
    unknown = 0
    for document in documents:
        species = (
            (m.start, m.end, m.concept_ids) for m in document.mentions if is_species(m.label)
        )
        species_words = (
            [] if species_reader is None else species_reader.find(document.text, species)
        )
        for gold in document.mentions:
            ids = {resolve(concept_id) for concept_id in split_ids(gold.concept_ids)} - {None}
            if not ids:
                unknown += 1
                continue
            # The model's own prompt format says what becomes of the spaces.
            species_context = ""
            if species_reader is not None and may_need_species(gold.label):
                species_context = species_reader.context_of(species_words, gold.start, gold.end)
            mention = mention_at(
                document.text,
                gold.start,
                gold.end,
                collapse_spaces=False,
                read_as=gold.read_as,
                species_context=species_context,
            )
            mentions.append(LabelledMention(mention, tuple(sorted(filter(None, ids)))))
    return mentions, unknown


@dataclass
class TrainingData:
    """What the stages share, read when first asked for.

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
        """Fitted on all its names."""
        return TrigramTfidf().fit(self.names)

    @cached_property
    def train(self) -> list[LabelledMention]:
        """Training mentions that the vocabulary knows."""
        return [*chain.from_iterable(label_files(self.config.data.train, "data.train", self.kb))]

    @cached_property
    def development(self) -> Development | None:
        """How accuracy is measured; None without development files."""
        if not self.config.data.dev:
            return None
        files = label_files(self.config.data.dev, "data.dev", self.kb)
        sample = self.config.development.sample
        mentions = chain.from_iterable(even_sample(mentions, sample) for mentions in files)
        return Development([*mentions], self.kb, self.config.development)

    def written(self, concept: Concept, name: str) -> tuple[str, str]:
        """concept (Concept): of the vocabulary. name (str): one of its names in normal form.
        RETURNS (tuple[str, str]): what a model writes, and what a document would have to say for
        it to know the suffix."""
        i = self.kb.name_index(name)
        if self.kb.suffixes is None or i is None:
            return name, ""
        written = self.kb.written_for(i, concept.concept_id)
        _, *suffix = written.split(SEPARATOR)
        return written, suffix[0] if suffix else ""

    def pretraining_concepts(self) -> Iterator[Concept]:
        """RETURNS (Iterator[Concept]): those of the vocabulary that pre-training is about."""
        types = set(self.config.pretrain.vocabulary.types)
        return (c for c in self.kb if not types or not types.isdisjoint(c.types))


def label_files(paths: Sequence[str], setting: str, kb: ConceptKB) -> list[list[LabelledMention]]:
    """Read the gold mentions of corpus files.

    paths (Sequence[str]): preprocessed.
    setting (str): that names them, for messages.
    kb (ConceptKB): the vocabulary.
    RETURNS (list[list[LabelledMention]]): mentions that the vocabulary knows, file by file.
    RAISES (AngelError): there are none.
    """
    files: list[list[LabelledMention]] = []
    for path in paths:
        mentions, unknown = label_mentions(read_corpus(Path(path)), kb.resolve, kb.species_reader)
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


def gold_names(concept_ids: Iterable[str], kb: ConceptKB) -> dict[str, str]:
    """RETURNS (dict[str, str]): normal forms of all names of some concepts, canonical ones first,
    and what a model writes for each: with the suffix that leads to the concept."""
    written: dict[str, str] = {}
    for concept_id in concept_ids:
        for i in kb.names_of(concept_id):
            written.setdefault(kb.name(i), kb.written_for(i, concept_id))
    return written
