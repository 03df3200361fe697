"""The component in its pipeline."""

import gc
import json
import os
import pickle
import shutil
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace

import pytest
import spacy
import torch
from spacy.cli import app as spacy_app
from spacy.tokens import Doc, Span
from support import models
from support.tiny_linker import TEXT, pipeline, settings_of
from typer.testing import CliRunner

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.errors import AngelError
from spacy_angel.linking.decision import calibration
from spacy_angel.linking.linker import AngelLinker
from spacy_angel.linking.ranking.ranker import Weights, shipped_ranker
from spacy_angel.linking.settings.linker_settings import PUBLISHED
from spacy_angel.pipelines.components import calibrate_on
from spacy_angel.search.generator import Generator
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

torch.set_num_threads(1)


def sure(bias, kinds=("ALL", "CHEMICAL", "DISEASE")):
    """Whether all or none of the best concepts are right; letters decide which is the best."""
    ranker = shipped_ranker()
    concept = {"similarity": 40.0, "similarity_unsure": 0.0}

    def changed(weights):
        return Weights({**weights.concept, **concept}, {**weights.link, "bias": bias})

    by_type = {k: changed(w) if k in kinds else w for k, w in ranker.by_type.items()}
    general = changed(ranker)
    return replace(ranker, concept=general.concept, link=general.link, by_type=by_type)


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
            assert set(candidate) == {"concept_id", "name", "score", "log_prob", "probability"}
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
    linker.settings.decision.prefer = ["DOID", "MONDO"]
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
    linker.settings.decision.prefer = ["umls"]
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


# which mentions


def test_documents_without_mentions_open_nothing(tmp_path):
    nlp = pipeline()
    nlp.add_pipe("angel_linker", config={"model": "no/where", "vocabulary": str(tmp_path)})
    assert nlp("").ents == nlp("no mention here").ents == ()
    assert [doc.text for doc in nlp.pipe(["", "none"])] == ["", "none"]


def test_odd_mentions_get_a_link_and_harm_nobody(make):
    nlp = make(span_key="found")
    doc = nlp.make_doc("aspirin 😀 痛み. \n " + "word " * 400 + "history of migraine.")
    nlp.get_pipe("sentencizer")(doc)
    n = len(doc)
    blank = next(t.i for t in doc if not t.text.strip())
    spans = [(0, 1), (1, 2), (2, 3), (blank, blank + 1), (0, n), (2, 6), (n - 2, n - 1)]
    group(doc, *((*span, "X") for span in spans))
    nlp.get_pipe("angel_linker")(doc)
    found = doc.spans["found"]
    assert [(s.start, s.end) for s in found] == spans
    assert found[0].kb_id_ == "MESH:D001241"
    assert found[6].kb_id_ == "MESH:D008881"
    assert found[3].kb_id_ == "NIL"
    assert found[3]._.candidates == []
    assert all(s._.candidates and s.kb_id_ != "NIL" for s in found if s.text.strip())


@pytest.mark.parametrize(("labels", "expected"), [((), "MY:1"), (("MyType",), "NIL")])
def test_types_of_one_s_own_that_no_label_has_are_for_every_label(make, tmp_path, labels, expected):
    types = {"DISEASE": ["T047"], **({"MINE": labels} if labels else {})}
    nlp = make(rerank=True, threshold=0.5, shortcuts=True)
    linker = nlp.get_pipe("angel_linker")
    linker.kb.add(Concept("MY:1", "Snark fever", types=("MyType",)))
    linker.kb.add(Concept("MY:2", "Boojum oil", types=("T121",)))

    def link(text):
        doc = nlp.get_pipe("sentencizer")(nlp.make_doc(text))
        doc.ents = [Span(doc, 0, len(doc), label="DISEASE")]
        return linker(doc).ents[0]._.kb_id

    linker.settings.candidates.types_by_label = types
    for _ in range(2):
        assert link("snark fever") == expected
        # a drug is none, whoever added it
        assert link("boojum oil") == "NIL"
        # once more as it was saved
        linker.kb.to_disk(tmp_path / "kb")
        linker.kb = ConceptKB.from_disk(tmp_path / "kb")


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


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("heart attack", {}),
        # The probability of what is taken for the name of one concept is 0.96.
        ("aspirin", {"rerank": True, "shortcuts": True}),
    ],
)
def test_a_link_under_the_threshold_is_nil(make, text, settings):
    (ent,) = make(threshold=0.97, **settings)(text).ents
    assert (ent.kb_id_, ent._.kb_id, ent._.kb_ents) == ("NIL", "NIL", [])
    assert ent._.candidates[0]["concept_id"] in {*models.DISEASES, *models.DRUGS, "MESH:D000001"}
    (ent,) = make(threshold=0.4, **settings)(text).ents
    assert ent.kb_id_ != "NIL"


