"""What published models were trained with is told by their names, or by a setting."""

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.model.presets import num_beams_of, preset_named, preset_of


@pytest.mark.parametrize(
    ("checkpoint", "name", "punctuation", "num_beams"),
    [
        ("dmis-lab/ANGEL_ncbi", "genbioel_ncbi", "normal", 10),
        ("dmis-lab/ANGEL_bc5cdr", "genbioel", "keep", 10),
        ("dmis-lab/ANGEL_pretrained", "genbioel", "keep", 10),
        ("models/genbioel-aap", "genbioel_aap", "blank", 10),
        ("facebook/bart-large", "spacy_angel", "keep", 5),
        ("models/my_angel_ncbi", "spacy_angel", "keep", 5),
        ("training/angel_ncbi/model", "spacy_angel", "keep", 5),
    ],
)
def test_presets_by_name(checkpoint, name, punctuation, num_beams):
    preset = preset_of(checkpoint)
    assert preset is preset_named(name)
    assert (preset.preset, preset.punctuation) == (name, punctuation)
    assert num_beams_of(name) == num_beams


def test_an_unknown_preset():
    with pytest.raises(AngelError, match=r"'bart'.*spacy_angel, genbioel, genbioel_ncbi"):
        preset_named("bart")
