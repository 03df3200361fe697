"""The component in its pipeline."""

import gc
import json
import os
import pickle
import shutil
import subprocess
import sys
import warnings
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest
import spacy
import torch
from spacy import Language
from spacy.cli import app as spacy_app
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from support import models
from support.helpers import shared_data
from support.tiny_linker import PATTERNS, TEXT, pipeline
from typer.testing import CliRunner

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.errors import AngelError
from spacy_angel.linking.decision import calibration
from spacy_angel.linking.decision.scoring import score_links
from spacy_angel.linking.linker import AngelLinker
from spacy_angel.linking.mentions.reading import ABBREVIATIONS
from spacy_angel.linking.ranking.concepts import NIL
from spacy_angel.linking.ranking.ranker import Weights, shipped_ranker
from spacy_angel.linking.settings.linker_settings import LinkerSettings
from spacy_angel.pipelines.components import calibrate_on
from spacy_angel.search.generator import Generator
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

torch.set_num_threads(1)


def sure(bias: float) -> dict:
    """Whether all or none of the best concepts are right; letters decide which is the best."""
    concept = {"similarity": 40.0, "similarity_unsure": 0.0}
    kinds = ("ALL", "CHEMICAL", "DISEASE")
    return {kind: {"concept": concept, "link": {"bias": bias}} for kind in kinds}


NOTHING = {"rerank": True, "ranker": {"weights": sure(-99.0)}, "threshold": 0.5}
"""Settings with which nothing links."""


def links(doc):
    """Everything that is written, in comparable form."""
    return [
        (
            e.start,
            e.end,
            e.kb_id_,
            e._.kb_id,
            [(c, pytest.approx(p, abs=1e-4)) for c, p in e._.kb_ents],
            [
                (c["concept_id"], c["name"], pytest.approx(c["log_prob"], abs=1e-4))
                for c in e._.candidates
            ],
        )
        for e in doc.ents
    ]


def group(doc, *spans):
    doc.spans["found"] = [Span(doc, *span[:2], label=span[2]) for span in spans]
    return doc


# what is written


def test_links_are_written_as_plain_values(make):
    doc = make()(TEXT)
    attack, migraine, aspirin = doc.ents
    assert (aspirin.kb_id_, aspirin._.kb_id) == ("MESH:D001241",) * 2
    assert [token.ent_kb_id_ for token in attack] == [attack.kb_id_] * 2
    # shared with another concept, whose other name also counts
    assert migraine.kb_id_ == "MESH:D008881"
    assert sum(p for _, p in attack._.kb_ents) == pytest.approx(1)
    for ent in doc.ents:
        json.dumps([ent._.kb_ents, ent._.candidates])
        assert [p for _, p in ent._.kb_ents] == sorted((p for _, p in ent._.kb_ents), reverse=True)
        scores = [c["score"] for c in ent._.candidates]
        assert scores == sorted(scores, reverse=True)
        for candidate in ent._.candidates:
            assert set(candidate) == {"concept_id", "name", "score", "log_prob"}
    assert aspirin._.candidates[0]["name"] == "Aspirin"


def test_identifiers_are_those_of_the_vocabulary_that_is_preferred(make):
    plain, nlp = make()(TEXT), make()
    linker = nlp.get_pipe("angel_linker")
    own = plain.ents[2]._.kb_id
    other = "MESH:D000001"
    # Both have the same identifier of MONDO: it leads to the first, and stands for no other.
    kb = linker.kb
    changed = [
        replace(concept, alternate_ids=("UMLS:C1", "mondo:7", "MONDO:8"))
        if concept.concept_id == own
        else replace(concept, alternate_ids=("mondo:7",) if concept.concept_id == other else ())
        for concept in kb
    ]
    assert own != other
    linker.kb = ConceptKB.build(changed)
    linker.prefer = ["DOID", "MONDO"]
    doc = nlp(TEXT)
    assert (doc.ents[2]._.kb_id, doc.ents[2].kb_id_) == ("mondo:7", "mondo:7")
    ids = {own: "mondo:7"}
    for before, after in zip(plain.ents, doc.ents, strict=True):
        assert after._.kb_ents == [(ids.get(c, c), pytest.approx(p)) for c, p in before._.kb_ents]
        for one, two in zip(before._.candidates, after._.candidates, strict=True):
            assert two["concept_id"] == ids.get(one["concept_id"], one["concept_id"])
    assert doc.ents[2]._.candidates[0]["other_ids"] == [own, "UMLS:C1", "MONDO:8"]
    assert linker.rank(doc.ents[2]._.candidates) == doc.ents[2]._.kb_ents
    assert "other_ids" not in plain.ents[2]._.candidates[0]
    example = Example(nlp.make_doc(TEXT), plain)
    assert nlp.evaluate([example])["nel_micro_f"] == 1
    linker.prefer = ["umls"]
    assert nlp(TEXT).ents[2]._.kb_id == "UMLS:C1"


def test_predict_changes_nothing_and_set_annotations_only_writes(make):
    nlp = make()
    linker = nlp.get_pipe("angel_linker")
    with nlp.select_pipes(disable="angel_linker"):
        doc = nlp(TEXT)
    before = doc.to_bytes()
    predicted = linker.predict([doc])
    assert doc.to_bytes() == before
    linker.set_annotations([doc], predicted)
    assert links(doc) == links(nlp(TEXT))


def test_pipe_equals_call_whatever_the_batches_and_the_order(make):
    nlp = make(batch_size=3)
    texts = [TEXT, "", "nothing", "sugar disease", "history of MLD.", "metformin " * 5] * 2
    one_by_one = [links(nlp(text)) for text in texts]
    for batch_size in (1, 4, 100):
        docs = list(nlp.pipe(texts, batch_size=batch_size))
        assert [doc.text for doc in docs] == texts
        assert [links(doc) for doc in docs] == one_by_one
    turned = list(nlp.pipe(texts[::-1]))[::-1]
    assert [links(doc) for doc in turned] == one_by_one


