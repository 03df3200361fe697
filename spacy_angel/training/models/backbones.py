"""A model that is trained: weights, tokenizer and prompt settings together."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ...files.atomic import replacing_folder
from ...model.checkpoint import max_positions, open_checkpoint, prompt_encoder, save_settings
from ...model.prompts import PromptEncoder, PromptFormat

_ADDED_MARKS = ("[START]", "[END]")


@dataclass
class Backbone:
    """Weights, tokenizer and prompt settings, as they are saved together.

    model (PreTrainedModel): encoder-decoder.
    tokenizer (PreTrainedTokenizerBase): its own.
    format (PromptFormat): how it expects its mentions.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    format: PromptFormat

    @property
    def prompts(self) -> PromptEncoder:
        """RETURNS (PromptEncoder): of this model."""
        return prompt_encoder(self.model.config, self.tokenizer, self.format)

    @property
    def max_target_tokens(self) -> int:
        """RETURNS (int): longest decoder input; a model with relative positions takes as much as
        the encoder is given."""
        positions = max_positions(self.model.config, "decoder")
        return positions or self.format.max_source_tokens

    def save_settings(self, folder: Path) -> None:
        """Write tokenizer and prompt settings beside weights that are already there.

        folder (Path): exists.
        """
        save_settings(folder, self.tokenizer, self.format)

    def save(self, folder: Path) -> None:
        """Write an ordinary Hugging Face folder, in place of one that stands there.

        folder (Path): appears under this name only when it is complete.
        """
        with replacing_folder(folder, lambda _: True) as parts:
            self.model.save_pretrained(parts)
            self.save_settings(parts)


def load_backbone(
    name_or_path: str | Path,
    max_source_tokens: int | None = None,
    *,
    tokenizer: str | None = None,
    preset: str | None = None,
) -> Backbone:
    """An encoder-decoder checkpoint: BART, BioBART, GenBioEL, T5, or what a stage has saved.

    name_or_path (str | Path): see `model.checkpoint.checkpoint_folder`.
    max_source_tokens (int | None): replaces the saved length; not above what the model takes.
    tokenizer (str | None), preset (str | None): see `model.checkpoint.open_checkpoint`.
    RETURNS (Backbone): with the prompt settings that were saved with it, or the published ones;
        marks that the tokenizer cannot tell from words become added tokens.
    RAISES (AngelError): see `model.checkpoint.open_checkpoint`, `Checkpoint.module`.
    """
    checkpoint = open_checkpoint(name_or_path, tokenizer=tokenizer, preset=preset)
    model = checkpoint.module(attn_implementation=fast_attention())
    length = max_source_tokens or checkpoint.format.max_source_tokens
    length = min(length, max_positions(model.config, "encoder") or length)
    format = replace(checkpoint.format, max_source_tokens=length)
    backbone = Backbone(model, checkpoint.tokenizer, format)
    if not tells_marks(backbone.tokenizer, format):
        add_marks(backbone)
    return backbone


def tells_marks(tokenizer: PreTrainedTokenizerBase, prompt: PromptFormat) -> bool:
    """Whether the marks of a mention look different from the same words of a text.

    tokenizer (PreTrainedTokenizerBase): a model's own.
    prompt (PromptFormat): START and END.
    RETURNS (bool): False for an uncased WordPiece, to which `START` is `start`.
    """
    marks = [prompt.start_mark, prompt.end_mark]
    ids = tokenizer(marks, add_special_tokens=False)["input_ids"]
    words = tokenizer([mark.lower() for mark in marks], add_special_tokens=False)["input_ids"]
    unknown = tokenizer.unk_token_id
    return all(a != b and unknown not in a for a, b in zip(ids, words, strict=True))


def set_dropout(model: torch.nn.Module, hidden: float, attention: float) -> None:
    """Set a model's dropout where it lies: BART applies it by a number on each layer, which
    switching modules off does not reach, T5 by modules.

    model (torch.nn.Module): changed in place.
    hidden (float): after embeddings, attention and feed-forward blocks; at 0 layers are no longer
        skipped by chance either.
    attention (float): on attention weights.
    """
    module: Any
    for module in model.modules():
        share = attention if "Attention" in type(module).__name__ else hidden
        if isinstance(module, torch.nn.Dropout):
            module.p = hidden
        elif isinstance(getattr(module, "dropout", None), int | float):
            module.dropout = share
        for name in ("activation_dropout", "layerdrop"):
            if hasattr(module, name):
                setattr(module, name, min(getattr(module, name), hidden))


def fast_attention() -> str:
    """The implementation of attention that trains fastest here.

    On a CPU the plain computation trains short sources faster than the fused one, whose
    backward pass is slow there; on a GPU it is the other way round.

    RETURNS (str): as `attn_implementation` names it.
    """
    return "sdpa" if torch.cuda.is_available() else "eager"


def add_marks(backbone: Backbone) -> None:
    """Make the marks of a mention tokens of their own.

    backbone (Backbone): changed in place: tokenizer, prompt settings, rows of the embeddings.
    """
    start, end = _ADDED_MARKS
    backbone.tokenizer.add_special_tokens({"additional_special_tokens": [start, end]})
    backbone.format = replace(backbone.format, start_mark=start, end_mark=end)
    embeddings: Any = backbone.model.get_input_embeddings()
    if len(embeddings.weight) < len(backbone.tokenizer):
        backbone.model.resize_token_embeddings(len(backbone.tokenizer))
