"""Every setting once: its type, default, limits and meaning."""

import pytest

from spacy_angel.component.checked import describe_settings, nested
from spacy_angel.errors import AngelError
from spacy_angel.linking.settings.linker_settings import LinkerSettings


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"k": 0}, "setting k must be greater than or equal to 1, not 0"),
        ({"k": True}, "setting k must be a valid integer, not True"),
        ({"n_sents": -1}, "setting n_sents must be null or greater than or equal to 0, not -1"),
        ({"search": {"mood": "exact"}}, r"angel_linker\.search has no setting \['mood'\]"),
        ({"search": "exact"}, "setting search must be a table of its entries, not 'exact'"),
        ({"beams": 3}, r"\['beams'\].*num_beams"),
        ({"dtype": "float8"}, "setting dtype must be 'float32'"),
        ({"search": {"length_penalty": float("nan")}}, "length_penalty must be a finite number"),
        ({"search": {"min_log_prob": 5}}, "min_log_prob must be null or less than or equal to 0"),
        ({"outputs": {"kb_id": "kb_ents"}}, "setting kb_id must be unlike the other two"),
        ({"ranker": {"weights": {"ALL": {"link": {"letters": 1.0}}}}}, "weights must be tables"),
        ({"span_key": " "}, "setting span_key must be null or a string that is not empty, not ' '"),
        ({"labels_discard": "GENE"}, "labels_discard must be a list of strings, not 'GENE'"),
        (
            {"types_by_label": {"DISEASE": "T047"}},
            r"types_by_label\['DISEASE'\] must be a list of strings, not 'T047'",
        ),
    ],
)
def test_a_refusal_names_setting_expectation_and_value(values, message) -> None:
    with pytest.raises(AngelError, match=message):
        LinkerSettings.from_dict(values)


def test_every_setting_is_described() -> None:
    rows = describe_settings(LinkerSettings)
    assert [name for name, *_ in rows] == list(LinkerSettings.model_fields)
    assert {name: default for name, _, default, _ in rows} == LinkerSettings().to_dict()
    types = {name: kind for name, kind, *_ in rows}
    assert types["n_sents"] == "int | null"
    assert types["search"] == "block"
    assert types["span_key"] == "str | null"
    assert types["types_by_label"] == "str → list of str"
    assert all(meaning for *_, meaning in rows)


def test_a_share_of_nil_is_expected_by_the_ranker_alone() -> None:
    settings = LinkerSettings.from_dict({"rerank": True, "ranker": {"nil_prior": 0.5}})
    own = LinkerSettings(rerank=True).ranker_in_use.weights.link["bias"]
    assert settings.ranker_in_use.weights.link["bias"] < own
    idle = settings.changed(rerank=False).without_effect()
    assert idle == ["ranker.nil_prior (rerank is off)"]
    for share in (0, 1, -0.1, "half"):
        with pytest.raises(AngelError, match="ranker's setting nil_prior"):
            LinkerSettings.from_dict({"ranker": {"nil_prior": share}})


def test_of_a_block_what_is_given_changes() -> None:
    given = {"k": 3, "search": {"shortcuts": True, "length_penalty": 0.5}}
    flat = LinkerSettings.flat(given)
    assert flat == {"k": 3, "search.shortcuts": True, "search.length_penalty": 0.5}
    assert nested(flat) == given
    settings = LinkerSettings.from_dict(flat)
    assert settings == LinkerSettings.from_dict(given)
    other = settings.changed(search={"length_penalty": 0.9})
    assert other == LinkerSettings.from_dict(flat | {"search.length_penalty": 0.9})
    assert other.changed(search=settings.search) == settings
