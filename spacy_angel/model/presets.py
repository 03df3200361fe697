"""Prompt formats and beams of published models, selected by the names of their checkpoints.

The released code (github.com/dmis-lab/ANGEL, and GenBioEL, on which it is based) writes one line
per mention, `left START mention END right`, with a leading space, in lower case, and with the white
space of the corpus. It only changes the marked mention and limits the context to 384 words
(`datageneration_finetune.py`, `prepare_dataset.py`). BART reads 1,024 tokens. Inference uses ten
beams.
"""

import re
from dataclasses import replace
from pathlib import Path

from ..errors import AngelError, unknown_name
from .prompts import PromptFormat

_RELEASED = PromptFormat(
    preset="genbioel",
    max_source_tokens=1024,
    max_context_words=384,
    leading_space=True,
    collapse_spaces=False,
    expand_context=False,
)
_FORMATS = (
    PromptFormat(),
    _RELEASED,
    # In NCBI-disease and AskAPatient, punctuation in mentions was replaced by spaces.
    replace(_RELEASED, preset="genbioel_ncbi", punctuation="normal"),
    replace(_RELEASED, preset="genbioel_aap", punctuation="blank"),
)
PRESETS = {format.preset: format for format in _FORMATS}
"""Prompt formats by name: `spacy_angel` for models trained with this package and unknown models,
`genbioel` for the released models of BC5CDR, COMETA, MedMentions, and the pre-trained one, and
those of two benchmarks whose mentions were changed."""

_RELEASED_NAMES = re.compile(
    r"(?:angel|genbioel)[-_](pretrained|ncbi|bc5cdr|cometa|mm|aap)", re.IGNORECASE
)


def preset_named(name: str) -> PromptFormat:
    """name (str): name of a preset. RETURNS (PromptFormat): its prompt format. RAISES (AngelError):
    there is no such preset."""
    if name not in PRESETS:
        raise AngelError(unknown_name("preset", name, ", ".join(PRESETS)))
    return PRESETS[name]


def num_beams_of(preset: str) -> int:
    """preset (str): name of a preset. RETURNS (int): number of beams of the search, unless the
    component sets it."""
    return 5 if preset == PromptFormat().preset else 10


def preset_of(checkpoint: str | Path) -> PromptFormat:
    """Infer the preset from the name of a checkpoint.

    checkpoint (str | Path): name on the hub or folder, e.g. `dmis-lab/ANGEL_ncbi@main`.
    RETURNS (PromptFormat): format of the released model with this name, here `genbioel_ncbi`;
        otherwise `spacy_angel`.
    """
    match = _RELEASED_NAMES.fullmatch(Path(checkpoint).name.partition("@")[0])
    if match is None:
        return PRESETS["spacy_angel"]
    return PRESETS.get(f"genbioel_{match[1].lower()}", PRESETS["genbioel"])