def test_links_survive_docbin(make):
    nlp = make(outputs={"span_key": "links"})
    docs = list(nlp.pipe([TEXT, "", "diabetes"]))
    data = DocBin(docs=docs, store_user_data=True).to_bytes()
    again = DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab)
    for old, new in zip(docs, again, strict=True):
        assert links(new) == links(old)
        assert [s.kb_id_ for s in new.spans["links"]] == [e.kb_id_ for e in old.ents]


def test_vocabulary_answers_as_scispacy_and_changes_while_running(make):
    nlp = make(k=1)
    kb = nlp.get_pipe("angel_linker").kb
    assert kb.cui_to_entity["MESH:D001241"].canonical_name == "Aspirin"
    assert kb.alias_to_cuis["migraine"] == {"MESH:D008881", "MESH:D000001"}
    assert nlp("migraine").ents[0]._.kb_ents == [("MESH:D008881", 0.5), ("MESH:D000001", 0.5)]
    kb.remove("MESH:D000001")
    assert nlp("migraine").ents[0]._.kb_ents == [("MESH:D008881", 1.0)]
    kb.add(Concept("X:1", "diabetes"))
    assert nlp("diabetes").ents[0]._.kb_ents == [("X:1", 0.5), ("MESH:D003920", 0.5)]


# which mentions


def test_documents_without_mentions_open_nothing(tmp_path):
    nlp = pipeline()
    nlp.add_pipe("angel_linker", config={"model": "nowhere", "vocabulary": str(tmp_path)})
    assert nlp("").ents == nlp("no mention here").ents == ()
    assert [doc.text for doc in nlp.pipe(["", "none"])] == ["", "none"]


def test_odd_mentions_get_a_link_and_harm_nobody(make):
    nlp = make(span_key="found", outputs={"span_key": "links"})
    doc = nlp.make_doc("aspirin 😀 痛み. \n " + "word " * 400 + "history of migraine.")
    nlp.get_pipe("sentencizer")(doc)
    n = len(doc)
    blank = next(t.i for t in doc if not t.text.strip())
    spans = [(0, 1), (1, 2), (2, 3), (blank, blank + 1), (0, n), (2, 6), (n - 2, n - 1)]
    group(doc, *((*span, "X") for span in spans))
    nlp.get_pipe("angel_linker")(doc)
    found = doc.spans["links"]
    assert [(s.start, s.end) for s in found] == spans
    assert found[0].kb_id_ == "MESH:D001241"
    assert found[6].kb_id_ == "MESH:D008881"
    assert found[3].kb_id_ == "NIL"
    assert found[3]._.candidates == []
    assert all(s._.candidates and s.kb_id_ != "NIL" for s in found if s.text.strip())


def test_overlapping_spans_of_a_group(make):
    nlp = make(span_key="found", types_by_label={"DRUG": ["T121"], "DISEASE": ["T047"]})
    doc = nlp.make_doc("history of heart attack aspirin")
    nlp.get_pipe("sentencizer")(doc)
    doc.ents = [Span(doc, 2, 4, label="DISEASE", kb_id="kept")]
    group(doc, (2, 5, "DISEASE"), (4, 5, "DISEASE"), (4, 5, "DRUG"), (2, 4, "DISEASE"))
    doc.spans["found"].attrs["note"] = "kept"
    nlp.get_pipe("angel_linker")(doc)
    spans = doc.spans["found"]
    drug_ids = set(models.DRUGS)
    assert [s.kb_id_ in drug_ids for s in spans] == [False, False, True, False]
    assert spans[3].kb_id_ in ("MESH:D000001", "MESH:D009203")
    assert [s.label_ for s in spans] == ["DISEASE", "DISEASE", "DRUG", "DISEASE"]
    assert spans.attrs == {"note": "kept"}
    # each label its own; a span without it shows the first that is linked
    assert [s._.kb_id for s in spans] == [s.kb_id_ for s in spans]
    assert doc[4:5]._.kb_id == spans[1].kb_id_
    assert doc.ents[0].kb_id_ == "kept"


@pytest.mark.parametrize(("labels", "expected"), [((), "MY:1"), (("MyType",), "NIL")])
def test_types_of_one_s_own_that_no_label_has_are_for_every_label(make, tmp_path, labels, expected):
    types = {"DISEASE": ["T047"], **({"MINE": labels} if labels else {})}
    nlp = make(rerank=True, threshold=0.5, search={"shortcuts": True})
    linker = nlp.get_pipe("angel_linker")
    linker.kb.add(Concept("MY:1", "Snark fever", types=("MyType",)))
    linker.kb.add(Concept("MY:2", "Boojum oil", types=("T121",)))

    def link(text):
        doc = nlp.get_pipe("sentencizer")(nlp.make_doc(text))
        doc.ents = [Span(doc, 0, len(doc), label="DISEASE")]
        return linker(doc).ents[0]._.kb_id

    linker.settings = linker.settings.changed(types_by_label=types)
    for _ in range(2):
        assert link("snark fever") == expected
        # a drug is none, whoever added it
        assert link("boojum oil") == "NIL"
        # once more as it was saved
        linker.kb.to_disk(tmp_path / "kb")
        linker.kb = ConceptKB.from_disk(tmp_path / "kb")


def test_types_by_label_limit_the_search(make):
    nlp = make(types_by_label={"DISEASE": ["T121"]}, num_beams=20, k=20)
    doc = nlp("diabetes")
    assert {c for c, _ in doc.ents[0]._.kb_ents} == set(models.DRUGS)


