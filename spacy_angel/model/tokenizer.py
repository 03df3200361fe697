"""The class of a checkpoint's tokenizer, without the imports of AutoTokenizer."""

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ..files.json_values import parse_as

# What the names of their files begin and end with, of any family.
_PREFIXES = ("tokenizer", "vocab")
_ENDINGS = (".model", "merges.txt")
_OF_BART = {"vocab.json", "merges.txt"}
# Any of them says more.
_TELLING = {"config.json", "tokenizer_config.json", "tokenizer.json"}


class _Settings(BaseModel, strict=True):
    """Of a `tokenizer_config.json` what is read, here and by every tokenizer."""

    tokenizer_class: str | None = None
    auto_map: Any = None
    model_max_length: int | float | None = None
    added_tokens_decoder: dict[str, dict[str, Any]] | None = None


def tokenizer_class(folder: Path) -> Any:
    """What `AutoTokenizer.from_pretrained` would open a folder with. Importing AutoTokenizer
    imports all of transformers' generation, which takes longer than the rest of the start.

    folder (Path): of a checkpoint.
    RETURNS (Any): the class that its `tokenizer_config.json` names, the fast one where there is
        one; BART's for a vocabulary and merges alone, which is how it was published; AutoTokenizer
        itself where nothing names one, or one that comes with the checkpoint.
    RAISES (ValueError): the file is damaged.
    RAISES (FileNotFoundError): there is no file of a tokenizer.
    """
    import transformers

    names = [file.name for file in folder.iterdir()]
    # From version 5 on, transformers makes an empty tokenizer of nothing.
    if not any(name.startswith(_PREFIXES) or name.endswith(_ENDINGS) for name in names):
        raise FileNotFoundError("there is no file of a tokenizer")
    # Before, it guessed from the folder's name.
    if set(names) >= _OF_BART and not _TELLING & set(names):
        return transformers.BartTokenizerFast
    file = folder / "tokenizer_config.json"
    settings = parse_as(file.read_bytes() if file.is_file() else "{}", _Settings)
    name = settings.tokenizer_class
    if name is not None and settings.auto_map is None:
        for candidate in (f"{name.removesuffix('Fast')}Fast", name):
            value = getattr(transformers, candidate, None)
            if isinstance(value, type) and issubclass(value, transformers.PreTrainedTokenizerBase):
                return value
    return transformers.AutoTokenizer
