"""Every setting once: its type, default, limits and meaning."""

import pytest
import spacy

from spacy_angel.component.checked import describe_settings
from spacy_angel.errors import AngelError
from spacy_angel.linking.settings.linker_settings import LinkerSettings


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"candidates": {"num_beams": 0}}, "num_beams must be null or greater than or equal to 1"),
        ({"candidates": {"num_beams": True}}, "num_beams must be null or a valid integer"),
        ({"candidates": {"mood": 1}}, r"angel_linker\.candidates has no setting \['mood'\]"),
        ({"candidates": "exact"}, "setting candidates must be a valid dictionary .*, not 'exact'"),
        ({"candidates": {"beams": 3}}, r"\['beams'\].*num_beams"),
        ({"runtime": {"dtype": "float8"}}, "setting dtype must be 'float32'"),
        ({"runtime": {"dtype": "float16"}}, "dtype must be float32, bfloat16 or int8 on a CPU"),
        ({"candidates": {"length_penalty": float("nan")}}, "must be a finite number"),
        ({"outputs": {"kb_id": "kb_ents"}}, "setting kb_id must be unlike the names of the other"),
        ({"outputs": {"kb_ents": "my ents"}}, "kb_ents must be a Python identifier, not 'my ents'"),
        ({"candidates": {"span_key": " "}}, "must be null or a string that is not empty, not ' '"),
        ({"candidates": {"labels_discard": "GENE"}}, "must be a list of strings, not 'GENE'"),
        (
            {"candidates": {"types_by_label": {"DISEASE": "T047"}}},
            r"types_by_label\['DISEASE'\] must be null or a list of strings, not 'T047'",
        ),
        ({"reranker": {"nil_prior": 1}}, "nil_prior must be null or"),
    ],
)
def test_a_refusal_names_setting_expectation_and_value(values, message):
    with pytest.raises(AngelError, match=message):
        LinkerSettings(**values)


def test_every_setting_is_described():
    rows = {
        f"{block}.{name}": (kind, default, meaning)
        for block, settings in LinkerSettings.blocks().items()
        for name, kind, default, meaning in describe_settings(settings)
    }
    assert len(rows) <= 20
    assert {name: row[1] for name, row in rows.items()} == {
        f"{block}.{name}": value
        for block, entries in LinkerSettings().to_dict().items()
        for name, value in entries.items()
    }
    assert rows["candidates.num_beams"][0] == "int | null"
    assert rows["candidates.types_by_label"][0] == "str → list of str | null"
    assert all(meaning for *_, meaning in rows.values())


def test_an_assigned_value_is_checked_and_a_wrong_one_changes_nothing():
    settings = LinkerSettings()
    settings.decision.threshold = 0.7
    settings.candidates.types_by_label = {"X": ["T047"]}
    assert settings.candidates.types_by_label == {"X": ("T047",)}
    with pytest.raises(AngelError, match="threshold must be null or less than or equal to 1"):
        settings.decision.threshold = 3
    with pytest.raises(AngelError, match="a Python identifier"):
        settings.outputs.kb_id = "1"
    with pytest.raises(AngelError, match=r"'treshold'.*Did you mean `threshold`"):
        settings.decision.treshold = 0.5
    assert (settings.decision.threshold, settings.outputs.kb_id) == (0.7, "kb_id")
    assert settings != LinkerSettings()
    assert settings == settings.changed({})
    assert LinkerSettings().decision.threshold == 0.5


def test_a_setting_is_not_assigned_to_the_linker():
    linker = spacy.blank("en").add_pipe("angel_linker")
    with pytest.raises(AttributeError, match=r"assign linker\.settings\.decision\.threshold"):
        linker.threshold = 0.7