def test_overwrite(make):
    nlp = make(overwrite=False)
    doc = nlp.make_doc("aspirin metformin")
    nlp.get_pipe("sentencizer")(doc)
    doc.ents = [Span(doc, 0, 1, label="DRUG", kb_id="OLD:1"), Span(doc, 1, 2, label="DRUG")]
    nlp.get_pipe("angel_linker")(doc)
    assert [e.kb_id_ for e in doc.ents] == ["OLD:1", "MESH:D008687"]
    assert [e._.kb_id for e in doc.ents] == ["OLD:1", "MESH:D008687"]
    assert doc.ents[0]._.candidates == []
    linker = make(overwrite=True).get_pipe("angel_linker")
    assert [e.kb_id_ for e in linker(doc).ents] == ["MESH:D001241", "MESH:D008687"]


def test_limits_give_nil(make):
    ent, _ = typos(make(n_sents=None, search={"min_log_prob": 0.0})).ents
    assert (ent.kb_id_, ent._.kb_id, ent._.kb_ents) == ("NIL", "NIL", [])
    assert ent._.candidates[0]["concept_id"] in models.DISEASES
    (ent,) = make(threshold=0.6)("heart attack").ents
    assert (ent.kb_id_, ent._.kb_ents) == ("NIL", [])


def test_what_is_not_linked_and_hardly_a_mention_is_left_out(make):
    probabilities = {"heart attack": 0.2, "migraine": 0.7, "aspirin": None}
    found = {}
    for least in (0.0, 0.5, 1.0):
        # Nothing links, or everything.
        for limit in (1.0, None):
            nlp = make(threshold=limit, drop_unlinked_below=least, outputs={"span_key": "linked"})
            with nlp.select_pipes(disable=["angel_linker"]):
                doc = nlp(TEXT)
            for ent in doc.ents:
                ent._.mention_probability = probabilities[ent.text]
            doc = nlp.get_pipe("angel_linker")(doc)
            found[least, limit] = [ent.text for ent in doc.ents]
            # A group has them all.
            assert len(doc.spans["linked"]) == 3
    everything = list(probabilities)
    assert found == {
        (0.0, 1.0): everything,
        (0.0, None): everything,
        (0.5, 1.0): ["migraine", "aspirin"],
        (0.5, None): everything,
        (1.0, 1.0): ["aspirin"],
        (1.0, None): everything,
    }


def test_a_mention_that_is_the_name_found_is_not_outside_the_vocabulary(make):
    nlp = make(search={"min_log_prob": 0.0}, num_beams=20, k=20)
    assert [e.kb_id_ for e in nlp("aspirin").ents] == ["MESH:D001241"]
    linker = nlp.get_pipe("angel_linker")
    linker.kb.remove_name("MESH:D001241", "aspirin")
    (ent,) = nlp("aspirin").ents
    assert (ent.kb_id_, len(ent._.candidates) > 0) == ("NIL", True)
    # two concepts have the name: how sure the link must be is another limit
    (ent,) = make(search={"min_log_prob": 0.0}, threshold=0.6)("heart attack").ents
    assert ent.kb_id_ == "NIL"


def test_abbreviations(make):
    nlp = make()
    nlp.add_pipe("angel_abbreviations", config={"make_serializable": True}, before="angel_linker")
    text = "metachromatic leukodystrophy (ML). history of ML."
    doc = nlp.make_doc(text)
    for name in ("sentencizer", "angel_abbreviations"):
        nlp.get_pipe(name)(doc)
    n = len(doc)
    doc.ents = [Span(doc, n - 2, n - 1, label="DISEASE")]
    nlp.get_pipe("angel_linker")(doc)
    (ent,) = doc.ents
    assert (ent.text, ent.kb_id_) == ("ML", "OMIM:250100")
    (again,) = DocBin(docs=[doc], store_user_data=True).get_docs(nlp.vocab)
    assert links(again) == links(doc)


# errors


def test_a_bad_document_costs_no_other(make):
    nlp = make()
    failed = []
    nlp.set_error_handler(lambda name, proc, docs, error: failed.append((name, docs, error)))
    docs = [nlp(text) for text in ("aspirin", "migraine", "metformin")]
    bad = Doc(nlp.vocab, ["diabetes", "mellitus"])
    bad.ents = [Span(bad, 0, 2, label="DISEASE")]
    linker = nlp.get_pipe("angel_linker")
    out = list(linker.pipe([docs[0], bad, docs[1], docs[2]], batch_size=4))
    assert out == docs
    assert [e.kb_id_ for doc in out for e in doc.ents] == [
        "MESH:D001241",
        "MESH:D008881",
        "MESH:D008687",
    ]
    ((name, bad_docs, error),) = failed
    assert (name, bad_docs) == ("angel_linker", [bad])
    assert isinstance(error, AngelError)
    assert linker(bad) is None
    assert len(failed) == 2


# model and vocabulary


def test_without_any_config_it_links_with_what_ships():
    nlp = spacy.blank("en")
    nlp.add_pipe("angel_linker")
    doc = nlp.make_doc("He took aspirin.")
    doc.ents = [Span(doc, 2, 3, label="CHEMICAL")]
    (ent,) = nlp.get_pipe("angel_linker")(doc).ents
    assert ent.kb_id_ == "MESH:D001241"


def test_a_missing_model_is_told(make):
    with pytest.raises(AngelError, match=r"initialize"):
        make(model="dmis-lab/no-such-model")("aspirin")