def test_what_is_not_linked_and_hardly_a_mention_is_left_out(make):
    probabilities = {"heart attack": 0.2, "migraine": 0.7, "aspirin": None}
    found = {}
    for least in (0.0, 0.5, 1.0):
        # Nothing links, or everything.
        for limit in (1.0, None):
            nlp = make(threshold=limit, drop_unlinked_below=least)
            with nlp.select_pipes(disable=["angel_linker"]):
                doc = nlp(TEXT)
            for ent in doc.ents:
                ent._.mention_probability = probabilities[ent.text]
            doc = nlp.get_pipe("angel_linker")(doc)
            found[least, limit] = [ent.text for ent in doc.ents]
    everything = list(probabilities)
    assert found == {
        (0.0, 1.0): everything,
        (0.0, None): everything,
        (0.5, 1.0): ["migraine", "aspirin"],
        (0.5, None): everything,
        (1.0, 1.0): ["aspirin"],
        (1.0, None): everything,
    }


# errors


def test_a_bad_document_costs_no_other(make, monkeypatch):
    nlp = make()
    failed = []
    nlp.set_error_handler(lambda name, proc, docs, error: failed.append((name, docs, error)))
    docs = [nlp(text) for text in ("aspirin", "migraine", "diabetes", "metformin")]
    linker = nlp.get_pipe("angel_linker")
    predict = linker.predict

    def fails(batch):
        if docs[2] in batch:
            raise AngelError("bad")
        return predict(batch)

    monkeypatch.setattr(linker, "predict", fails)
    assert list(linker.pipe(docs, batch_size=4)) == [docs[0], docs[1], docs[3]]
    ((name, bad_docs, error),) = failed
    assert (name, bad_docs, str(error)) == ("angel_linker", [docs[2]], "bad")
    assert linker(docs[2]) is None
    assert len(failed) == 2


# model and vocabulary


