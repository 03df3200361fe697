"""The network to train, its loss, and the model from which it starts:

a recognizer   training continues
a BART         its encoder, e.g. of a linker's model
a BERT         its layers, as the encoder of a BART
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoConfig, BartConfig
from transformers.modeling_outputs import ModelOutput
from transformers.models.bart.modeling_bart import BartEncoder

from ...about import SHIPPED_NAMES, shipped_folder
from ...errors import AngelError
from ...model.bart import is_supported
from ...model.checkpoint import checkpoint_folder
from ...model.config_file import first_sentence
from ...model.weights import SHARED
from ...recognition.finder import CONFIG_FILE, ENCODER_FIELDS, FinderConfig, MentionFinder
from ...recognition.network import NO_WORD, OWN
from ...recognition.tags import N_TAGS
from ...recognition.words import CASES, WordReader
from ..models.backbones import fast_attention, make_backbone
from ..models.losses import IGNORE
from ..settings.config_tables import BackboneSettings
from .config import RecognizerSettings

_DROPOUT = 0.1
_HEAD = f"{OWN}head."


class RecognizerModule(nn.Module):
    """`recognition.network.TaggingNetwork` with gradients.

    encoder (Any): transformers' BartEncoder.
    n_labels (int): number of labels.
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
        """RETURNS (dict[str, Tensor]): the weights, under the names of `TaggingNetwork`."""
        named = {}
        for name, tensor in self.state_dict().items():
            if name == "encoder.embed_tokens.weight":
                named[SHARED] = tensor
            elif name.startswith("encoder."):
                named[f"model.{name}"] = tensor
            else:
                named[OWN + name] = tensor
        return named

    def copy_weights(self, finder: MentionFinder, labels: Sequence[str]) -> None:
        """Continue from a recognizer; the weights of labels that it lacks are not changed.

        finder (MentionFinder): with an encoder of the same shape.
        labels (Sequence[str]): labels of this module.
        """
        theirs = finder.network.state_dict(torch.float32)
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


_TOKENIZER = "tokenizer.json"
_IN_PIPELINE = Path("angel_recogniser", "model")


@dataclass(frozen=True)
class Start:
    """The initial state of a training.

    encoder (Any): transformers' BartEncoder.
    form (FinderConfig): configuration of the recognizer.
    reader (WordReader): its tokenizer.
    source (MentionFinder | None): recognizer whose weights are copied.
    """

    encoder: Any
    form: FinderConfig
    reader: WordReader
    source: MentionFinder | None = None


def recognizer_folder(name_or_path: str) -> Path:
    """Find a recognizer.

    name_or_path (str): folder of a recognizer or of a pipeline with one, or the name of a shipped
        pipeline.
    RETURNS (Path): the recognizer's folder, whether it exists or not.
    """
    is_shipped = name_or_path in SHIPPED_NAMES
    folder = shipped_folder(name_or_path) if is_shipped else Path(name_or_path)
    return folder if (folder / CONFIG_FILE).is_file() else folder / _IN_PIPELINE


def open_start(settings: RecognizerSettings) -> Start:
    """Load the model from which a recognizer starts.

    settings (RecognizerSettings): name of the model.
    RETURNS (Start): the initial state.
    RAISES (AngelError): there is no such model or recognizer, it is of another kind or has no
        `tokenizer.json`, or the window is invalid.
    """
    if settings.source:
        source = MentionFinder.from_disk(recognizer_folder(settings.source))
        fields = source.config.encoder
        encoder = BartEncoder(BartConfig(**fields, attn_implementation=fast_attention()))
        return Start(encoder, _form(settings, fields), source.reader, source)
    folder = checkpoint_folder(settings.start)
    try:
        config: Any = AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise AngelError(f"Cannot load the model in {folder}: {first_sentence(error)}.") from error
    definition = folder / _TOKENIZER
    is_bert = config.model_type == "bert"
    if not definition.is_file() or not (is_bert or is_supported(config)):
        raise AngelError(
            f"A recognizer starts from a BART or BERT with a {_TOKENIZER}; {folder} is a "
            f"{config.model_type}."
        )
    backbone = BackboneSettings(
        "encoder" if is_bert else "pretrained",
        settings.start,
        encoder_layers=config.num_hidden_layers,
        decoder_layers=1,
        max_source_tokens=settings.window,
    )
    model: Any = make_backbone(backbone, ()).model
    form = _form(settings, {name: getattr(model.config, name) for name in ENCODER_FIELDS})
    return Start(model.get_encoder(), form, WordReader(definition.read_text(encoding="utf8")))


def _form(settings: RecognizerSettings, encoder: dict[str, Any]) -> FinderConfig:
    try:
        return FinderConfig(settings.labels, settings.window, settings.overlap, encoder)
    except ValueError as error:
        raise AngelError(f"The config [recogniser] is not valid: {error}.") from error
