"""Development accuracy by constrained search."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from spacy.util import minibatch

from ...model.checkpoint import DTYPES, model_of_module
from ...model.mention import Mention
from ...search.generator import Generator
from ...search.search import SearchSettings
from ...vocabulary.kb import ConceptKB
from ..models.backbones import Backbone, merged
from ..settings.config_tables import BeamSettings, DevelopmentSettings
from .batches import progress


@dataclass(frozen=True, slots=True)
class LabelledMention:
    """A mention and its concepts.

    mention (Mention): in its context.
    concept_ids (tuple[str, ...]): identifiers in the vocabulary, sorted; several for a composite or
        ambiguous mention.
    """

    mention: Mention
    concept_ids: tuple[str, ...]


@dataclass
class Development:
    """Development mentions, and the search by which accuracy is measured on them.

    mentions (Sequence[LabelledMention]): the mentions.
    kb (ConceptKB): the vocabulary to search.
    settings (DevelopmentSettings): settings of the search.
    """

    mentions: Sequence[LabelledMention]
    kb: ConceptKB
    settings: DevelopmentSettings

    def hits(self, backbone: Backbone, part: int = 0, parts: int = 1) -> tuple[int, int, int]:
        """Count lenient hits: a name is correct if one of its concepts is a gold concept.

        backbone (Backbone): its mode is restored afterwards.
        part (int), parts (int): use every `parts`-th mention from `part` on, for several processes.
        RETURNS (tuple[int, int, int]): hits at 1, hits among the beams, mentions.
        """
        mentions = self.mentions[part::parts]
        was_training = backbone.model.training
        backbone.model.eval()
        try:
            top1 = top_k = 0
            predictions = predict(
                [labelled.mention for labelled in mentions],
                generator_of(backbone, self.settings.search.dtype),
                self.kb,
                self.settings.search,
                self.settings.search.num_beams,
                description="Development accuracy",
            )
            for labelled, names in zip(mentions, predictions, strict=True):
                gold = set(labelled.concept_ids)
                right = [not gold.isdisjoint(ids) for ids in self.kb.concept_ids(names)]
                top1 += any(right[:1])
                top_k += any(right)
        finally:
            backbone.model.train(was_training)
        return top1, top_k, len(mentions)


def even_sample(mentions: Sequence[LabelledMention], n: int) -> list[LabelledMention]:
    """RETURNS (list[LabelledMention]): n evenly spaced mentions, or all for n = 0."""
    if not n or n >= len(mentions):
        return list(mentions)
    return [mentions[int(i)] for i in np.linspace(0, len(mentions) - 1, n)]


def generator_of(backbone: Backbone, dtype: str = "float32") -> Generator:
    """Use a model in memory for the search.

    backbone (Backbone): in evaluation mode.
    dtype (str): type of the weights, only for the BART family.
    RETURNS (Generator): has a copy of the weights of a BART; any other model is used directly.
    """
    module = merged(backbone.model)
    return Generator(model_of_module(module, DTYPES[dtype]), backbone.prompts, module.config)


def predict(
    mentions: Sequence[Mention],
    generator: Generator,
    kb: ConceptKB,
    settings: BeamSettings,
    k: int,
    description: str = "Searching",
) -> Iterator[list[int]]:
    """Predict names by constrained beam search.

    mentions (Sequence[Mention]): searched in blocks of similar length.
    generator (Generator): the model.
    kb (ConceptKB): vocabulary; all its names are allowed.
    settings (BeamSettings): of the search.
    k (int): names per mention.
    description (str): title of the progress bar.
    RETURNS (Iterator[list[int]]): for each mention, indices of names, best first.
    """
    space = kb.search_space(generator.prompts, [None])
    beam_search = SearchSettings(
        k=k,
        num_beams=max(settings.num_beams, k),
        length_penalty=settings.length_penalty,
    )
    batch_size = settings.batch_size
    # Blocks are sorted by length; larger ones need less padding, but show less progress.
    block = 16 * batch_size
    for part in progress(list(minibatch(mentions, block)), description, "blocks"):
        for names in generator.search(part, space, beam_search, batch_size=batch_size):
            yield [found.name for found in names]
