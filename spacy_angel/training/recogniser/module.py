"""The network that is trained, and its loss."""

from collections.abc import Mapping, Sequence
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
from .config import ReadingSettings

NO_CASE = -1
"""In the place of a word's case: that of a text which has lost its capitals."""

_DROPOUT = 0.1
_HEAD = f"{OWN}head."
_READING = "words."
_READ = ("input_ids", "attention_mask", "cases")


class RecogniserModule(nn.Module):
    """What is trained: `recognition.network.TaggingNetwork` with gradients.

    encoder (Any): transformers' BartEncoder.
    n_labels (int): labels.
    is_teacher (bool): bring the words' vectors to one length first. Those of an encoder that was
        made for sentences are short and alike, so that the layer for the tags, which begins with
        nothing, learns a tenth as fast.
    reading (ReadingSettings | None): weights of what is read beside the corpora.
    """

    def __init__(
        self,
        encoder: Any,
        n_labels: int,
        *,
        is_teacher: bool = False,
        reading: ReadingSettings | None = None,
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
        self.words = MaskedWordHead(encoder) if reading and reading.windows else None

    @property
    def layers(self) -> nn.ModuleList:
        """RETURNS (nn.ModuleList): of the encoder, from the lowest."""
        lists = (m for m in self.encoder.modules() if isinstance(m, nn.ModuleList))
        return next(lists)

    def compile_layers(self) -> None:
        """Compile the encoder's layers, each for the shapes of the first batches; they have to stay
        the same."""
        for layer in self.layers:
            layer.compile(dynamic=False)

    def forward(
        self,
        tags: Tensor,
        taught: Tensor | None = None,
        masked: Mapping[str, Tensor] | None = None,
        asked: Mapping[str, Tensor] | None = None,
        **batch: Tensor,
    ) -> ModelOutput:
        """tags (Tensor), taught (Tensor | None), batch (Tensor): of `data.collate`.
        masked, asked (Mapping[str, Tensor] | None): of `reading.UnmarkedTexts.batch`, as wide.
        RETURNS (ModelOutput): `loss`, see `tag_loss`, with those of what is read beside."""
        parts = [part for part in (batch, masked, asked) if part is not None]
        # In one pass of the encoder: most of an update is starting its layers otherwise.
        states = self.states(**{name: torch.cat([part[name] for part in parts]) for name in _READ})
        own = iter(states.split([len(part["words"]) for part in parts]))
        loss = tag_loss(self._tags(next(own), batch["words"], len(tags)), tags, taught)
        if self.reading and self.words is not None and masked is not None:
            loss = loss + self.reading.weight * self._masked_loss(next(own), masked, self.words)
        if self.reading and asked is not None:
            said = asked["taught"]
            nothing = torch.full(said.shape[:2], IGNORE, device=said.device)
            logits = self._tags(next(own), asked["words"], len(said))
            loss = loss + self.reading.taught_weight * tag_loss(logits, nothing, said)
        return ModelOutput(loss=loss)

    def _masked_loss(
        self, states: Tensor, masked: Mapping[str, Tensor], head: "MaskedWordHead"
    ) -> Tensor:
        targets = masked["targets"]
        is_predicted = targets != IGNORE
        logits = head(states[is_predicted], self.encoder.get_input_embeddings().weight)
        return functional.cross_entropy(logits.float(), targets[is_predicted])

    def states(self, input_ids: Tensor, attention_mask: Tensor, cases: Tensor) -> Tensor:
        """The arguments are those of `data.as_batch`. RETURNS (Tensor): [rows, width, d]."""
        of_cases = self.cases(cases.clamp_min(0)) * (cases != NO_CASE)[..., None]
        vectors = self.encoder.get_input_embeddings()(input_ids) + of_cases
        return self.encoder(inputs_embeds=vectors, attention_mask=attention_mask)[0]

    def logits(self, n_words: int, words: Tensor, **read: Tensor) -> Tensor:
        """n_words (int): of all rows. words, read (Tensor): of `data.as_batch`.

        RETURNS (Tensor): float32[n_words, labels, 3].
        """
        return self._tags(self.states(**read), words, n_words)

    def _tags(self, states: Tensor, words: Tensor, n_words: int) -> Tensor:
        # What is no word is summed in a row of its own.
        target = words.where(words != NO_WORD, n_words).flatten()
        sums = states.new_zeros(n_words + 1, states.shape[-1], dtype=torch.float32)
        sums = sums.index_add(0, target, states.flatten(0, 1).float())[:n_words]
        counts = torch.zeros_like(sums[:, 0]).index_add(
            0, target.clamp_max(n_words - 1), (words != NO_WORD).flatten().float()
        )
        of_words = sums / counts[:, None]
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
