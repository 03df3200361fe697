"""What published models were trained with: a named record each, by which their checkpoints are
read.

The released code (github.com/dmis-lab/ANGEL and the GenBioEL that it builds on) writes one line a
mention, `left START mention END right`, puts a space before it, lower-cases it, leaves the spaces
of the corpus as they are, changes nothing but the marked mention, and cuts contexts to 384 words
(`datageneration_finetune.py`, `prepare_dataset.py`). BART reads 1,024 tokens. Inference has ten
beams.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import AngelError, unknown_name
from .prompts import PromptFormat


@dataclass(frozen=True)
class Preset:
    """What models of one kind were trained with.

    format (PromptFormat): how they expect their mentions; has the preset's name.
    num_beams (int): of the search, where the component's setting leaves it open.
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
    """name (str): of a preset. RETURNS (Preset): it. RAISES (AngelError): there is none."""
    if name not in PRESETS:
        raise AngelError(unknown_name("preset", name, ", ".join(PRESETS)))
    return PRESETS[name]


def preset_of(checkpoint: str | Path) -> Preset:
    """Tell the preset by a checkpoint's name.

    checkpoint (str | Path): name on the hub or folder, e.g. `dmis-lab/ANGEL_ncbi@main`.
    RETURNS (Preset): of the released model of that name, here `genbioel_ncbi`; else `spacy_angel`.
    """
    match = _RELEASED_NAMES.fullmatch(Path(checkpoint).name.partition("@")[0])
    if match is None:
        return PRESETS["spacy_angel"]
    return PRESETS.get(f"genbioel_{match[1].lower()}", PRESETS["genbioel"])
