"""Development accuracy: what the trained model would answer, by our own constrained search."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..models.backbones import Backbone
from ..models.prediction import generator_of, predict
from ..settings.config_tables import DevelopmentSettings
from .corpus import LabelledMention

if TYPE_CHECKING:
    from ...vocabulary.kb import ConceptKB


class Development:
    """Development mentions and how accuracy on them is measured.

    mentions (Sequence[LabelledMention]): all that count.
    kb (ConceptKB): the vocabulary that is searched.
    settings (DevelopmentSettings): of the search.
    """

    def __init__(
        self, mentions: Sequence[LabelledMention], kb: "ConceptKB", settings: DevelopmentSettings
    ) -> None:
        self.mentions = mentions
        self.kb = kb
        self.settings = settings

    def hits(self, backbone: Backbone, part: int = 0, parts: int = 1) -> tuple[int, int, int]:
        """Lenient hits: a name counts if one of its concepts is one of the gold ones.

        backbone (Backbone): searched as it stands; its mode is restored.
        part (int), parts (int): every `parts`-th mention from `part` on, for several processes.
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
                right = [not gold.isdisjoint(self.kb.concept_ids_of(*name)) for name in names]
                top1 += any(right[:1])
                top_k += any(right)
        finally:
            backbone.model.train(was_training)
        return top1, top_k, len(mentions)


def even_sample(mentions: Sequence[LabelledMention], n: int) -> list[LabelledMention]:
    """RETURNS (list[LabelledMention]): n of them at even distances, all of them for n = 0."""
    if not n or n >= len(mentions):
        return list(mentions)
    return [mentions[int(i)] for i in np.linspace(0, len(mentions) - 1, n)]
