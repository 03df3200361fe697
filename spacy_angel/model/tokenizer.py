"""The class of a checkpoint's tokenizer, without the imports of AutoTokenizer."""

import json
from pathlib import Path
from typing import Any


def tokenizer_class(folder: Path) -> Any:
    """What `AutoTokenizer.from_pretrained` would open a folder with. Importing AutoTokenizer
    imports all of transformers' generation, which takes longer than the rest of the start.

    folder (Path): of a checkpoint.
    RETURNS (Any): the class that its `tokenizer_config.json` names, the fast one where there is
        one; AutoTokenizer itself where it names none, or one that comes with the checkpoint.
    RAISES (ValueError): the file is no JSON object.
    """
    import transformers

    file = folder / "tokenizer_config.json"
    settings = json.loads(file.read_text(encoding="utf8")) if file.is_file() else {}
    if not isinstance(settings, dict):
        raise ValueError(f"{file.name}: an object was expected, {type(settings).__name__} came")
    name = settings.get("tokenizer_class")
    if isinstance(name, str) and "auto_map" not in settings:
        for candidate in (f"{name.removesuffix('Fast')}Fast", name):
            value = getattr(transformers, candidate, None)
            if isinstance(value, type) and issubclass(value, transformers.PreTrainedTokenizerBase):
                return value
    return transformers.AutoTokenizer
