"""The model that a recognizer's training starts from: an encoder and its tokenizer.

a recognizer   to continue from
a BART         its encoder: a linker's model
a BERT         its layers as the encoder of a BART, all of them or some
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import AutoConfig, BartConfig
from transformers.models.bart.modeling_bart import BartEncoder

from ...about import DATA, SHIPPED_NAMES
from ...errors import AngelError
from ...model.bart import is_supported
from ...model.checkpoint import checkpoint_folder, open_checkpoint
from ...model.seq2seq import first_sentence
from ...recognition.finder import CONFIG_FILE, ENCODER_FIELDS, FinderConfig, MentionFinder
from ...recognition.words import WordReader
from ..models.backbone_kinds import from_encoder
from ..models.backbones import fast_attention
from ..settings.config_tables import BackboneSettings
from .config import RecogniserSettings

_TOKENIZER = "tokenizer.json"
_IN_PIPELINE = Path("angel_recogniser", "model")


@dataclass(frozen=True)
class Start:
    """What is trained, before it is.

    encoder (Any): transformers' BartEncoder.
    form (FinderConfig): what the recognizer will be.
    reader (WordReader): its tokenizer.
    source (MentionFinder | None): whose weights it takes.
    """

    encoder: Any
    form: FinderConfig
    reader: WordReader
    source: MentionFinder | None = None


def recogniser_folder(name_or_path: str) -> Path:
    """Find a recognizer.

    name_or_path (str): folder of a recognizer or of a pipeline with one, or the name of a shipped
        pipeline.
    RETURNS (Path): the recognizer's folder, whether it exists or not.
    """
    folder = DATA / name_or_path if name_or_path in SHIPPED_NAMES else Path(name_or_path)
    return folder if (folder / CONFIG_FILE).is_file() else folder / _IN_PIPELINE


def open_start(settings: RecogniserSettings) -> Start:
    """Open the model that a recognizer starts from.

    settings (RecogniserSettings): name the model.
    RETURNS (Start): opened.
    RAISES (AngelError): there is no such model or recognizer, it is of another kind, it has no
        `tokenizer.json`, or the windows do not fit.
    """
    if settings.source:
        source = MentionFinder.from_disk(recogniser_folder(settings.source))
        fields = source.config.encoder
        encoder = BartEncoder(BartConfig(**fields, attn_implementation=fast_attention()))
        return Start(encoder, _form(settings, fields), WordReader(source.definition), source)
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
    model: Any
    if is_bert:
        backbone = BackboneSettings(
            kind="encoder",
            name=settings.start,
            encoder_layers=settings.layers or config.num_hidden_layers,
            decoder_layers=1,
            max_source_tokens=settings.window,
        )
        model = from_encoder(backbone).model
    else:
        checkpoint = open_checkpoint(settings.start)
        model = checkpoint.module(attn_implementation=fast_attention())
    form = _form(settings, {name: getattr(model.config, name) for name in ENCODER_FIELDS})
    return Start(model.get_encoder(), form, WordReader(definition.read_text(encoding="utf8")))


def _form(settings: RecogniserSettings, encoder: dict[str, Any]) -> FinderConfig:
    try:
        return FinderConfig(settings.labels, settings.window, settings.overlap, encoder)
    except ValueError as error:
        raise AngelError(f"The config [recogniser] is not valid: {error}.") from error
