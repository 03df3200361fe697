"""Did you mean …: a setting that is written with a slip."""

import pytest

from spacy_angel.linking.settings.unknown import KNOWN, setting_hints


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("treshold", "threshold"),
        ("num_beam", "num_beams"),
        ("vocab", None),
        ("Threshold", "threshold"),
        ("span_keys", "span_key"),
        ("labels_discards", "labels_discard"),
        ("quux", None),
    ],
)
def test_the_nearest_setting_is_named(wrong, right):
    expected = "" if right is None else f"`{wrong}`: did you mean `{right}`?"
    assert setting_hints([wrong]) == expected


def test_several_are_told_in_their_order():
    assert setting_hints(["treshold", "quux", "cache_folder"]) == (
        "`treshold`: did you mean `threshold`? `cache_folder` is of scispaCy: use the environment "
        "variable SPACY_ANGEL_CACHE."
    )


def test_every_setting_is_found_again_with_a_letter_missing():
    wrong = {name[:2] + name[3:]: name for name in KNOWN if len(name) > 5}
    assert [n for n, right in wrong.items() if f"`{right}`?" not in setting_hints([n])] == []
