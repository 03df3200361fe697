"""What spaCy's own tests ask of its `entity_linker` (spacy/tests/pipeline/test_entity_linker.py),
by their meaning. Left out is what a linker without training inside spaCy does not have: `update`,
`add_label`, priors and vectors of a knowledge base."""

import pickle
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
import spacy
from spacy import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from support.tiny_linker import TEXT, pipeline

Make = Callable[..., Language]


def ids(doc: Doc) -> list[str]:
    return [ent.kb_id_ for ent in doc.ents]


def test_every_token_of_a_mention_has_the_identifier(make: Make) -> None:
    # test_preserving_links_asdoc, test_preserving_links_ents
    doc = make()(TEXT)
    for ent in doc.ents:
        assert {token.ent_kb_id_ for token in ent} == {ent.kb_id_}
    assert {t.ent_kb_id_ for t in doc if not t.ent_type_} == {""}
    (first, *_) = doc.sents
    assert ids(first.as_doc()) == ids(doc)[:1]


def test_nil_is_written_for_what_is_discarded_and_what_is_not_certain(make: Make) -> None:
    # test_nel_nil, test_threshold, test_kb_serialize's NIL
    assert ids(make(labels_discard=["DRUG"])(TEXT))[-1] == "NIL"
    assert "NIL" in ids(make(threshold=1.0, temperature=100.0)(TEXT))


def test_documents_without_mentions_and_empty_ones(make: Make) -> None:
    # test_no_entities, test_partial_links
    nlp = make()
    texts = ["", "no mention", TEXT, " ", "aspirin"]
    assert [len(doc.ents) for doc in nlp.pipe(texts)] == [0, 0, 3, 0, 1]


def test_the_output_does_not_depend_on_how_the_texts_come(make: Make) -> None:
    # test_overfitting_IO
    nlp = make()
    texts = [TEXT, "aspirin", "migraine again", TEXT]
    expected = [ids(nlp(text)) for text in texts]
    assert [ids(doc) for doc in nlp.pipe(texts, batch_size=2)] == expected
    assert [ids(doc) for doc in nlp.pipe(texts, batch_size=1)] == expected
    assert [ids(d) for d, _ in nlp.pipe([(t, i) for i, t in enumerate(texts)], as_tuples=True)] == (
        expected
    )
    assert [ids(nlp(nlp.make_doc(text))) for text in texts] == expected


def test_saved_copied_and_sent_it_is_the_same(make: Make, tmp_path: Path) -> None:
    # test_overfitting_IO, test_save_activations' round trips, test_kb_to_bytes
    nlp = make()
    expected = ids(nlp(TEXT))
    nlp.to_disk(tmp_path / "nlp")
    blank = spacy.blank("en").from_config(nlp.config)
    again = [
        spacy.load(tmp_path / "nlp"),
        blank.from_bytes(nlp.to_bytes()),
        deepcopy(nlp),
    ]
    linker = pickle.loads(pickle.dumps(nlp.get_pipe("angel_linker")))
    for other in again:
        assert ids(other(TEXT)) == expected
    with nlp.select_pipes(disable="angel_linker"):
        assert ids(linker(nlp(TEXT))) == expected
    docs = DocBin(store_user_data=True, docs=[nlp(TEXT)]).to_bytes()
    (doc,) = DocBin().from_bytes(docs).get_docs(spacy.blank("en").vocab)
    assert ids(doc) == [ent._.kb_id for ent in doc.ents] == expected


def test_its_config_makes_it_again(make: Make, tmp_path: Path) -> None:
    # test_registered_functions, config round trips
    nlp = make(k=3)
    text = nlp.config.to_str()
    again = spacy.util.load_model_from_config(
        spacy.util.load_config_from_str(text), auto_fill=False, validate=True
    )
    assert again.config.to_str() == text
    again.initialize()
    assert again.get_pipe("angel_linker").settings == nlp.get_pipe("angel_linker").settings


def test_it_is_scored_like_spacy_s(make: Make) -> None:
    # test_scorer_links, test_tokenization_mismatch
    nlp = make()
    gold = Doc(nlp.vocab, ["history", "of", "aspirin", "."])
    gold.ents = [Span(gold, 2, 3, label="DRUG", kb_id="MESH:D001241")]
    example = Example(nlp.make_doc("history of aspirin."), gold)
    assert nlp.evaluate([example])["nel_micro_f"] == 1.0
    gold.ents = [Span(gold, 2, 3, label="DRUG", kb_id="MESH:D000000")]
    assert nlp.evaluate([Example(nlp.make_doc("history of aspirin."), gold)])["nel_micro_f"] == 0.0


def test_components_before_it_may_write_while_spacy_trains(make: Make) -> None:
    # annotating components and frozen ones in spacy train
    nlp = make()
    with nlp.select_pipes(enable=["sentencizer", "entity_ruler"]):
        docs = list(nlp.pipe([TEXT, "aspirin"]))
    assert all(kb_id for doc in nlp.get_pipe("angel_linker").pipe(docs) for kb_id in ids(doc))


@pytest.mark.parametrize("place", [{"first": True}, {"before": "entity_ruler"}])
def test_where_no_mentions_are_yet_it_links_none(
    model: str, vocabulary: str, place: dict[str, object]
) -> None:
    # requires: doc.ents, told by nlp.analyze_pipes
    nlp = pipeline()
    nlp.add_pipe("angel_linker", config={"model": model, "vocabulary": vocabulary}, **place)
    assert set(ids(nlp(TEXT))) == {""}
    assert "angel_linker" in nlp.analyze_pipes()["problems"]
    assert nlp.analyze_pipes()["problems"]["angel_linker"] == ["doc.ents"]


def test_gpu_settings_of_spacy_do_not_move_it(make: Make) -> None:
    # a machine without a GPU: spacy.prefer_gpu() is False and everything goes on
    spacy.prefer_gpu()
    nlp = make()
    assert nlp("aspirin").ents[0].kb_id_ == "MESH:D001241"
    assert str(nlp.get_pipe("angel_linker").generator.model.device) == "cpu"