def test_hub_names_are_fetched_in_initialize_only(make, model, monkeypatch):
    asked = []
    load = Generator.from_pretrained.__func__

    def from_pretrained(cls, name, **kwargs):
        asked.append((name, kwargs["local_files_only"]))
        return load(cls, model, **kwargs)

    nlp = make(model="dmis-lab/ANGEL_bc5cdr")
    with pytest.raises(AngelError, match="Cannot download the model"):
        nlp("aspirin")
    monkeypatch.setattr(Generator, "from_pretrained", classmethod(from_pretrained))
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
    model = {json.dumps(model)}
    vocabulary = {json.dumps(str(words))}

    [components.angel_linker.candidates]
    num_beams = 3
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
    assert nlp.get_pipe("angel_linker").settings.candidates.num_beams == 3


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
    assert [c.concept_id for c in linker.kb.find("asa tablet")] == ["MESH:D001241"]
    # and once more, over the folder that it was opened from
    loaded.to_disk(tmp_path / "saved")
    assert links(spacy.load(tmp_path / "saved")(TEXT)) == expected


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
    nlp = make()
    second = nlp.add_pipe(
        "angel_linker",
        name="snomed_linker",
        config={
            **PUBLISHED,
            "model": model,
            "outputs": {
                "kb_id": "snomed_id",
                "kb_ents": "snomed_ents",
                "candidates": "snomed_candidates",
            },
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


def test_computed_attributes_of_others_are_not_taken():
    Span.set_extension("computed_elsewhere", getter=lambda span: "x")
    with pytest.raises(AngelError, match=r"computed_elsewhere.*outputs\.kb_ents"):
        spacy.blank("en").add_pipe(
            "angel_linker", config={"outputs": {"kb_ents": "computed_elsewhere"}}
        )


# fitting


def test_the_threshold_is_fitted_without_the_reranker(make, tmp_path):
    nlp = make()
    linker = nlp.get_pipe("angel_linker")
    linker.kb.remove("MESH:D000001")
    text = "history of aspirin. history of diabetes. history of zzz qqq."
    found = (("aspirin", "MESH:D001241"), ("diabetes", "MESH:D003920"), ("zzz qqq", "MESH:D099999"))
    mentions = tuple(
        GoldMention(text.index(words), text.index(words) + len(words), words, "X", concept_id)
        for words, concept_id in found
    )
    fitted = calibrate_on(nlp, linker, [CorpusDocument("1", text, mentions)])
    assert (fitted.n_mentions, fitted.ranker) == (3, None)
    assert linker.settings.decision.threshold == fitted.threshold is not None
    assert linker.settings.candidates.span_key is None
    saved = tmp_path / "saved"
    nlp.to_disk(saved)
    config = spacy.util.load_config(saved / "config.cfg")["components"]["angel_linker"]
    assert config["decision"]["threshold"] == fitted.threshold
    assert spacy.load(saved).get_pipe("angel_linker").settings == linker.settings


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
    own = linker.settings.changed({})
    with linker.using(candidates={"span_key": "gold"}, decision={"threshold": 0.9}):
        assert linker.settings.candidates.span_key == "gold"
        linker.settings.candidates.num_beams = 2
    own.candidates.num_beams = 2
    assert linker.settings == own
    with pytest.raises(ZeroDivisionError), linker.using(decision={"threshold": 0.1}):
        _ = 1 / 0
    assert linker.settings == own
    with pytest.raises(AngelError, match="beams"), linker.using(candidates={"beams": 3}):
        pass
    assert pickle.loads(pickle.dumps(linker)).settings == own


# the ranker


def typos(nlp):
    words = ["the", "patient", "had", "hart", "atack", "then", "asprin", "."]
    doc = Doc(nlp.vocab, words)
    doc.ents = [Span(doc, 3, 5, label="DISEASE"), Span(doc, 6, 7, label="DRUG")]
    return nlp.get_pipe("angel_linker")(doc)


def test_weights_decide_and_are_saved(make, tmp_path):
    nlp = make(rerank=True, threshold=0.5, num_beams=1)
    nlp.get_pipe("angel_linker").ranker = sure(-99.0)
    assert [ent.kb_id_ for ent in typos(nlp).ents] == ["NIL", "NIL"]
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load((tmp_path / "nlp").rename(tmp_path / "moved"))
    assert [ent.kb_id_ for ent in typos(again).ents] == ["NIL", "NIL"]
    copied = AngelLinker(nlp.vocab, settings=settings_of()).from_bytes(
        nlp.get_pipe("angel_linker").to_bytes()
    )
    assert copied.ranker == sure(-99.0)
    # NIL is an answer of the reranker, and the threshold alone turns it into one.
    nlp.get_pipe("angel_linker").settings.decision.threshold = None
    assert [ent.kb_id_ for ent in typos(nlp).ents] == ["MESH:D009203", "MESH:D001241"]


def searched_mentions(linker, monkeypatch):
    """RETURNS (list[Mention]): grows with every mention that the model searches."""
    searched, search = [], linker.generator.search

    def counted(mentions, *arguments, **options):
        searched.extend(mentions)
        return search(mentions, *arguments, **options)

    monkeypatch.setattr(linker.generator, "search", counted)
    return searched


def test_a_name_of_one_concept_is_linked_without_the_search(make, monkeypatch):
    searching = make(rerank=True)(TEXT)
    nlp = make(rerank=True, shortcuts=True)
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
    nlp.get_pipe("angel_linker").settings.reranker.enabled = False
    nlp(TEXT)
    assert len(searched) == 3


@pytest.mark.parametrize("rerank", [False, True])
def test_equal_mentions_of_a_document_are_searched_once(make, rerank, monkeypatch):
    nlp = make(rerank=rerank, shortcuts=True)
    linker = nlp.get_pipe("angel_linker")
    searched = searched_mentions(linker, monkeypatch)
    first, second = nlp.pipe(["heart attack. Then heart attack again.", "no heart attack."])
    assert len(searched) == 2
    one, other = first.ents
    assert one._.candidates == other._.candidates != second.ents[0]._.candidates
    with linker.using(candidates={"shortcuts": False}):
        assert nlp(first.text).ents[0]._.candidates == one._.candidates


def gold_documents(nlp, n):
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
    nlp = make(rerank=True)
    linker = nlp.get_pipe("angel_linker")
    fitted = linker.calibrate(gold_documents(nlp, 10))
    assert fitted.nll < fitted.nll_before
    assert fitted.ranker is linker.ranker
    shipped = shipped_ranker().by_type
    changed = {kind for kind, own in linker.ranker.by_type.items() if own != shipped[kind]}
    assert changed == {"CHEMICAL", "DISEASE"}
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path).get_pipe("angel_linker")
    assert (again.settings, again.ranker) == (linker.settings, linker.ranker)


def test_weights_that_are_worse_on_what_they_have_not_seen_are_not_taken(make, monkeypatch):
    nlp = make(rerank=True)
    linker = nlp.get_pipe("angel_linker")
    before = linker.ranker

    def overfitted(items, start, *, penalty):
        return replace(start, link={**start.link, "bias": -9.0})

    monkeypatch.setattr(calibration, "fit_weights", overfitted)
    with pytest.warns(UserWarning, match="Not calibrated"):
        fitted = linker.calibrate(gold_documents(nlp, 3))
    assert linker.ranker is before
    assert (fitted.ranker, fitted.nll) == (None, fitted.nll_before)
