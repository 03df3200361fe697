"""A small BART with random weights and a tokenizer of its own."""

from collections.abc import Iterable

from transformers import BartConfig, BartForConditionalGeneration
from transformers.tokenization_utils_fast import PreTrainedTokenizerFast

from ...model.prompts import PromptFormat
from ..settings.config_tables import BackboneSettings
from .backbones import Backbone, add_marks, fast_attention


def fresh_bart(settings: BackboneSettings, names: Iterable[str]) -> Backbone:
    """A small BART with random weights and a byte-level BPE trained on the vocabulary.

    settings (BackboneSettings): sizes.
    names (Iterable[str]): what the tokenizer is trained on.
    RETURNS (Backbone): marks are added tokens.
    """
    tokenizer = _train_tokenizer(names, settings.vocabulary_size)
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=settings.width,
        encoder_layers=settings.encoder_layers,
        decoder_layers=settings.decoder_layers,
        encoder_attention_heads=settings.heads,
        decoder_attention_heads=settings.heads,
        encoder_ffn_dim=4 * settings.width,
        decoder_ffn_dim=4 * settings.width,
        max_position_embeddings=settings.max_source_tokens,
        # With the usual 0.02 a narrow model does not learn to read its source.
        init_std=min(0.1, settings.width**-0.5),
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=None,
        attn_implementation=fast_attention(),
    )
    prompt = PromptFormat(max_source_tokens=settings.max_source_tokens)
    backbone = Backbone(BartForConditionalGeneration(config), tokenizer, prompt)
    add_marks(backbone)
    return backbone


def _train_tokenizer(names: Iterable[str], vocabulary_size: int) -> PreTrainedTokenizerFast:
    """RETURNS (PreTrainedTokenizerFast): a byte-level BPE that can read any text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

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
