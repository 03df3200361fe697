"""Config and tokenizer of a checkpoint as the search needs them, read without transformers, whose
import takes longer than all else at the start.

Only where their files leave nothing to transformers' own defaults and changes: a BART with the
fast tokenizer of BERT, as `en_angel_mini` and what is trained from it. Every other checkpoint is
opened by transformers.
"""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tokenizers import Tokenizer

from ..files.atomic import write_text
from . import bart

_CONFIG_FILE = "config.json"
_TOKENIZER_FILE = "tokenizer.json"
_TOKENIZER_CONFIG = "tokenizer_config.json"
_TOKENIZER_FILES = (_TOKENIZER_CONFIG, "special_tokens_map.json", _TOKENIZER_FILE)
# What transformers' BartConfig has where the file is silent.
_BART_DEFAULTS: dict[str, Any] = {
    "tie_word_embeddings": True,
    "scale_embedding": False,
    "activation_function": "gelu",
    "model_type": "",
}
_BART_SIZES = (
    "bos_token_id",
    "d_model",
    "decoder_attention_heads",
    "decoder_layers",
    "decoder_start_token_id",
    "encoder_attention_heads",
    "encoder_layers",
    "eos_token_id",
    "max_position_embeddings",
    "pad_token_id",
    "vocab_size",
)
# Other names of the same fields, or a class that comes with the checkpoint.
_ELSEWHERE = {"num_attention_heads", "hidden_size", "auto_map"}
# Settings of BertTokenizerFast and what its normalizer calls them.
_BERT_NORMALIZER = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
_SPECIAL = ("cls_token", "mask_token", "pad_token", "sep_token", "unk_token")


class PlainConfig(SimpleNamespace):
    """The values of a BART's `config.json` as attributes, with transformers' defaults.

    values (dict[str, Any]): as the file holds them.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(**_BART_DEFAULTS | values)
        self._values = values

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._values,)

    def save_pretrained(self, folder: Path) -> None:
        """folder (Path): exists; gets a `config.json` as transformers writes it."""
        text = json.dumps(self._values, indent=2, sort_keys=True) + "\n"
        write_text(folder / _CONFIG_FILE, text)


class PlainTokenizer:
    """A fast tokenizer with as much of transformers' interface as prompts and saving need.

    files (dict[str, str]): the folder's files of the tokenizer, written again as they are.
    """

    is_fast = True

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files
        self.backend_tokenizer = Tokenizer.from_str(files[_TOKENIZER_FILE])
        self.backend_tokenizer.no_truncation()
        self.backend_tokenizer.no_padding()
        self.added_tokens_decoder = self.backend_tokenizer.get_added_tokens_decoder()

    def __call__(
        self,
        text: str | list[str],
        *,
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
        verbose: bool = True,
    ) -> dict[str, Any]:
        """Token ids, neither cut nor padded.

        text (str | list[str]): one text or several.
        add_special_tokens (bool): put around each what the model puts around a text.
        split_special_tokens (bool): special tokens in a text are words like others.
        verbose (bool): has no effect, for there is no warning.
        RETURNS (dict[str, Any]): `input_ids`, one list or several.
        """
        # Only where it differs: it cannot be set while another thread encodes.
        if self.backend_tokenizer.encode_special_tokens != split_special_tokens:
            self.backend_tokenizer.encode_special_tokens = split_special_tokens
        texts = [text] if isinstance(text, str) else text
        encoded = self.backend_tokenizer.encode_batch(texts, add_special_tokens=add_special_tokens)
        rows = [each.ids for each in encoded]
        return {"input_ids": rows[0] if isinstance(text, str) else rows}

    def decode(self, ids: list[int]) -> str:
        """ids (list[int]): token ids. RETURNS (str): what they stand for, special tokens too."""
        return self.backend_tokenizer.decode(ids, skip_special_tokens=False)

    def save_pretrained(self, folder: Path, legacy_format: bool | None = None) -> None:
        """folder (Path): exists. legacy_format (bool | None): has no effect, for there are only
        the files of a fast tokenizer."""
        for name, content in self._files.items():
            write_text(folder / name, content)


def plain_config(folder: Path) -> PlainConfig | None:
    """folder (Path): of a checkpoint. RETURNS (PlainConfig | None): None where the file is missing
    or damaged, of a model that `bart` does not compute, or leaves a number to transformers."""
    values = _read_object(folder / _CONFIG_FILE)
    # `type` and not `isinstance`: True is no size
    if _ELSEWHERE & set(values) or any(type(values.get(name)) is not int for name in _BART_SIZES):
        return None
    config: Any = PlainConfig(values)
    return config if bart.is_supported(config) else None


def plain_tokenizer(folder: Path) -> PlainTokenizer | None:
    """folder (Path): of a checkpoint. RETURNS (PlainTokenizer | None): None where a file is missing
    or damaged, of another class, or transformers would change what `tokenizer.json` holds."""
    settings, special, state = (_read_object(folder / name) for name in _TOKENIZER_FILES)
    try:
        is_plain = bool(special) and _is_plain_bert(settings, state)
    except (AttributeError, KeyError, TypeError, ValueError):
        # Values of other kinds: transformers tells what is wrong.
        is_plain = False
    if not is_plain:
        return None
    return PlainTokenizer({n: (folder / n).read_text(encoding="utf8") for n in _TOKENIZER_FILES})


def _is_plain_bert(settings: dict[str, Any], state: dict[str, Any]) -> bool:
    """settings, state (dict[str, Any]): of `tokenizer_config.json` and `tokenizer.json`."""
    name = settings.get("tokenizer_class")
    if name not in ("BertTokenizer", "BertTokenizerFast") or "auto_map" in settings:
        return False
    normalizer = state.get("normalizer") or {}
    if normalizer.get("type") != "BertNormalizer" or any(
        key not in settings or settings[key] != normalizer.get(part)
        for key, part in _BERT_NORMALIZER.items()
    ):
        return False
    stated = settings.get("added_tokens_decoder") or {}
    added = [{"id": int(id_), **token} for id_, token in stated.items()]
    special = [settings.get(name) for name in _SPECIAL]
    special += settings.get("additional_special_tokens") or []
    return added == state.get("added_tokens") and set(special) <= {t["content"] for t in added}


def _read_object(file: Path) -> dict[str, Any]:
    """RETURNS (dict[str, Any]): a JSON file's values; none of a file that is missing or damaged,
    of which transformers tells what is wrong."""
    try:
        values = json.loads(file.read_text(encoding="utf8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}
