"""A checkpoint's `config.json`, checked before a model is created from it. It suffices for
searching with a BART; other configs are read by transformers, which takes longer to import than
anything else."""

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ..errors import AngelError
from ..files.atomic import write_text
from ..files.json_values import parse_as
from . import bart

CONFIG_FILE = "config.json"
_MAX = 2**31 - 1

TokenId = Annotated[int, Field(ge=0, le=_MAX)]
Size = Annotated[int, Field(ge=1, le=_MAX)]
# Fields with other names, or a class that is part of the checkpoint.
_ELSEWHERE = {"num_attention_heads", "hidden_size", "auto_map"}


class ConfigFile(BaseModel):
    """The fields that the search needs, with the defaults of BartConfig. Other fields are kept, but
    not checked."""

    model_config = ConfigDict(strict=True, extra="allow")

    model_type: str | None = None
    tie_word_embeddings: bool | None = True
    scale_embedding: bool | None = False
    activation_function: str | None = "gelu"
    eos_token_id: TokenId | None = None
    decoder_start_token_id: TokenId | None = None
    d_model: Size | None = None
    encoder_layers: Size | None = None
    decoder_layers: Size | None = None
    encoder_attention_heads: Size | None = None
    decoder_attention_heads: Size | None = None
    max_position_embeddings: Size | None = None

    @property
    def is_whole(self) -> bool:
        """RETURNS (bool): whether it is a BART that `bart` supports, with all fields that have no
        default here."""
        is_own = not _ELSEWHERE & set(self.model_extra or ())
        is_full = all(getattr(self, name) is not None for name in type(self).model_fields)
        return is_own and is_full and bart.is_supported(self)

    def save_pretrained(self, folder: Path) -> None:
        """folder (Path): exists; gets a `config.json` as transformers writes it."""
        values = self.model_dump(exclude_unset=True)
        write_text(folder / CONFIG_FILE, json.dumps(values, indent=2, sort_keys=True) + "\n")


def read_config(folder: Path, only_search: bool) -> Any:
    """folder (Path): of a checkpoint. only_search (bool): no model of transformers will be created
        from it.
    RETURNS (Any): a `ConfigFile` if that suffices, or else a PretrainedConfig.
    RAISES (AngelError): `config.json` is missing or damaged; states what was expected and found."""
    file = folder / CONFIG_FILE
    try:
        config = parse_as(file.read_bytes() if file.is_file() else b"{}", ConfigFile)
    except ValueError as error:
        raise AngelError(f"Cannot load the model in {folder}: {CONFIG_FILE}: {error}.") from error
    if only_search and config.is_whole:
        return config
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise AngelError(f"Cannot load the model in {folder}: {first_sentence(error)}.") from error


def first_sentence(error: Exception) -> str:
    """error (Exception): of transformers. RETURNS (str): its message without the list of all
    models."""
    return " ".join(str(error).split()).split(". ")[0]
