"""Prompt formats and beams of published models, selected by the names of their checkpoints.

The released code (github.com/dmis-lab/ANGEL, and GenBioEL, on which it is based) writes one line
per mention, `left START mention END right`, with a leading space, in lower case, and with the white
space of the corpus. It only changes the marked mention and limits the context to 384 words
(`datageneration_finetune.py`, `prepare_dataset.py`). BART reads 1,024 tokens. Inference uses ten
beams.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import AngelError, unknown_name
from .prompts import PromptFormat


@dataclass(frozen=True)
class Preset:
    """Settings with which models of one kind were trained.

    format (PromptFormat): prompt format; has the name of the preset.
    num_beams (int): beams of the search, unless the component sets them.
    """

    format: PromptFormat
    num_beams: int


_RELEASED = PromptFormat(
    preset="genbioel",
    max_source_tokens=1024,
    max_context_words=384,
    leading_space=True,
    collapse_spaces=False,
    expand_context=False,
)
_RELEASED_FORMATS = (
    _RELEASED,
    # Mentions of NCBI-disease have their punctuation blanked, those of AskAPatient too, and all
    # the spaces stay.
    replace(_RELEASED, preset="genbioel_ncbi", punctuation="normal"),
    replace(_RELEASED, preset="genbioel_aap", punctuation="blank"),
)
PRESETS = {
    "spacy_angel": Preset(PromptFormat(), num_beams=5),
    **{format.preset: Preset(format, num_beams=10) for format in _RELEASED_FORMATS},
}
"""Presets by name: `spacy_angel` for models that are trained here and those nothing is known of,
`genbioel` for the released ones of BC5CDR, COMETA, MedMentions and the pre-trained one, and those
of two benchmarks with mentions of their own form."""

_RELEASED_NAMES = re.compile(
    r"(?:angel|genbioel)[-_](pretrained|ncbi|bc5cdr|cometa|mm|aap)", re.IGNORECASE
)


def preset_named(name: str) -> Preset:
    """name (str): name of a preset. RETURNS (Preset): the preset. RAISES (AngelError): there is no
    such preset."""
    if name not in PRESETS:
        raise AngelError(unknown_name("preset", name, ", ".join(PRESETS)))
    return PRESETS[name]


def preset_of(checkpoint: str | Path) -> Preset:
    """Infer the preset from the name of a checkpoint.

    checkpoint (str | Path): name on the hub or folder, e.g. `dmis-lab/ANGEL_ncbi@main`.
    RETURNS (Preset): preset of the released model with this name, here `genbioel_ncbi`; otherwise
        `spacy_angel`.
    """
    match = _RELEASED_NAMES.fullmatch(Path(checkpoint).name.partition("@")[0])
    if match is None:
        return PRESETS["spacy_angel"]
    return PRESETS.get(f"genbioel_{match[1].lower()}", PRESETS["genbioel"])
