"""The network that is trained, and its loss."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.modeling_outputs import ModelOutput

from ...model.bart_encoder import SHARED
from ...recognition.finder import MentionFinder
from ...recognition.network import OWN, mean_by_word
from ...recognition.tags import N_TAGS
from ...recognition.words import CASES
from ..models.losses import IGNORE

NO_CASE = -1
"""In the place of a word's case: that of a text which has lost its capitals."""

_DROPOUT = 0.1
_HEAD = f"{OWN}head."
_READING = "words."


class RecogniserModule(nn.Module):
    """What is trained: `recognition.network.TaggingNetwork` with gradients.

    encoder (Any): transformers' BartEncoder.
    n_labels (int): labels.
    is_teacher (bool): bring the words' vectors to one length first. Those of an encoder that was
        made for sentences are short and alike, so that the layer for the tags, which begins with
        nothing, learns a tenth as fast.
    reading (float): weight of the loss of masked words beside that of the tags; 0: none are masked.
    """

    def __init__(
        self, encoder: Any, n_labels: int, *, is_teacher: bool = False, reading: float = 0.0
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.is_teacher = is_teacher
        self.reading = reading
        width = encoder.config.hidden_size
        self.cases = nn.Embedding(CASES, width)
        # At first the encoder reads what it is used to.
        nn.init.zeros_(self.cases.weight)
        self.dropout = nn.Dropout(_DROPOUT)
        self.head = nn.Linear(width, n_labels * N_TAGS)
        self.n_labels = n_labels
        self.words = MaskedWordHead(encoder) if reading else None

    @property
    def layers(self) -> nn.ModuleList:
        """RETURNS (nn.ModuleList): of the encoder, from the lowest."""
        lists = (m for m in self.encoder.modules() if isinstance(m, nn.ModuleList))
        return next(lists)

    def forward(
        self,
        tags: Tensor,
        taught: Tensor | None = None,
        unmarked: Mapping[str, Tensor] | None = None,
        **batch: Tensor,
    ) -> ModelOutput:
        """tags (Tensor), taught (Tensor | None), batch (Tensor): of `data.collate`.
        unmarked (Mapping[str, Tensor] | None): of `reading.UnmarkedTexts.batch`.
        RETURNS (ModelOutput): `loss`, see `tag_loss`, with that of the masked words."""
        loss = tag_loss(self.logits(**batch), tags, taught)
        if self.words is not None and unmarked is not None:
            loss = loss + self.reading * self._masked_loss(self.words, **unmarked)
        return ModelOutput(loss=loss)

    def _masked_loss(
        self,
        head: "MaskedWordHead",
        targets: Tensor,
        words: Tensor,
        n_words: Tensor,
        **read: Tensor,
    ) -> Tensor:
        states = self.states(**read)
        is_predicted = targets != IGNORE
        vectors = self.encoder.get_input_embeddings().weight
        logits = head(states[is_predicted], vectors)
        return functional.cross_entropy(logits.float(), targets[is_predicted])

    def states(self, input_ids: Tensor, attention_mask: Tensor, cases: Tensor) -> Tensor:
        """The arguments are those of `data.as_batch`. RETURNS (Tensor): [rows, width, d]."""
        of_cases = self.cases(cases.clamp_min(0)) * (cases != NO_CASE)[..., None]
        vectors = self.encoder.get_input_embeddings()(input_ids) + of_cases
        return self.encoder(inputs_embeds=vectors, attention_mask=attention_mask)[0]

    def logits(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        cases: Tensor,
        words: Tensor,
        n_words: Tensor,
    ) -> Tensor:
        """The arguments are those of `data.as_batch`.

        RETURNS (Tensor): float32[words, labels, 3].
        """
        states = self.states(input_ids, attention_mask, cases)
        lengths = attention_mask.sum(dim=1)
        pieces = states[attention_mask.bool()].float()
        of_words = mean_by_word(pieces, words, lengths, n_words.tolist())
        if self.is_teacher:
            of_words = functional.layer_norm(of_words, of_words.shape[-1:])
        return self.head(self.dropout(of_words)).float().view(-1, self.n_labels, N_TAGS)

    def weights(self) -> dict[str, Tensor]:
        """RETURNS (dict[str, Tensor]): as `TaggingNetwork` reads them."""
        named = {}
        for name, tensor in self.state_dict().items():
            if name.startswith(_READING):
                continue
            if name == "encoder.embed_tokens.weight":
                named[SHARED] = tensor
            elif name.startswith("encoder."):
                named[f"model.{name}"] = tensor
            else:
                named[OWN + name] = tensor
        return named

    def take(self, finder: MentionFinder, labels: Sequence[str]) -> None:
        """Go on from a recogniser; tags of labels that it does not have stay as they are.

        finder (MentionFinder): with an encoder of the same shape. labels (Sequence[str]): of this
            module's tags.
        """
        theirs = finder.weights()
        weights = {name: theirs[name] for name in self.weights() if not name.startswith(_HEAD)}
        for name, own in self.weights().items():
            if name.startswith(_HEAD):
                rows = own.unflatten(0, (len(labels), N_TAGS)).clone()
                for i, label in enumerate(labels):
                    if label in finder.labels:
                        shape = (len(finder.labels), N_TAGS)
                        rows[i] = theirs[name].unflatten(0, shape)[finder.labels.index(label)]
                weights[name] = rows.flatten(0, 1)
        with torch.no_grad():
            for name, own in self.weights().items():
                own.copy_(weights[name])


class MaskedWordHead(nn.Module):
    """Predicts the pieces of masked words: BERT's layers for that, with the vectors by which the
    encoder reads pieces.

    encoder (Any): of transformers.
    """

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        width = encoder.config.hidden_size
        self.dense = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.bias = nn.Parameter(torch.zeros(encoder.get_input_embeddings().num_embeddings))

    def forward(self, states: Tensor, vectors: Tensor) -> Tensor:
        """states (Tensor): [pieces, d]. vectors (Tensor): [vocabulary, d], of the encoder's pieces.
        RETURNS (Tensor): [pieces, vocabulary], logits."""
        return functional.linear(self.norm(functional.gelu(self.dense(states))), vectors, self.bias)


def tag_loss(logits: Tensor, tags: Tensor, taught: Tensor | None = None) -> Tensor:
    """Cross entropy over the words and labels of which something is known: what is annotated, a
    teacher's probabilities, or the mean of both.

    logits (Tensor): [words, labels, 3]. tags (Tensor): int64[words, labels], `IGNORE` for what is
        left open. taught (Tensor | None): float[words, labels, 3], probabilities; zeros where no
        teacher has read. RETURNS (Tensor): the mean; 0 where all is open.
    """
    is_annotated = tags != IGNORE
    targets = functional.one_hot(tags.where(is_annotated, 0), N_TAGS) * is_annotated[..., None]
    if taught is not None:
        targets = targets + taught
    known = targets.sum(dim=-1)
    targets = targets / known.clamp_min(1)[..., None]
    losses = -(targets * functional.log_softmax(logits, dim=-1)).sum(dim=-1)
    return losses.sum() / (known > 0.5).sum().clamp_min(1)
