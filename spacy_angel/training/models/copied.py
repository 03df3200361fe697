"""A small BART that starts as a BERT-like encoder."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer, BartConfig, BartForConditionalGeneration

from ...errors import AngelError
from ...model.checkpoint import checkpoint_folder
from ...model.prompts import PromptFormat
from ..settings.config_tables import BackboneSettings
from .backbones import Backbone, add_marks, fast_attention

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

# BART looks a position up two rows further down its table.
_POSITION_OFFSET = 2


def from_encoder(settings: BackboneSettings) -> Backbone:
    """A small BART that starts as a BERT-like encoder.

    Both normalise after each block, so layers fit as they are: evenly spaced ones go into the
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
    encoder: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
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
    config = _bart_config(bert, tokenizer, settings)
    bart = BartForConditionalGeneration(config)
    bart.load_state_dict(bart.state_dict() | _bart_weights(encoder, bart))
    length = min(settings.max_source_tokens, bert.max_position_embeddings)
    backbone = Backbone(bart, tokenizer, PromptFormat(max_source_tokens=length))
    add_marks(backbone)
    return backbone


def _bart_config(
    bert: "PretrainedConfig", tokenizer: "PreTrainedTokenizerBase", settings: BackboneSettings
) -> BartConfig:
    return BartConfig(
        vocab_size=bert.vocab_size,
        max_position_embeddings=bert.max_position_embeddings,
        d_model=bert.hidden_size,
        encoder_layers=settings.encoder_layers,
        decoder_layers=settings.decoder_layers,
        encoder_attention_heads=bert.num_attention_heads,
        decoder_attention_heads=bert.num_attention_heads,
        encoder_ffn_dim=bert.intermediate_size,
        decoder_ffn_dim=bert.intermediate_size,
        activation_function=bert.hidden_act,
        init_std=bert.initializer_range,
        bos_token_id=tokenizer.cls_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.sep_token_id,
        decoder_start_token_id=tokenizer.cls_token_id,
        forced_eos_token_id=None,
        attn_implementation=fast_attention(),
    )


def _bart_weights(
    encoder: "PreTrainedModel", bart: BartForConditionalGeneration
) -> dict[str, torch.Tensor]:
    """RETURNS (dict[str, Tensor]): the encoder's weights under the names of the BART's."""
    source = encoder.state_dict()
    target = bart.state_dict()
    words = source["embeddings.word_embeddings.weight"]
    table = source["embeddings.position_embeddings.weight"]
    table = table + source["embeddings.token_type_embeddings.weight"][0]
    copied = {"model.shared.weight": words, "lm_head.weight": words}
    for side in ("encoder", "decoder"):
        copied[f"model.{side}.embed_tokens.weight"] = words
        name = f"model.{side}.embed_positions.weight"
        copied[name] = torch.cat([target[name][:_POSITION_OFFSET], table])
        for kind in ("weight", "bias"):
            copied[f"model.{side}.layernorm_embedding.{kind}"] = source[
                f"embeddings.LayerNorm.{kind}"
            ]
        depth = getattr(bart.config, f"{side}_layers")
        for to, layer in enumerate(spread(depth, encoder.config.num_hidden_layers)):
            copied |= _layer(source, layer, f"model.{side}.layers.{to}", side == "decoder")
    return copied


def _layer(
    source: dict[str, torch.Tensor], layer: int, to: str, crosses: bool
) -> dict[str, torch.Tensor]:
    """Weights of one BERT layer under BART's names."""
    attention = {
        "q_proj": "attention.self.query",
        "k_proj": "attention.self.key",
        "v_proj": "attention.self.value",
        "out_proj": "attention.output.dense",
    }
    names = {
        "self_attn_layer_norm": "attention.output.LayerNorm",
        "fc1": "intermediate.dense",
        "fc2": "output.dense",
        "final_layer_norm": "output.LayerNorm",
        **{f"self_attn.{name}": of for name, of in attention.items()},
    }
    if crosses:
        names |= {f"encoder_attn.{name}": of for name, of in attention.items()}
        names["encoder_attn_layer_norm"] = "attention.output.LayerNorm"
    return {
        f"{to}.{name}.{kind}": source[f"encoder.layer.{layer}.{of}.{kind}"]
        for name, of in names.items()
        for kind in ("weight", "bias")
    }


def spread(n: int, total: int) -> list[int]:
    """n of `total` layers, the first and the last among them: 3 of 6 → [0, 2, 5]."""
    return [int(i) for i in np.linspace(0, total - 1, n)]
