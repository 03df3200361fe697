"""The tokenizer of a checkpoint, read without transformers if `tokenizer.json` suffices for the
search."""

from operator import attrgetter
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from ..errors import AngelError
from ..files.atomic import write_text
from .config_file import first_sentence

_DEFINITION = "tokenizer.json"
_FILES = (_DEFINITION, "tokenizer_config.json", "special_tokens_map.json")
# Beginnings and ends of the names of tokenizer files, for all families.
_PREFIXES = ("tokenizer", "vocab")
_ENDINGS = (".model", "merges.txt")


class PlainTokenizer:
    """A fast tokenizer with the parts of transformers' interface that prompts and saving need.

    files (dict[str, str]): the tokenizer's files, which are saved unchanged.
    """

    is_fast = True

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files
        self.backend_tokenizer = Tokenizer.from_str(files[_DEFINITION])
        self.backend_tokenizer.no_truncation()
        self.backend_tokenizer.no_padding()
        self.added_tokens_decoder = self.backend_tokenizer.get_added_tokens_decoder()

    def __call__(
        self,
        texts: list[str],
        *,
        add_special_tokens: bool = True,
        split_special_tokens: bool = False,
        verbose: bool = True,
    ) -> dict[str, Any]:
        """Return token ids, without truncation or padding.

        texts (list[str]): the texts.
        add_special_tokens (bool): add the special tokens at the beginning and end of each text.
        split_special_tokens (bool): treat special tokens in a text like other words.
        verbose (bool): ignored; there are no warnings.
        RETURNS (dict[str, Any]): `input_ids`, a list for each text.
        """
        # Only where it differs: it cannot be set while another thread encodes.
        if self.backend_tokenizer.encode_special_tokens != split_special_tokens:
            self.backend_tokenizer.encode_special_tokens = split_special_tokens
        encoded = self.backend_tokenizer.encode_batch(texts, add_special_tokens=add_special_tokens)
        return {"input_ids": list(map(attrgetter("ids"), encoded))}

    def decode(self, ids: list[int]) -> str:
        """ids (list[int]): token ids. RETURNS (str): their text, including special tokens."""
        return self.backend_tokenizer.decode(ids, skip_special_tokens=False)

    def save_pretrained(self, folder: Path, legacy_format: bool | None = None) -> None:
        """folder (Path): exists. legacy_format (bool | None): ignored; only the files of a fast
        tokenizer exist."""
        for name, content in self._files.items():
            write_text(folder / name, content)


def read_tokenizer(folder: Path, as_saved: bool) -> Any:
    """Load the tokenizer of a checkpoint.

    folder (Path): folder of the checkpoint.
    as_saved (bool): it was saved by this package, so `tokenizer.json` is complete.
    RETURNS (Any): a `PlainTokenizer` if it was saved by this package and is fast; otherwise
        transformers' tokenizer.
    RAISES (AngelError): files are missing or damaged.
    """
    try:
        if as_saved and (folder / _DEFINITION).is_file():
            files = [folder / name for name in _FILES if (folder / name).is_file()]
            return PlainTokenizer({file.name: file.read_text(encoding="utf8") for file in files})
        names = [file.name for file in folder.iterdir()]
        # From version 5 on, transformers creates an empty tokenizer if there are no files.
        if not any(name.startswith(_PREFIXES) or name.endswith(_ENDINGS) for name in names):
            raise FileNotFoundError("there is no file of a tokenizer")
        if {"vocab.json", "merges.txt"}.issuperset(names):
            from transformers import BartTokenizerFast

            return BartTokenizerFast.from_pretrained(folder, local_files_only=True)
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(folder, local_files_only=True)
    # tokenizers raises bare exceptions, transformers whatever a damaged file leads to.
    except Exception as error:
        raise AngelError(
            f"Cannot load the tokenizer in {folder}: {first_sentence(error)}. Copy the tokenizer "
            "that the model was trained with there."
        ) from error
