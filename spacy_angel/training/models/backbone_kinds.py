"""The model that training starts from: a checkpoint, or a small BART, fresh or made of a BERT."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    AutoModel,
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.tokenization_utils_fast import PreTrainedTokenizerFast

from ...errors import AngelError
from ...model.checkpoint import checkpoint_folder
from ...model.prompts import PromptFormat
from ..settings.config_tables import BackboneSettings
from .backbones import Backbone, add_marks, fast_attention, load_backbone

# BART looks a position up two rows further down its table.
_POSITION_OFFSET = 2
_ATTENTION = {
    "q_proj": "attention.self.query",
    "k_proj": "attention.self.key",
    "v_proj": "attention.self.value",
    "out_proj": "attention.output.dense",
}
_LAYER = {
    "self_attn_layer_norm": "attention.output.LayerNorm",
    "fc1": "intermediate.dense",
    "fc2": "output.dense",
    "final_layer_norm": "output.LayerNorm",
    **{f"self_attn.{name}": bert for name, bert in _ATTENTION.items()},
}
_CROSS_ATTENTION = {
    "encoder_attn_layer_norm": "attention.output.LayerNorm",
    **{f"encoder_attn.{name}": bert for name, bert in _ATTENTION.items()},
}


def make_backbone(settings: BackboneSettings, names: Iterable[str]) -> Backbone:
    """The model that a config asks for.

    settings (BackboneSettings): kind, checkpoint, sizes.
    names (Iterable[str]): of the vocabulary; only `fresh` reads them.
    RETURNS (Backbone): ready to train.
    """
    if settings.kind == "fresh":
        return fresh_bart(settings, names)
    if settings.kind == "encoder":
        return from_encoder(settings)
    return load_backbone(
        settings.name,
        settings.max_source_tokens,
        tokenizer=settings.tokenizer,
        preset=settings.preset,
    )


def fresh_bart(settings: BackboneSettings, names: Iterable[str]) -> Backbone:
    """A small BART with random weights and a byte-level BPE trained on the vocabulary.

    settings (BackboneSettings): sizes.
    names (Iterable[str]): what the tokenizer is trained on.
    RETURNS (Backbone): marks are added tokens.
    """
    tokenizer = _train_tokenizer(names, settings.vocabulary_size)
    config = _bart_config(
        settings,
        vocab_size=len(tokenizer),
        d_model=settings.width,
        heads=settings.heads,
        feed_forward=4 * settings.width,
        max_position_embeddings=settings.max_source_tokens,
        # With the usual 0.02 a narrow model does not learn to read its source.
        init_std=min(0.1, settings.width**-0.5),
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
    )
    return _backbone(BartForConditionalGeneration(config), tokenizer, settings.max_source_tokens)


def from_encoder(settings: BackboneSettings) -> Backbone:
    """A small BART that starts as a BERT-like encoder.

    Both normalize after each block, so layers fit as they are: evenly spaced ones go into the
    encoder and into the decoder (Shleifer and Rush 2020), whose cross-attention starts as the
    same layer's self-attention. BERT adds the first token-type row to every position: it goes
    into the position table.

    settings (BackboneSettings): checkpoint and depth.
    RETURNS (Backbone): marks are added tokens, `[CLS]` starts the decoder.
    RAISES (AngelError): the checkpoint is not BERT-like.
    """
    folder = checkpoint_folder(settings.name)
    encoder = AutoModel.from_pretrained(folder, add_pooling_layer=False)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return copy_encoder(encoder, tokenizer, settings)


def copy_encoder(
    encoder: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    settings: BackboneSettings,
) -> Backbone:
    """`from_encoder` with the encoder in memory.

    encoder (PreTrainedModel): e.g. a BertModel.
    tokenizer (PreTrainedTokenizerBase): its own, with `[CLS]`, `[SEP]`, `[PAD]`.
    settings (BackboneSettings): depth and source length.
    RETURNS (Backbone): see `from_encoder`.
    RAISES (AngelError): see `from_encoder`.
    """
    bert = encoder.config
    if bert.model_type != "bert":
        raise AngelError(
            f"backbone.kind needs a checkpoint of type 'bert'; {settings.name} is "
            f"{bert.model_type!r}."
        )
    config = _bart_config(
        settings,
        vocab_size=bert.vocab_size,
        d_model=bert.hidden_size,
        heads=bert.num_attention_heads,
        feed_forward=bert.intermediate_size,
        max_position_embeddings=bert.max_position_embeddings,
        activation_function=bert.hidden_act,
        init_std=bert.initializer_range,
        bos_token_id=tokenizer.cls_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.sep_token_id,
        decoder_start_token_id=tokenizer.cls_token_id,
    )
    bart = BartForConditionalGeneration(config)
    bart.load_state_dict(bart.state_dict() | _bart_weights(encoder, bart))
    length = min(settings.max_source_tokens, bert.max_position_embeddings)
    return _backbone(bart, tokenizer, length)


def evenly_spaced(n: int, total: int) -> list[int]:
    """Choose layers at even distances.

    n (int), total (int): how many of how many.
    RETURNS (list[int]): the first and the last among them: 3 of 6 → [0, 2, 5].
    """
    return [int(i) for i in np.linspace(0, total - 1, n)]


def _bart_config(
    settings: BackboneSettings, *, heads: int, feed_forward: int, **values: Any
) -> BartConfig:
    return BartConfig(
        encoder_layers=settings.encoder_layers,
        decoder_layers=settings.decoder_layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=feed_forward,
        decoder_ffn_dim=feed_forward,
        forced_eos_token_id=None,
        attn_implementation=fast_attention(),
        **values,
    )


def _backbone(
    model: BartForConditionalGeneration, tokenizer: PreTrainedTokenizerBase, length: int
) -> Backbone:
    backbone = Backbone(model, tokenizer, PromptFormat(max_source_tokens=length))
    add_marks(backbone)
    return backbone


def _bart_weights(
    encoder: PreTrainedModel, bart: BartForConditionalGeneration
) -> dict[str, torch.Tensor]:
    """Rename the weights of a BERT to those of a BART."""
    source, target = encoder.state_dict(), bart.state_dict()
    words = source["embeddings.word_embeddings.weight"]
    table = source["embeddings.position_embeddings.weight"]
    table = table + source["embeddings.token_type_embeddings.weight"][0]
    copied = {"model.shared.weight": words, "lm_head.weight": words}
    for side, layer_names in (("encoder", _LAYER), ("decoder", _LAYER | _CROSS_ATTENTION)):
        prefix = f"model.{side}"
        positions = f"{prefix}.embed_positions.weight"
        copied[f"{prefix}.embed_tokens.weight"] = words
        copied[positions] = torch.cat([target[positions][:_POSITION_OFFSET], table])
        names = {f"{prefix}.layernorm_embedding": "embeddings.LayerNorm"}
        depth = getattr(bart.config, f"{side}_layers")
        for number, layer in enumerate(evenly_spaced(depth, encoder.config.num_hidden_layers)):
            for name, bert in layer_names.items():
                names[f"{prefix}.layers.{number}.{name}"] = f"encoder.layer.{layer}.{bert}"
        for name, bert in names.items():
            for kind in ("weight", "bias"):
                copied[f"{name}.{kind}"] = source[f"{bert}.{kind}"]
    return copied


def _train_tokenizer(names: Iterable[str], vocabulary_size: int) -> PreTrainedTokenizerFast:
    """RETURNS (PreTrainedTokenizerFast): a byte-level BPE that can read any text."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator((" " + name for name in names), trainer)
    bpe.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    )
