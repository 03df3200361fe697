"""Models to train: weights, tokenizer, and prompt settings.

Training starts from a checkpoint, or from a small BART with random weights or the weights of a
BERT.
"""

import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from huggingface_hub import HfApi
from tokenizers import ByteLevelBPETokenizer, processors
from transformers import (
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.tokenization_utils_fast import PreTrainedTokenizerFast
from transformers.utils import logging

from ...errors import AngelError, missing_package
from ...files.atomic import replacing_folder
from ...model.checkpoint import (
    PROMPT_FILE,
    checkpoint_folder,
    max_positions,
    open_checkpoint,
    prompt_encoder,
    save_settings,
)
from ...model.presets import preset_of
from ...model.prompts import PromptEncoder, PromptFormat
from ..settings.config_tables import BackboneSettings

_ADDED_MARKS = ("[START]", "[END]")
# BART's position embeddings have an offset of two rows.
_POSITION_OFFSET = 2
# Modules of a layer in BART → modules of the same layer in BERT.
_BERT_MODULES = {
    "q_proj": "attention.self.query",
    "k_proj": "attention.self.key",
    "v_proj": "attention.self.value",
    "out_proj": "attention.output.dense",
    "self_attn_layer_norm": "attention.output.LayerNorm",
    "encoder_attn_layer_norm": "attention.output.LayerNorm",
    "fc1": "intermediate.dense",
    "fc2": "output.dense",
    "final_layer_norm": "output.LayerNorm",
}
_IN_LAYER = re.compile(r"model\.(\w+)\.layers\.(\d+)\.(?:\w+_attn\.)?(\w+)\.(weight|bias)")


@dataclass
class Backbone:
    """Weights, tokenizer, and prompt settings, which are saved together.

    model (PreTrainedModel): encoder-decoder.
    tokenizer (PreTrainedTokenizerBase): its tokenizer.
    format (PromptFormat): its prompt format.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    format: PromptFormat

    @property
    def prompts(self) -> PromptEncoder:
        """RETURNS (PromptEncoder): the prompt encoder of this model."""
        return prompt_encoder(self.model.config, self.tokenizer, self.format)

    @property
    def max_target_tokens(self) -> int:
        """RETURNS (int): maximum length of the decoder input; for a model with relative positions,
        that of the encoder input."""
        positions = max_positions(self.model.config, "decoder")
        return positions or self.format.max_source_tokens

    def save(self, folder: Path) -> None:
        """Write a Hugging Face folder, replacing an existing one.

        folder (Path): written atomically.
        """
        with replacing_folder(folder, lambda _: True) as parts:
            merged(self.model).save_pretrained(parts)
            save_settings(parts, self.tokenizer, self.format)


def load_backbone(
    name_or_path: str | Path,
    max_source_tokens: int | None = None,
    *,
    tokenizer: str | None = None,
    preset: str | None = None,
) -> Backbone:
    """Load an encoder-decoder checkpoint: BART, BioBART, GenBioEL, T5, or the result of a stage.

    name_or_path (str | Path): see `model.checkpoint.checkpoint_folder`.
    max_source_tokens (int | None): overrides the saved length, up to the maximum of the model.
    tokenizer (str | None): for a checkpoint without prompt settings, such as the published ones;
        see `model.checkpoint.open_checkpoint`.
    preset (str | None): overrides the saved prompt settings.
    RETURNS (Backbone): with its saved prompt settings, or the published ones. Marks that the
        tokenizer cannot distinguish from words become added tokens.
    RAISES (AngelError): see `model.checkpoint.open_checkpoint`, `Checkpoint.module`.
    """
    folder = checkpoint_folder(name_or_path)
    if (folder / PROMPT_FILE).is_file():
        tokenizer = None
    else:
        preset = preset or preset_of(name_or_path).preset
    checkpoint = open_checkpoint(folder, tokenizer=tokenizer, preset=preset)
    model = checkpoint.module(attn_implementation=fast_attention())
    length = max_source_tokens or checkpoint.format.max_source_tokens
    length = min(length, max_positions(model.config, "encoder") or length)
    format = replace(checkpoint.format, max_source_tokens=length)
    backbone = Backbone(model, checkpoint.tokenizer, format)
    return backbone if tells_marks(backbone.tokenizer, format) else with_marks(backbone)


def with_adapters(backbone: Backbone, settings: Mapping[str, Any]) -> Backbone:
    """Train only low-rank adapters (LoRA, Hu et al. 2021), which are merged into the saved weights.

    backbone (Backbone): its weights are frozen in place.
    settings (Mapping[str, Any]): arguments of peft's `LoraConfig`; empty to train all weights.
    RETURNS (Backbone): the model to train.
    RAISES (AngelError): peft is not installed, or an argument is invalid.
    """
    if not settings:
        return backbone
    try:
        from peft import LoraConfig, get_peft_model

        model: Any = get_peft_model(backbone.model, LoraConfig(**settings))
    except ImportError as error:
        raise AngelError(missing_package("LoRA", "peft", "lora")) from error
    except (TypeError, ValueError) as error:
        raise AngelError(f"The config [lora] is not valid: {error}.") from error
    return replace(backbone, model=model)


def merged(model: Any) -> Any:
    """model (Any): with or without adapters. RETURNS (Any): a copy with the adapters merged in, or
    the model itself if it has none."""
    has_adapters = hasattr(model, "merge_and_unload")
    return copy.deepcopy(model).merge_and_unload() if has_adapters else model


def push_to_hub(folder: Path, name: str) -> str:
    """Upload a model to the Hugging Face Hub, with the credentials of `huggingface-cli login`.

    folder (Path): folder of the model.
    name (str): name of the repository, which is created if it does not exist.
    RETURNS (str): its address.
    RAISES (AngelError): the Hub rejects the upload.
    """
    api = HfApi()
    try:
        address = api.create_repo(name, exist_ok=True)
        api.upload_folder(repo_id=name, folder_path=folder, commit_message="Upload the model")
    except (OSError, ValueError) as error:
        raise AngelError(f"Cannot upload {folder} to {name}: {error}") from error
    return str(address)


def tells_marks(tokenizer: PreTrainedTokenizerBase, prompt: PromptFormat) -> bool:
    """Check whether the tokenizer distinguishes the marks of a mention from the same words in a
    text.

    tokenizer (PreTrainedTokenizerBase): tokenizer of a model.
    prompt (PromptFormat): START and END.
    RETURNS (bool): False for an uncased WordPiece tokenizer, for which `START` equals `start`.
    """
    marks = [prompt.start_mark, prompt.end_mark]
    ids = tokenizer(marks, add_special_tokens=False)["input_ids"]
    words = tokenizer([mark.lower() for mark in marks], add_special_tokens=False)["input_ids"]
    unknown = tokenizer.unk_token_id
    return all(a != b and unknown not in a for a, b in zip(ids, words, strict=True))


def set_dropout(model: torch.nn.Module, hidden: float, attention: float) -> None:
    """Set the dropout of a model. BART stores it as a number in each layer, T5 as modules.

    model (torch.nn.Module): changed in place.
    hidden (float): after embeddings, attention, and feed-forward blocks; 0 also disables the random
        skipping of layers.
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
    """Choose the implementation of attention that trains fastest. On a CPU, the plain
    implementation is faster for short sources than the fused one, whose backward pass is slow
    there; on a GPU, the opposite is true.

    RETURNS (str): a value for `attn_implementation`.
    """
    return "sdpa" if torch.cuda.is_available() else "eager"


def with_marks(backbone: Backbone) -> Backbone:
    """Add the marks of a mention as tokens.

    backbone (Backbone): changed in place: tokenizer, prompt settings, and rows of the embeddings.
    RETURNS (Backbone): the same.
    """
    start, end = _ADDED_MARKS
    backbone.tokenizer.add_special_tokens({"additional_special_tokens": [start, end]})
    backbone.format = replace(backbone.format, start_mark=start, end_mark=end)
    embeddings: Any = backbone.model.get_input_embeddings()
    if len(embeddings.weight) < len(backbone.tokenizer):
        # transformers would warn that it initializes the new rows as it should.
        verbosity = logging.get_verbosity()
        logging.set_verbosity_error()
        backbone.model.resize_token_embeddings(len(backbone.tokenizer))
        logging.set_verbosity(verbosity)
    return backbone


def make_backbone(settings: BackboneSettings, names: Iterable[str]) -> Backbone:
    """Create the model of a config.

    settings (BackboneSettings): kind, checkpoint, and sizes.
    names (Iterable[str]): names of the vocabulary, only used by `fresh`.
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
    """Create a small BART with random weights and a byte-level BPE tokenizer trained on the
    vocabulary.

    settings (BackboneSettings): sizes.
    names (Iterable[str]): training data of the tokenizer.
    RETURNS (Backbone): marks are added tokens.
    """
    tokenizer = _train_tokenizer(names, settings.vocabulary_size)
    length = settings.max_source_tokens
    bart = _small_bart(
        settings,
        vocab_size=len(tokenizer),
        d_model=settings.width,
        heads=settings.heads,
        feed_forward=4 * settings.width,
        max_position_embeddings=length,
        # With the usual 0.02, a narrow model does not learn to use its source.
        init_std=min(0.1, settings.width**-0.5),
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
    )
    return with_marks(Backbone(bart, tokenizer, PromptFormat(max_source_tokens=length)))


def from_encoder(settings: BackboneSettings) -> Backbone:
    """Create a small BART with the weights of a BERT-like encoder.

    Both normalize after each block, so layers can be copied. Evenly spaced ones become the layers
    of encoder and decoder (Shleifer and Rush 2020); the decoder's cross-attention starts as the
    self-attention of the same layer. BERT adds the first token-type embedding at every position, so
    it is added to the position embeddings.

    settings (BackboneSettings): checkpoint and depth.
    RETURNS (Backbone): marks are added tokens; `[CLS]` starts the decoder.
    RAISES (AngelError): the checkpoint is not BERT-like.
    """
    folder = checkpoint_folder(settings.name)
    bert = AutoConfig.from_pretrained(folder)
    if bert.model_type != "bert":
        raise AngelError(
            f"backbone.kind needs a checkpoint of type 'bert'; {settings.name} is "
            f"{bert.model_type!r}."
        )
    encoder = AutoModel.from_pretrained(folder, add_pooling_layer=False)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    bart = _small_bart(
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
    bart.load_state_dict(bart.state_dict() | _bart_weights(encoder, bart))
    length = min(settings.max_source_tokens, bert.max_position_embeddings)
    return with_marks(Backbone(bart, tokenizer, PromptFormat(max_source_tokens=length)))


def _small_bart(
    settings: BackboneSettings, *, heads: int, feed_forward: int, **values: Any
) -> BartForConditionalGeneration:
    config = BartConfig(
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
    return BartForConditionalGeneration(config)


def _bart_weights(
    encoder: PreTrainedModel, bart: BartForConditionalGeneration
) -> dict[str, torch.Tensor]:
    """Rename the weights of a BERT to those of a BART."""
    source = encoder.state_dict()
    words = source["embeddings.word_embeddings.weight"]
    table = source["embeddings.position_embeddings.weight"]
    table = table + source["embeddings.token_type_embeddings.weight"][0]
    copied = {}
    for name, own in bart.state_dict().items():
        if found := _IN_LAYER.fullmatch(name):
            side, number, module, kind = found.groups()
            depth = getattr(bart.config, f"{side}_layers")
            # These include the first and the last layer: for 3 of 6, they are 0, 2, and 5.
            layers = np.linspace(0, encoder.config.num_hidden_layers - 1, depth).astype(int)
            layer = f"encoder.layer.{layers[int(number)]}"
            copied[name] = source[f"{layer}.{_BERT_MODULES[module]}.{kind}"]
        elif "layernorm_embedding" in name:
            copied[name] = source[f"embeddings.LayerNorm.{name.rpartition('.')[2]}"]
        elif "embed_positions" in name:
            copied[name] = torch.cat([own[:_POSITION_OFFSET], table])
        elif name != "final_logits_bias":
            copied[name] = words
    return copied


def _train_tokenizer(names: Iterable[str], vocabulary_size: int) -> PreTrainedTokenizerFast:
    """RETURNS (PreTrainedTokenizerFast): a byte-level BPE tokenizer, which can encode any text."""
    bpe: Any = ByteLevelBPETokenizer(add_prefix_space=False)
    bpe.train_from_iterator(
        (" " + name for name in names),
        vocabulary_size,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        min_frequency=0,
        show_progress=False,
    )
    bpe.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer,
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    )
