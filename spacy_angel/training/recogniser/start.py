"""Where a recogniser's training begins: an encoder, and the tokenizer that goes with it.

a recogniser   that it goes on from
a BART's       encoder as it is: a linker's model, or what `copied` made
BERT           its layers as a BART's encoder, all of them or some
any other      as transformers computes it: a teacher, too large to ship (`teacher`)
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoModel, AutoTokenizer, BartConfig
from transformers.models.bart.modeling_bart import BartEncoder

from ...errors import AngelError
from ...model.bart import is_supported
from ...model.checkpoint import checkpoint_folder, open_checkpoint
from ...model.seq2seq import first_sentence
from ...recognition.finder import ENCODER_FIELDS, FinderConfig, MentionFinder
from ...recognition.words import WordReader
from ..models.backbones import fast_attention
from ..models.copied import from_encoder
from ..settings.config_tables import BackboneSettings
from .config import RecogniserSettings
from .source import open_source, with_layers

_TOKENIZER = "tokenizer.json"


@dataclass(frozen=True)
class Start:
    """What is trained, before it is.

    encoder (Any): a module of transformers.
    form (FinderConfig): what the recogniser will be.
    reader (WordReader): its tokenizer.
    is_teacher (bool): the encoder is none that `recognition.network` computes.
    source (MentionFinder | None): whose weights it takes.
    """

    encoder: Any
    form: FinderConfig
    reader: WordReader
    is_teacher: bool = False
    source: MentionFinder | None = None


def open_start(settings: RecogniserSettings) -> Start:
    """settings (RecogniserSettings): name the model. RETURNS (Start): opened.
    RAISES (AngelError): there is no such model or recogniser, one without `tokenizer.json`, an
        encoder-decoder that is no BART, or windows that do not fit."""
    if settings.source:
        return _of_source(settings)
    folder = checkpoint_folder(settings.start)
    try:
        config: Any = AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise AngelError(f"Cannot load the model in {folder}: {first_sentence(error)}.") from error
    if not (folder / _TOKENIZER).is_file():
        raise AngelError(
            f"A recognizer starts from a BART with a tokenizer.json; {folder} is a "
            f"{config.model_type}."
        )
    if config.is_encoder_decoder:
        return _of_bart(settings)
    if config.model_type == "bert":
        return _of_bert(settings, config.num_hidden_layers)
    return _of_other(settings, folder, config)


def _of_source(settings: RecogniserSettings) -> Start:
    source = open_source(settings.source)
    if settings.layers:
        source = with_layers(source, settings.layers)
    encoder = BartEncoder(BartConfig(**source.config.encoder, attn_implementation=fast_attention()))
    form = _form(settings, source.config.encoder)
    return Start(encoder, form, WordReader(source.definition), source=source)


def _of_bart(settings: RecogniserSettings) -> Start:
    checkpoint = open_checkpoint(settings.start)
    if not is_supported(checkpoint.config):
        model_type = checkpoint.config.model_type
        raise AngelError(
            f"A recognizer starts from a BART with a tokenizer.json; {checkpoint.folder} is a "
            f"{model_type}."
        )
    model: Any = checkpoint.module(attn_implementation=fast_attention())
    return _start(settings, model.get_encoder(), checkpoint.config, checkpoint.folder)


def _of_bert(settings: RecogniserSettings, depth: int) -> Start:
    backbone = from_encoder(
        BackboneSettings(
            "encoder",
            settings.start,
            encoder_layers=settings.layers or depth,
            decoder_layers=1,
            max_source_tokens=settings.window,
        )
    )
    model: Any = backbone.model
    return _start(settings, model.get_encoder(), model.config, checkpoint_folder(settings.start))


def _of_other(settings: RecogniserSettings, folder: Path, config: Any) -> Start:
    encoder = AutoModel.from_pretrained(folder, add_pooling_layer=False)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    own = {
        "activation_function": config.hidden_act,
        "bos_token_id": tokenizer.cls_token_id,
        "d_model": config.hidden_size,
        "encoder_attention_heads": config.num_attention_heads,
        "encoder_ffn_dim": config.intermediate_size,
        "encoder_layers": config.num_hidden_layers,
        "eos_token_id": tokenizer.sep_token_id,
        "max_position_embeddings": config.max_position_embeddings,
        "pad_token_id": config.pad_token_id,
        "scale_embedding": False,
        "vocab_size": config.vocab_size,
    }
    return _start(settings, encoder, own, folder, is_teacher=True)


def _start(
    settings: RecogniserSettings,
    encoder: Any,
    config: Any,
    folder: Path,
    *,
    is_teacher: bool = False,
) -> Start:
    if not isinstance(config, dict):
        config = {name: getattr(config, name) for name in ENCODER_FIELDS}
    form = _form(settings, config)
    definition = (folder / _TOKENIZER).read_text(encoding="utf8")
    return Start(encoder, form, WordReader(definition), is_teacher)


def _form(settings: RecogniserSettings, encoder: dict[str, Any]) -> FinderConfig:
    try:
        return FinderConfig(settings.labels, settings.window, settings.overlap, encoder)
    except ValueError as error:
        raise AngelError(f"The config [recogniser] is not valid: {error}.") from error
