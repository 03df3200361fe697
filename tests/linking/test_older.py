import warnings

import pytest
import spacy

from spacy_angel.linking.settings.older import as_of_now


def test_evidence_is_the_ranker_and_its_weights_do_not_count():
    old = {"evidence": True, "evidence_weights": {"name": 1.0}, "temperature": 2.0, "k": 5}
    with pytest.warns(
        UserWarning,
        match="This pipeline is older than the ranker.*evidence, evidence_weights no longer",
    ):
        assert as_of_now(old) == {"rerank": True, "k": 5}
    with pytest.warns(UserWarning, match="This pipeline is older than the ranker"):
        assert as_of_now({"evidence": False, "temperature": 2.0}, is_saved=True) == {
            "rerank": False,
            "search.temperature": 2.0,
        }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_of_now({"rerank": True, "search": {"temperature": 2.0}}) == {
            "rerank": True,
            "search.temperature": 2.0,
        }


def test_a_config_of_before_makes_a_linker_with_one_warning():
    nlp = spacy.blank("en")
    weights = {"nothing_lost": 5.6, "name": -0.7}
    config = {"evidence": True, "evidence_weights": weights, "threshold": 0.4}
    with pytest.warns(UserWarning, match="This pipeline is older than the ranker") as told:
        linker = nlp.add_pipe("angel_linker", config=config)
    assert [str(one.message)[:38] for one in told] == ["This pipeline is older than the ranker"]
    assert (linker.rerank, linker.threshold, linker.ranker.weights) == (True, 0.4, {})


def test_renamed_settings_are_read_and_told_once():
    nlp = spacy.blank("en")
    config = {"nil_share": 0.3, "similar_names": 9, "rerank": True}
    with pytest.warns(
        UserWarning,
        match="settings have changed.*nil_share is ranker.nil_prior, similar_names is 5",
    ) as told:
        linker = nlp.add_pipe("angel_linker", config=config)
    assert len(told) == 1
    assert linker.ranker.nil_prior == 0.3
    shown = nlp.config["components"]["angel_linker"]
    assert shown["ranker"]["nil_prior"] == 0.3
    assert not {"nil_share", "similar_names"} & shown.keys()
    with pytest.warns(UserWarning, match="settings have changed"), linker.using(nil_share=0.4):
        assert linker.ranker.nil_prior == 0.4
    assert linker.ranker.nil_prior == 0.3


def test_what_skipped_searches_is_one_setting():
    with pytest.warns(UserWarning, match="settings have changed"):
        both = as_of_now({"cache_in_document": True, "exact_matches_unsearched": True})
    with pytest.warns(UserWarning, match="settings have changed"):
        one = as_of_now({"once_a_document": True, "exact_matches_unsearched": False})
    assert (both, one) == ({"search.shortcuts": True}, {"search.shortcuts": False})


def test_entries_of_blocks_had_names_of_their_own():
    nlp = spacy.blank("en")
    config = {"kb_id_attr": "a_id", "outputs": {"candidates": "a_found"}}
    with pytest.warns(UserWarning, match=r"settings have changed.*kb_id_attr is outputs\.kb_id"):
        linker = nlp.add_pipe("angel_linker", config=config)
    outputs = {"kb_id": "a_id", "kb_ents": "kb_ents", "candidates": "a_found", "span_key": None}
    shown = nlp.config["components"]["angel_linker"]
    assert shown["outputs"] == outputs
    assert "kb_id_attr" not in shown
    with (
        pytest.warns(UserWarning, match="settings have changed"),
        linker.using(output_span_key="a"),
    ):
        assert linker.settings.outputs.to_dict() == outputs | {"span_key": "a"}
    linker.outputs = {"kb_ents": "a_ents"}
    assert linker.settings.outputs.to_dict() == outputs | {"kb_ents": "a_ents"}
    with pytest.raises(AttributeError, match=r"is called `outputs\.kb_id` now"):
        linker.kb_id_attr = "b_id"


def test_a_saved_pipeline_with_older_names_opens_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = as_of_now(
            {"nil_share": 0.3, "ranker": {"nil_prior": 0.1}, "near_names": 5}, is_saved=True
        )
    # the name of today is the user's, beside what the saved config has
    assert given == {"ranker.nil_prior": 0.1}
    with pytest.warns(UserWarning, match="settings have changed.*: near_names is 5 for all"):
        as_of_now({"nil_share": 0.3, "near_names": 9}, is_saved=True)
