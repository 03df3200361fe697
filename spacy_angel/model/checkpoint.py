"""Checkpoints: weights, tokenizer, and prompt settings in one folder, for search or training."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ..about import SHIPPED_NAMES, shipped_folder
from ..errors import AngelError
from ..files.json_values import parse_as
from .bart import BartModel, is_supported
from .config_file import ConfigFile, read_config
from .interface import Model
from .presets import preset_named, preset_of
from .prompts import PromptEncoder, PromptFormat
from .seq2seq import GenericModel, load_module
from .tokenizer import read_tokenizer

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "int8": torch.int8,
}
PROMPT_FILE = "angel.json"
# Folders of the model within a saved pipeline.
_IN_PIPELINE = Path("angel_linker") / "model"
_HUB_FILES = ["*.json", "*.txt", "*.model", "model*.safetensors", "pytorch_model*.bin"]


@dataclass(frozen=True)
class Checkpoint:
    """The content of a checkpoint folder; weights are not read yet.

    folder (Path): a folder in Hugging Face's format.
    config (Any): PretrainedConfig of an encoder-decoder, or the parts that the search needs.
    tokenizer (Any): PreTrainedTokenizerBase of the model, or the parts that the search needs.
    format (PromptFormat): the prompt format, limited to the length that the model can read.
    """

    folder: Path
    config: Any
    tokenizer: Any
    format: PromptFormat

    @property
    def prompts(self) -> PromptEncoder:
        """RETURNS (PromptEncoder): converts mentions and names to token ids."""
        return prompt_encoder(self.config, self.tokenizer, self.format)

    def model(self, device: torch.device, dtype: torch.dtype) -> Model:
        """device (torch.device), dtype (torch.dtype): device and type of the weights.
        RETURNS (Model): for the search. RAISES (AngelError): the files or the type cannot be used.
        """
        kind = BartModel if is_supported(self.config) else GenericModel
        return kind.from_disk(self.folder, self.config, device, dtype)

    def module(self, **options: Any) -> "PreTrainedModel":
        """Load the model for training, in float32 whatever the type in the folder.

        options (Any): options of transformers' `from_pretrained`, e.g. `attn_implementation`.
        RETURNS (PreTrainedModel): the model of transformers.
        RAISES (AngelError): the weights cannot be read, or belong to another model.
        """
        return load_module(self.folder, self.config, **options)


def open_checkpoint(
    name_or_path: str | Path,
    *,
    tokenizer: str | Path | None = None,
    only_search: bool = False,
    preset: str | None = None,
    local_files_only: bool = False,
) -> Checkpoint:
    """Find a checkpoint and read everything except the weights; published checkpoints need no
    conversion.

    name_or_path (str | Path): see `checkpoint_folder`.
    tokenizer (str | Path | None): folder or name; required if the checkpoint has no tokenizer.
    only_search (bool): it will not be trained; config and tokenizer are read without transformers
        (`ConfigFile`, `PlainTokenizer`) if possible.
    preset (str | None): name in `presets.PRESETS`, which replaces the prompt format saved with the
        checkpoint or inferred from its name.
    local_files_only (bool): never contact the hub.
    RETURNS (Checkpoint): to be searched with or trained.
    RAISES (AngelError): a file is missing, unreadable, or incomplete.
    """
    folder = checkpoint_folder(name_or_path, local_files_only)
    source = folder if tokenizer is None else checkpoint_folder(tokenizer, local_files_only)
    config = read_config(folder, only_search)
    if not (isinstance(config, ConfigFile) or config.is_encoder_decoder):
        raise AngelError(
            "Expected an encoder-decoder such as BART or T5, not a model of type "
            f"{config.model_type!r}."
        )
    is_saved = (source / PROMPT_FILE).is_file()
    words = read_tokenizer(source, as_saved=only_search and is_saved)
    eos, start = config.eos_token_id, config.decoder_start_token_id
    if eos is None or start is None:
        raise AngelError(
            f"The config.json in {folder} needs eos_token_id (found {eos}) and "
            f"decoder_start_token_id (found {start})."
        )
    if preset is not None:
        format = preset_named(preset)
    elif (folder / PROMPT_FILE).is_file():
        format = _read_format(folder / PROMPT_FILE)
    else:
        format = preset_of(name_or_path)
    length = min(format.max_source_tokens, max_positions(config, "encoder") or 2**31)
    return Checkpoint(folder, config, words, replace(format, max_source_tokens=length))


def local_folder(name_or_path: str | Path) -> Path | None:
    """Find the folder of a checkpoint on this machine.

    name_or_path (str | Path): a folder in Hugging Face's format; a name on the hub, optionally with
        a revision (`dmis-lab/ANGEL_ncbi@main`); the folder of a saved pipeline, for the model of
        its linker; or `en_angel_mini` or `en_angel_bio`, for the shipped model.
    RETURNS (Path | None): the folder; None for a name on the hub.
    RAISES (AngelError): it is neither a folder nor can be a name on the hub.
    """
    path = shipped_folder() if name_or_path in SHIPPED_NAMES else Path(name_or_path)
    # "" would be the working directory.
    if str(name_or_path) and path.is_dir():
        within = path / _IN_PIPELINE
        return within if (within / "config.json").is_file() else path
    if path.is_absolute() or str(name_or_path).count("/") != 1:
        raise AngelError(
            f"{name_or_path} is neither a folder, nor an installed pipeline, nor a name on the "
            "Hugging Face hub."
        )
    return None


def checkpoint_folder(name_or_path: str | Path, local_files_only: bool = False) -> Path:
    """Find the folder of a checkpoint.

    name_or_path (str | Path): see `local_folder`.
    local_files_only (bool): never contact the hub.
    RETURNS (Path): the folder, downloaded if it is a name on the hub.
    RAISES (AngelError): there is no such folder or name.
    """
    if (found := local_folder(name_or_path)) is not None:
        return found
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    name, _, revision = str(name_or_path).partition("@")
    try:
        folder = snapshot_download(
            name,
            revision=revision or None,
            allow_patterns=_HUB_FILES,
            local_files_only=local_files_only,
        )
        return Path(folder)
    except (OSError, HfHubHTTPError, HFValidationError, LocalEntryNotFoundError) as error:
        reason = str(error).rstrip(".\n ")
        raise AngelError(
            f"Cannot download the model {name_or_path} from the Hugging Face hub: {reason}."
        ) from error


def prompt_encoder(
    config: "PretrainedConfig", tokenizer: "PreTrainedTokenizerBase", format: PromptFormat
) -> PromptEncoder:
    """RETURNS (PromptEncoder): the prompt encoder for this config, tokenizer, and prompt format."""
    return PromptEncoder(
        tokenizer,
        format,
        config.decoder_start_token_id,
        config.eos_token_id,
        max_positions(config, "decoder"),
    )


def max_positions(config: "PretrainedConfig", side: str) -> int | None:
    """Return the maximum input length of a model.

    config (PretrainedConfig): config of the whole model; some models have a config for each side,
        and some families a limit for each.
    side (str): `encoder` or `decoder`.
    RETURNS (int | None): number of tokens; None if positions are relative and there is no limit.
    """
    of_side = getattr(config, side, None) or config
    both = getattr(of_side, "max_position_embeddings", None)
    return getattr(of_side, f"max_{side}_position_embeddings", both)


def model_of_module(module: "PreTrainedModel", dtype: torch.dtype) -> Model:
    """Use a model in memory, e.g. one that is being trained.

    module (PreTrainedModel): in evaluation mode.
    dtype (torch.dtype): type of the weights, for a BART.
    RETURNS (Model): for the search; a copy of the weights of a BART, any other model itself.
    """
    if is_supported(module.config):
        return BartModel(module.config, module.state_dict(), module.device, dtype)
    return GenericModel(module)


def save_settings(folder: Path, tokenizer: "PreTrainedTokenizerBase", format: PromptFormat) -> None:
    """Write tokenizer and prompt format next to weights and config.

    folder (Path): exists.
    tokenizer (PreTrainedTokenizerBase), format (PromptFormat): those of the model.
    """
    # The tokenizer.json of a fast tokenizer contains everything; its older files repeat it.
    tokenizer.save_pretrained(folder, legacy_format=False if tokenizer.is_fast else None)
    text = json.dumps(asdict(format), indent=2, ensure_ascii=False)
    (folder / PROMPT_FILE).write_text(text + "\n", encoding="utf8")


def _read_format(file: Path) -> PromptFormat:
    try:
        format = parse_as(file.read_bytes(), PromptFormat)
    except ValueError as error:
        raise AngelError(f"Cannot read the prompt settings {file}: {error}.") from error
    preset_named(format.preset)
    return format
