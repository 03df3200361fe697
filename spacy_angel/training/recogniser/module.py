"""The network that is trained, and its loss."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.modeling_outputs import ModelOutput

from ...model.bart_encoder import SHARED
from ...recognition.finder import MentionFinder
from ...recognition.network import NO_WORD, OWN
from ...recognition.tags import N_TAGS
from ...recognition.words import CASES
from ..models.losses import IGNORE

_DROPOUT = 0.1
_HEAD = f"{OWN}head."


class RecogniserModule(nn.Module):
    """`recognition.network.TaggingNetwork` with gradients.

    encoder (Any): transformers' BartEncoder.
    n_labels (int): labels.
    """

    def __init__(self, encoder: Any, n_labels: int) -> None:
        super().__init__()
        self.encoder = encoder
        width = encoder.config.hidden_size
        self.cases = nn.Embedding(CASES, width)
        # At first the encoder gets the input that it was trained with.
        nn.init.zeros_(self.cases.weight)
        self.dropout = nn.Dropout(_DROPOUT)
        self.head = nn.Linear(width, n_labels * N_TAGS)
        self.n_labels = n_labels

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        cases: Tensor,
        words: Tensor,
        tags: Tensor,
    ) -> ModelOutput:
        """The arguments are those of `data.collate`.

        RETURNS (ModelOutput): `loss`, see `tag_loss`.
        """
        vectors = self.encoder.get_input_embeddings()(input_ids) + self.cases(cases)
        states = self.encoder(inputs_embeds=vectors, attention_mask=attention_mask)[0]
        n_words = len(tags)
        # Tokens outside of words are summed in an additional row.
        target = words.where(words != NO_WORD, n_words).flatten()
        sums = states.new_zeros(n_words + 1, states.shape[-1], dtype=torch.float32)
        sums = sums.index_add(0, target, states.flatten(0, 1).float())[:n_words]
        counts = target.bincount(minlength=n_words + 1)[:n_words]
        logits = self.head(self.dropout(sums / counts[:, None])).float()
        return ModelOutput(loss=tag_loss(logits.view(-1, self.n_labels, N_TAGS), tags))

    def weights(self) -> dict[str, Tensor]:
        """RETURNS (dict[str, Tensor]): as `TaggingNetwork` reads them."""
        named = {}
        for name, tensor in self.state_dict().items():
            if name == "encoder.embed_tokens.weight":
                named[SHARED] = tensor
            elif name.startswith("encoder."):
                named[f"model.{name}"] = tensor
            else:
                named[OWN + name] = tensor
        return named

    def take(self, finder: MentionFinder, labels: Sequence[str]) -> None:
        """Continue from a recognizer; the weights of labels that it lacks stay as they are.

        finder (MentionFinder): with an encoder of the same shape.
        labels (Sequence[str]): of this module.
        """
        theirs = finder.weights()
        with torch.no_grad():
            for name, own in self.weights().items():
                if not name.startswith(_HEAD):
                    own.copy_(theirs[name])
                    continue
                rows = theirs[name].unflatten(0, (len(finder.labels), N_TAGS))
                for row, label in zip(own.unflatten(0, (-1, N_TAGS)), labels, strict=True):
                    if label in finder.labels:
                        row.copy_(rows[finder.labels.index(label)])


def tag_loss(logits: Tensor, tags: Tensor) -> Tensor:
    """Cross entropy over the words and labels that are annotated.

    logits (Tensor): float32[words, labels, 3].
    tags (Tensor): int64[words, labels], `IGNORE` where nothing is annotated.
    RETURNS (Tensor): the mean; 0 where nothing is annotated.
    """
    total = functional.cross_entropy(
        logits.flatten(0, 1), tags.flatten(), ignore_index=IGNORE, reduction="sum"
    )
    return total / (tags != IGNORE).sum().clamp_min(1)
