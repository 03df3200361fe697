"""What every family's `config.json` has to be before a model is made of it."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ..errors import AngelError
from ..files.json_values import parse_as

CONFIG_FILE = "config.json"
_MOST = 2**31 - 1

TokenId = Annotated[int, Field(ge=0, le=_MOST)]
Size = Annotated[int, Field(ge=1, le=_MOST)]


class ConfigFile(BaseModel):
    """Identifiers of tokens, sizes and words under the names that transformers' encoder-decoders
    share; a pair of models has a config for each side. All else is the family's."""

    model_config = ConfigDict(strict=True)

    model_type: str | None = None
    activation_function: str | None = None
    eos_token_id: TokenId | None = None
    pad_token_id: TokenId | None = None
    decoder_start_token_id: TokenId | None = None
    vocab_size: Size | None = None
    d_model: Size | None = None
    encoder_layers: Size | None = None
    decoder_layers: Size | None = None
    encoder_attention_heads: Size | None = None
    decoder_attention_heads: Size | None = None
    encoder_ffn_dim: Size | None = None
    decoder_ffn_dim: Size | None = None
    max_position_embeddings: Size | None = None
    encoder: "ConfigFile | None" = None
    decoder: "ConfigFile | None" = None

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> "ConfigFile":
        for name in ("encoder_attention_heads", "decoder_attention_heads"):
            heads = getattr(self, name)
            if self.d_model and heads and self.d_model % heads:
                raise ValueError(f"{name} = {heads} does not divide d_model = {self.d_model}")
        return self


def check_config(folder: Path) -> None:
    """folder (Path): of a checkpoint; one without the file is left to transformers.

    RAISES (AngelError): `config.json` is damaged; names what was expected and what came.
    """
    file = folder / CONFIG_FILE
    if not file.is_file():
        return
    try:
        parse_as(file.read_bytes(), ConfigFile)
    except ValueError as error:
        problem = f"{CONFIG_FILE}: {error}"
        raise AngelError(f"Cannot load the model in {folder}: {problem}.") from error