def test_hub_names_are_fetched_in_initialize_only(make, model, monkeypatch):
    asked = []
    load = Generator.from_pretrained.__func__

    def from_pretrained(cls, name, **kwargs):
        asked.append((name, kwargs["local_files_only"]))
        return load(cls, model, **kwargs)

    monkeypatch.setattr(Generator, "from_pretrained", classmethod(from_pretrained))
    nlp = make(model="dmis-lab/ANGEL_bc5cdr")
    with pytest.raises(AngelError):
        nlp("aspirin")
    assert asked == []
    nlp.get_pipe("angel_linker").initialize(nlp=nlp)
    assert asked == [("dmis-lab/ANGEL_bc5cdr", False)]
    assert nlp("aspirin").ents[0].kb_id_ == "MESH:D001241"


def test_config_file_assembles_a_pipeline_from_a_trained_folder(tmp_path, model):
    words = tmp_path / "words.jsonl"
    record = {"concept_id": "UMLS:C1", "canonical_name": "Aspirin", "aliases": [], "types": []}
    words.write_text(json.dumps(record) + "\n")
    config = f"""
    [nlp]
    lang = "en"
    pipeline = ["sentencizer", "angel_linker"]

    [components]

    [components.sentencizer]
    factory = "sentencizer"

    [components.angel_linker]
    factory = "angel_linker"
    num_beams = 3

    [components.angel_linker.model]
    @architectures = "spacy_angel.Checkpoint.v1"
    path = {json.dumps(model)}

    [components.angel_linker.vocabulary]
    @misc = "spacy_angel.Vocabulary.v1"
    paths = {json.dumps([str(words)])}
    format = "scispacy"
    """
    path = tmp_path / "pipeline.cfg"
    path.write_text("\n".join(line.strip() for line in config.splitlines()))
    done = CliRunner().invoke(spacy_app, ["assemble", str(path), str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    words.unlink()
    nlp = spacy.load(tmp_path / "out")
    doc = nlp.make_doc("took aspirin")
    doc.ents = [Span(doc, 1, 2, label="DRUG")]
    assert nlp.get_pipe("angel_linker")(doc).ents[0].kb_id_ == "UMLS:C1"
    assert nlp.get_pipe("angel_linker").settings.num_beams == 3


def test_initialize_block_names_model_and_vocabulary(model, vocabulary):
    nlp = pipeline()
    nlp.add_pipe("angel_linker")
    nlp.config["initialize"]["components"]["angel_linker"] = {
        "model": model,
        "vocabulary": vocabulary,
    }
    nlp.initialize()
    # spaCy's ruler forgets its patterns there
    nlp.get_pipe("entity_ruler").add_patterns(PATTERNS)
    assert nlp("aspirin").ents[0].kb_id_ == "MESH:D001241"


def test_a_released_model_reads_as_it_was_trained(tmp_path, vocabulary):
    """Its name tells the preset, which is saved with it; its tokenizer comes from elsewhere."""
    words = shared_data("bart-tokenizer")
    path = tmp_path / "ANGEL_ncbi"
    network = models.make_model(50265)
    network.save_pretrained(path)
    block = {
        "@architectures": "spacy_angel.Checkpoint.v1",
        "path": str(path),
        "tokenizer": str(words),
    }
    nlp = pipeline()
    linker = nlp.add_pipe("angel_linker", config={"model": block, "vocabulary": vocabulary})
    doc = nlp.make_doc("ASA  helps; ASA (oral) works")
    doc.ents = [Span(doc, 5, 8, label="DRUG")]
    doc.user_data[ABBREVIATIONS] = [
        {"short_start": i, "short_end": i + 1, "long_text": "aspirin"} for i in (0, 4)
    ]
    assert str(doc.ents[0]) == "(oral)"
    doc.ents = [Span(doc, 4, 8, label="DRUG")]
    (mention,) = linker.read_mentions(doc, doc.ents)
    assert mention == models.Mention("aspirin (oral)", "ASA  helps; ", " works")
    prompts = linker.generator.prompts
    (source,) = prompts.source_ids([mention])
    text = "<s> asa  helps; START aspirin oral END works</s>"
    assert prompts.tokenizer.decode(source) == text
    assert linker.num_beams_used == 10
    nlp.to_disk(tmp_path / "saved")
    shutil.rmtree(path)
    loaded = spacy.load(tmp_path / "saved").get_pipe("angel_linker")
    assert loaded.generator.prompts.format == prompts.format
    assert loaded.generator.prompts.format.preset == "genbioel_ncbi"
    assert loaded.num_beams_used == 10
    loaded.num_beams = 3
    assert loaded.num_beams_used == 3


def test_a_setting_without_effect_is_warned_of():
    settings = {"ranker": {"nil_prior": 0.1}, "rerank": False}
    with pytest.warns(UserWarning, match=r"has no effect: ranker.nil_prior \(rerank is off\)"):
        pipeline().add_pipe("angel_linker", config=settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipeline().add_pipe("angel_linker", config={**settings, "rerank": True})


# storage


def test_saved_pipeline_holds_everything(make, model, vocabulary, tmp_path):
    copies = tmp_path / "model", tmp_path / "kb"
    shutil.copytree(model, copies[0])
    shutil.copytree(vocabulary, copies[1])
    nlp = make(model=str(copies[0]), vocabulary=str(copies[1]), num_beams=4)
    nlp.get_pipe("angel_linker").kb.add_names("MESH:D001241", ["asa tablet"])
    expected = links(nlp(TEXT))
    nlp.to_disk(tmp_path / "saved")
    for copy in copies:
        shutil.rmtree(copy)
    loaded = spacy.load(tmp_path / "saved")
    assert links(loaded(TEXT)) == expected
    linker = loaded.get_pipe("angel_linker")
    assert linker.kb.alias_to_cuis["asa tablet"] == {"MESH:D001241"}
    # and once more, over the folder that it was opened from
    loaded.to_disk(tmp_path / "saved")
    assert links(spacy.load(tmp_path / "saved")(TEXT)) == expected


def test_settings_changed_while_running_are_saved_and_overrides_win(make, tmp_path):
    nlp = make(k=4)
    linker = nlp.get_pipe("angel_linker")
    linker.search = {"temperature": 0.5}
    nlp.to_disk(tmp_path / "saved")
    settings = spacy.load(tmp_path / "saved").get_pipe("angel_linker").settings
    assert (settings.search.temperature, settings.k, settings.n_sents) == (0.5, 4, 0)
    override = {"components": {"angel_linker": {"k": 2}}}
    settings = spacy.load(tmp_path / "saved", config=override).get_pipe("angel_linker").settings
    assert (settings.search.temperature, settings.k) == (0.5, 2)
    override = {"components": {"angel_linker": {"search": {"temperature": 0.7}}}}
    settings = spacy.load(tmp_path / "saved", config=override).get_pipe("angel_linker").settings
    assert (settings.search.temperature, settings.k) == (0.7, 4)
    other = pipeline()
    other.add_pipe("angel_linker", config={"search": {"temperature": 0.7}, "k": 4})
    other.from_bytes(nlp.to_bytes())
    assert other.get_pipe("angel_linker").settings.search.temperature == 0.7


def test_parts_can_be_excluded(make, tmp_path):
    linker = make().get_pipe("angel_linker")
    linker.to_disk(tmp_path / "saved", exclude=["model"])
    assert sorted(p.name for p in (tmp_path / "saved").iterdir()) == ["kb", "settings.json"]
    fresh = AngelLinker(linker.vocab).from_disk(tmp_path / "saved", exclude=["model"])
    assert len(fresh.kb) == len(linker.kb)


def test_a_model_that_the_config_names_may_be_missing_in_the_folder(make, tmp_path):
    linker = make().get_pipe("angel_linker")
    linker.to_disk(tmp_path / "saved", exclude=["model"])
    linker.generator.to_disk(tmp_path / "elsewhere")
    named = AngelLinker(linker.vocab, model=tmp_path / "elsewhere")
    named.from_disk(tmp_path / "saved")
    assert named.generator.prompts.format == linker.generator.prompts.format
    assert len(named.kb) == len(linker.kb)
    with pytest.raises(AngelError):
        AngelLinker(linker.vocab).from_disk(tmp_path / "saved")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_two_processes_link_as_one_does(tmp_path, method):
    """In a process of its own, with a model wide enough for several threads: where forked workers
    use them too, it hangs. Few open files: a model is not one tensor per file."""
    models.make_tiny_model(tmp_path / "model", ["aspirin", "pain"], d_model=256)
    ConceptKB.build([Concept("A:1", "aspirin"), Concept("A:2", "pain")], tmp_path / "kb")
    config = {"model": str(tmp_path / "model"), "vocabulary": str(tmp_path / "kb")}
    script = tmp_path / "run.py"
    script.write_text(
        f"""
import multiprocessing, resource

if __name__ == "__main__":
    import spacy, torch
    from spacy_angel import Concept

    torch.set_num_threads(2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    multiprocessing.set_start_method({method!r})
    nlp = spacy.blank("en")
    patterns = [{{"label": "DRUG", "pattern": name}} for name in ("aspirin", "asa tablet")]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    nlp.add_pipe("angel_abbreviations", config={{"make_serializable": True}})
    linker = nlp.add_pipe("angel_linker", config={config!r})
    texts = [20 * "acetylsalicylic acid (ASA). aspirin and asa tablet. "] * 6
    ents = lambda docs: [ent for doc in docs for ent in doc.ents]
    links = lambda docs: [(e.kb_id_, e._.kb_id, e._.candidates[0]["name"]) for e in ents(docs)]
    before = links(nlp.pipe(texts))
    # The tries are mapped by now, and the vocabulary changes.
    linker.kb.remove(before[0][0])
    linker.kb.add(Concept("A:3", "asa tablet"))
    expected = links(nlp.pipe(texts))
    assert len(expected) == 240 and expected != before
    assert links(nlp.pipe(texts, n_process=2, batch_size=2)) == expected
    print("same")
"""
    )
    environment = {k: v for k, v in os.environ.items() if k != "TOKENIZERS_PARALLELISM"}
    run = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env=environment,
    )
    assert run.stdout.strip() == "same", run.stderr
    assert "forked" not in run.stderr
    assert "W036" not in run.stderr


# several linkers


def test_two_linkers_side_by_side(make, model):
    nlp = make(outputs={"span_key": "mesh"})
    second = nlp.add_pipe(
        "angel_linker",
        name="snomed_linker",
        config={
            "model": model,
            "outputs": {
                "kb_id": "snomed_id",
                "kb_ents": "snomed_ents",
                "candidates": "snomed_candidates",
                "span_key": "snomed",
            },
            "scorer": {"@scorers": "spacy_angel.linker_scorer.v1", "prefix": "snomed"},
        },
    )
    second.kb = ConceptKB.build([Concept("SNOMEDCT:1", "aspirin")])
    (ent,) = nlp("aspirin").ents
    assert (ent.kb_id_, ent._.kb_id, ent._.snomed_id) == (
        "MESH:D001241",
        "MESH:D001241",
        "SNOMEDCT:1",
    )
    assert [c for c, _ in ent._.snomed_ents] == ["SNOMEDCT:1"]
    assert [s.kb_id_ for s in ent.doc.spans["mesh"]] == ["MESH:D001241"]
    assert [s.kb_id_ for s in ent.doc.spans["snomed"]] == ["SNOMEDCT:1"]
    gold = Doc(nlp.vocab, ["aspirin"])
    gold.ents = [Span(gold, 0, 1, label="DRUG", kb_id="SNOMEDCT:1")]
    scores = nlp.evaluate([Example(nlp.make_doc("aspirin"), gold)])
    assert (scores["nel_micro_f"], scores["snomed_micro_f"]) == (0.0, 1.0)


def test_a_clash_is_an_error_that_says_so(make):
    nlp = make()
    with pytest.raises(
        AngelError, match=r"'angel_linker' and 'second' both write span\._\.kb_ents"
    ):
        nlp.add_pipe(
            "angel_linker",
            name="second",
            config={"outputs": {"kb_id": "second_id", "candidates": "second_candidates"}},
        )
    other = make()
    nlp.add_pipe("angel_linker", name="sourced", source=other)
    with pytest.raises(AngelError, match="both write"):
        nlp.get_pipe("angel_linker").initialize(nlp=nlp)


def test_computed_attributes_of_others_are_not_taken():
    Span.set_extension("computed_elsewhere", getter=lambda span: "x")
    with pytest.raises(AngelError, match=r"computed_elsewhere.*outputs\.kb_ents"):
        spacy.blank("en").add_pipe(
            "angel_linker", config={"outputs": {"kb_ents": "computed_elsewhere"}}
        )


# scores


def example(*mentions):
    """mentions: label, gold, predicted."""
    vocab = spacy.blank("en").vocab
    predicted, gold = (Doc(vocab, ["x"] * len(mentions)) for _ in range(2))
    for doc, column in ((gold, 1), (predicted, 2)):
        doc.ents = [
            Span(doc, i, i + 1, label=mention[0], kb_id=mention[column])
            for i, mention in enumerate(mentions)
            if mention[column] is not None
        ]
        for ent in doc.ents:
            ent._.kb_id = ent.kb_id_
    return Example(predicted, gold)


def test_scores_by_hand(make):
    make()
    examples = [
        example(
            ("A", "D1", "D1"),
            ("A", "D1|D2", "D2"),
            ("A", "D1+D2", "D3"),
            ("A", "D1", "NIL"),
            ("B", "", "D1"),
            ("B", "NIL", "NIL"),
            ("B", "D1", None),
            ("B", None, "D1"),
        ),
        example(),
    ]
    scores = score_links(examples)
    # tp 2, fp 2, fn 2; of the six mentions that both have, three are right
    assert scores["nel_micro_p"] == scores["nel_micro_r"] == scores["nel_micro_f"] == 0.5
    assert scores["nel_accuracy"] == 0.5
    assert scores["nel_f_per_type"]["A"]["p"] == pytest.approx(2 / 3)
    assert score_links([], prefix="x")["x_accuracy"] is None


def test_calibration_sets_the_limits(make, tmp_path):
    nlp = make()
    linker = nlp.get_pipe("angel_linker")
    linker.kb.remove("MESH:D000001")
    docs = []
    with nlp.select_pipes(disable="angel_linker"):
        for text, kb_id in [
            ("history of aspirin.", "MESH:D001241"),
            ("history of diabetes.", "MESH:D009203|MESH:D003920"),
            ("history of migraine.", "MESH:D008881"),
            ("history of heart failure.", "MESH:D006333"),
            ("history of zzz qqq.", "NIL"),
            ("history of xqj 77.", ""),
        ]:
            doc = nlp(text)
            doc.ents = [Span(doc, 2, len(doc) - 1, label="X", kb_id=kb_id)]
            docs.append(doc)
    before = [doc.to_bytes() for doc in docs]
    fitted = linker.calibrate(docs)
    assert [doc.to_bytes() for doc in docs] == before
    assert (fitted.n_mentions, fitted.n_found) == (6, 4)
    assert fitted.f == 1.0 > fitted.f_before
    assert linker.settings.search.min_log_prob == fitted.settings["search.min_log_prob"]
    assert linker.settings.threshold == fitted.settings["threshold"]
    found = [linker(doc).ents[0].kb_id_ for doc in docs]
    assert found == ["MESH:D001241", "MESH:D003920", "MESH:D008881", "MESH:D006333", "NIL", "NIL"]
    nlp.to_disk(tmp_path / "saved")
    assert spacy.load(tmp_path / "saved").get_pipe("angel_linker").settings == linker.settings


def test_what_a_corpus_fits_stands_in_the_config_and_any_override_wins(make, tmp_path):
    nlp = make()
    linker = nlp.get_pipe("angel_linker")
    linker.settings = linker.settings.changed(k=4)
    linker.kb.remove("MESH:D000001")
    text = "history of aspirin. history of diabetes. history of zzz qqq."
    found = (("aspirin", "MESH:D001241"), ("diabetes", "MESH:D003920"), ("zzz qqq", "MESH:D099999"))
    mentions = tuple(
        GoldMention(text.index(words), text.index(words) + len(words), words, "X", concept_id)
        for words, concept_id in found
    )
    fitted = calibrate_on(nlp, linker, [CorpusDocument("1", text, mentions)])
    assert linker.settings == linker.settings.changed(k=4, span_key=None, **fitted.settings)
    assert fitted.settings["search.min_log_prob"] is not None
    saved = tmp_path / "saved"
    nlp.to_disk(saved)
    config = spacy.util.load_config(saved / "config.cfg")["components"]["angel_linker"]
    shown = LinkerSettings.flat(config)
    assert {name: shown[name] for name in fitted.settings} == fitted.settings
    assert config["k"] == 4
    assert spacy.load(saved).get_pipe("angel_linker").settings == linker.settings
    defaults = {"threshold": None, "search": {"min_log_prob": None, "temperature": 1.0}}
    overridden = spacy.load(saved, config={"components": {"angel_linker": defaults}})
    expected = linker.settings.changed(**defaults)
    assert overridden.get_pipe("angel_linker").settings == expected


def test_int8_storage_stays_with_the_saved_linker(make, model, tmp_path):
    Generator.from_pretrained(model).to_disk(tmp_path / "small", storage="int8")
    nlp = make(model=str(tmp_path / "small"))
    expected = links(nlp(TEXT))
    nlp.to_disk(tmp_path / "saved")
    assert (tmp_path / "saved/angel_linker/model/model.int8.safetensors").exists()
    assert links(spacy.load(tmp_path / "saved")(TEXT)) == expected
    other = pipeline()
    other.add_pipe("angel_linker", config={"n_sents": 0})
    assert links(other.from_bytes(nlp.to_bytes())(TEXT)) == expected


@pytest.mark.parametrize("copied", [deepcopy, lambda linker: pickle.loads(pickle.dumps(linker))])
def test_a_copy_outlives_the_linker_that_it_was_made_of(make, copied):
    nlp = make()
    with nlp.select_pipes(disable="angel_linker"):
        doc = nlp(TEXT)
    linker = nlp.get_pipe("angel_linker")
    expected = links(linker(doc.copy()))
    again = copied(linker)
    # the files that it has mapped are closed with it
    nlp.remove_pipe("angel_linker")
    del linker
    gc.collect()
    assert links(again(doc)) == expected


def test_settings_are_lent_for_a_block_and_come_back(make):
    linker = make().get_pipe("angel_linker")
    own = linker.settings
    with linker.using(k=2, span_key="gold"):
        assert (linker.settings.k, linker.settings.span_key) == (2, "gold")
        linker.search = {"temperature": 2.0}
    assert linker.settings == own.changed(search={"temperature": 2.0})
    with pytest.raises(ZeroDivisionError), linker.using(search={"temperature": 3.0}):
        _ = 1 / 0
    assert linker.settings.search.temperature == 2.0
    with pytest.raises(AngelError, match="beams"), linker.using(beams=3):
        pass


def test_settings_are_attributes(make):
    linker = make().get_pipe("angel_linker")
    # spaCy's components have labels; this one's are the setting.
    assert LinkerSettings.model_fields.keys() & set(dir(AngelLinker)) == {"labels"}
    linker.labels = ["DISEASE", "DRUG"]
    assert linker.labels == linker.settings.labels == ("DISEASE", "DRUG")
    linker.threshold = 0.7
    assert linker.threshold == linker.settings.threshold == 0.7
    with pytest.raises(AttributeError, match="no attribute 'treshold'"):
        _ = linker.treshold
    assert pickle.loads(pickle.dumps(linker)).threshold == 0.7


def test_types_that_no_concept_has_are_refused_when_a_pipeline_is_loaded(make, tmp_path):
    make().to_disk(tmp_path / "saved")
    config = {"components": {"angel_linker": {"types_by_label": {"DRUG": ["T-47"]}}}}
    with pytest.raises(AngelError, match="'DRUG' the types"):
        spacy.load(tmp_path / "saved", config=config)


def test_links_of_another_process_are_the_same_tuples(make):
    nlp = make()
    (here,) = nlp.pipe([TEXT])
    (there,) = nlp.pipe([TEXT], n_process=2)
    assert links(there) == links(here)
    assert all(isinstance(pair, tuple) for ent in there.ents for pair in ent._.kb_ents)
    assert any(ent._.kb_ents for ent in there.ents)


# the ranker


def typos(nlp: Language) -> Doc:
    words = ["the", "patient", "had", "hart", "atack", "then", "asprin", "."]
    doc = Doc(nlp.vocab, words)
    doc.ents = [Span(doc, 3, 5, label="DISEASE"), Span(doc, 6, 7, label="DRUG")]
    return nlp.get_pipe("angel_linker")(doc)


def test_similar_names_are_candidates_that_the_search_does_not_find(make):
    nlp = make(rerank=True, n_sents=None, ranker={"weights": sure(9.0)}, num_beams=1, k=1)
    doc = typos(nlp)
    assert [ent.kb_id_ for ent in doc.ents] == ["MESH:D009203", "MESH:D001241"]
    linker = nlp.get_pipe("angel_linker")
    for ent in doc.ents:
        assert dict(linker.rank(ent._.candidates)) == pytest.approx(dict(ent._.kb_ents))
        assert 0 < sum(p for _, p in ent._.kb_ents) <= 1


def test_nil_is_an_answer_of_the_ranker_and_no_threshold_takes_it_away(make):
    settings = {"num_beams": 1, "k": 1, "n_sents": None, "ranker": {"weights": sure(-99.0)}}
    nlp = make(rerank=True, threshold=0.5, **settings)
    assert [ent.kb_id_ for ent in typos(nlp).ents] == ["NIL", "NIL"]
    nlp.get_pipe("angel_linker").threshold = None
    assert [ent.kb_id_ for ent in typos(nlp).ents] == ["MESH:D009203", "MESH:D001241"]


def test_a_file_of_weights_decides(make, tmp_path):
    ranker = shipped_ranker().with_weights(sure(-99.0))
    ranker.to_disk(tmp_path / "ranker.json")
    forms = tmp_path / "forms.tsv"
    forms.write_text("1\tMLD\tmetachromatic leukodystrophy\n", "utf8")
    ranker = {"path": str(tmp_path / "ranker.json")}
    reading = {"long_forms": str(forms)}
    nlp = make(rerank=True, n_sents=None, threshold=0.5, ranker=ranker, reading=reading)
    assert [ent.kb_id_ for ent in typos(nlp).ents] == ["NIL", "NIL"]
    nlp.to_disk(tmp_path / "nlp")
    # What they were read from is gone, and the pipeline elsewhere.
    Path(ranker["path"]).unlink()
    forms.unlink()
    moved = (tmp_path / "nlp").rename(tmp_path / "moved")
    again = spacy.load(moved)
    assert [ent.kb_id_ for ent in typos(again).ents] == ["NIL", "NIL"]
    assert again.get_pipe("angel_linker").reading.long_forms == str(
        moved / "angel_linker/long_forms.tsv"
    )


def searched_mentions(linker, monkeypatch):
    """RETURNS (list[Mention]): grows with every mention that the model searches."""
    searched, search = [], linker.generator.search

    def counted(mentions, *arguments, **options):
        searched.extend(mentions)
        return search(mentions, *arguments, **options)

    monkeypatch.setattr(linker.generator, "search", counted)
    return searched


def test_a_name_of_one_concept_is_linked_without_the_search(make, monkeypatch):
    searching = make(rerank=True, n_sents=None)(TEXT)
    nlp = make(rerank=True, n_sents=None, search={"shortcuts": True})
    searched = searched_mentions(nlp.get_pipe("angel_linker"), monkeypatch)
    doc = nlp(TEXT)
    # heart attack and migraine are names of two concepts each
    assert (len(doc.ents), len(searched)) == (3, 2)
    assert [e.kb_id_ for e in doc.ents] == [e.kb_id_ for e in searching.ents]
    (candidate,) = doc.ents[2]._.candidates
    assert candidate["probability"] == 0.96
    assert candidate["log_prob"] is candidate["score"] is None
    assert doc.ents[2]._.kb_ents == [("MESH:D001241", 0.96)]
    # without the ranker the model is asked for all names
    searched.clear()
    nlp.get_pipe("angel_linker").rerank = False
    nlp(TEXT)
    assert len(searched) == 3


@pytest.mark.parametrize("rerank", [False, True])
def test_equal_mentions_of_a_document_are_searched_once(make, rerank, monkeypatch):
    nlp = make(n_sents=None, rerank=rerank, search={"shortcuts": True})
    linker = nlp.get_pipe("angel_linker")
    searched = searched_mentions(linker, monkeypatch)
    first, second = nlp.pipe(["heart attack. Then heart attack again.", "no heart attack."])
    assert len(searched) == 2
    one, other = first.ents
    assert one._.candidates == other._.candidates != second.ents[0]._.candidates
    with linker.using(search={"shortcuts": False}):
        assert nlp(first.text).ents[0]._.candidates == one._.candidates


def test_a_label_of_its_own_is_searched_for_itself(make, monkeypatch):
    linker = make(n_sents=None, search={"shortcuts": True}).get_pipe("angel_linker")
    searched = searched_mentions(linker, monkeypatch)
    doc = Doc(linker.vocab, ["aspirin", "or", "aspirin"])
    doc.ents = [Span(doc, 0, 1, label="DRUG"), Span(doc, 2, 3, label="DISEASE")]
    linker(doc)
    assert len(searched) == 2


def test_a_name_added_a_moment_ago_is_linked(make):
    # The tiny model is sure of the names that it has learned.
    nlp = make(rerank=True, n_sents=None, threshold=0.5, search={"shortcuts": True})
    linker = nlp.get_pipe("angel_linker")
    linker.kb.add(Concept("X:boojum", "Boojum fever"))
    doc = Doc(nlp.vocab, ["with", "Boojum", "Fever", "."])
    doc.ents = [Span(doc, 1, 3, label="DISEASE")]
    assert linker(doc).ents[0].kb_id_ == "X:boojum"


def gold_documents(nlp: Language, n: int) -> list[Doc]:
    docs = []
    for _ in range(n):
        doc = nlp.get_pipe("entity_ruler")(nlp.make_doc("aspirin and migraine"))
        gold = {"DRUG": "MESH:D001241", "DISEASE": "MESH:D008881"}
        doc.ents = [
            Span(doc, e.start, e.end, label=e.label_, kb_id=gold[e.label_]) for e in doc.ents
        ]
        docs.append(doc)
    return docs


def test_weights_are_fitted_and_saved_with_the_pipeline(make, tmp_path):
    nlp = make(rerank=True, n_sents=None)
    linker = nlp.get_pipe("angel_linker")
    fitted = linker.calibrate(gold_documents(nlp, 10))
    assert fitted.nll < fitted.nll_before
    assert fitted.settings["ranker.weights"] == linker.settings.ranker.weights
    assert linker.settings.ranker.weights.keys() == {"CHEMICAL", "DISEASE"}
    assert "ranker.weights      CHEMICAL, DISEASE" in fitted.report()
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path).get_pipe("angel_linker")
    assert again.settings == linker.settings
    copied = AngelLinker(
        nlp.vocab, settings=make(rerank=True, n_sents=None).get_pipe("angel_linker").settings
    )
    assert copied.from_bytes(linker.to_bytes()).settings.ranker.weights == (
        linker.settings.ranker.weights
    )


def test_weights_that_are_worse_on_what_they_have_not_seen_are_not_taken(make, monkeypatch):
    nlp = make(rerank=True, n_sents=None)
    linker = nlp.get_pipe("angel_linker")
    before = linker.settings

    def overfitted(items, start, *, penalty):
        return start | Weights({}, {"bias": -9.0})

    monkeypatch.setattr(calibration, "fit_weights", overfitted)
    with pytest.warns(UserWarning, match="Not calibrated"):
        fitted = linker.calibrate(gold_documents(nlp, 3))
    assert (linker.settings, fitted.nll) == (before, fitted.nll_before)


def test_the_weights_of_an_entity_type_decide_for_its_mentions(make):
    nothing = {"DISEASE": {"link": {"bias": -99.0}}}
    doc = make(rerank=True, n_sents=None, ranker={"weights": nothing}, threshold=0.5)(TEXT)
    linked = {ent.label_: ent._.kb_id != NIL for ent in doc.ents}
    assert linked == {"DISEASE": False, "DRUG": True}
