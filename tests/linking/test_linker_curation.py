"""The linker under a file of rules: each kind holds for the next document."""

import os
import time

import pytest
import spacy
import torch
from spacy.tokens import Span
from support.tiny_linker import blocks, pipeline

from spacy_angel.vocabulary.changes.rules import COLUMNS

torch.set_num_threads(1)
ATTACK, ASPIRIN, NAMESAKE = "MESH:D009203", "MESH:D001241", "MESH:D000001"
SETTINGS = [{}, {"rerank": True}, {"rerank": True, "shortcuts": True}]


@pytest.fixture(params=SETTINGS, ids=["model", "ranker", "unsearched"])
def nlp(model, vocabulary, tmp_path, request):
    """A pipeline whose rules are in `rules.tsv` of the test's folder, none at first."""
    write(tmp_path)
    made = pipeline()
    config = {"model": model, "vocabulary": vocabulary, **request.param}
    made.add_pipe("angel_linker", config=blocks(**config, curation=str(tmp_path / "rules.tsv")))
    return made


def write(folder, *rules):
    """Write the rules, a second later than those before."""
    path = folder / "rules.tsv"
    stamp = path.stat().st_mtime + 1 if path.exists() else time.time()
    rows = [COLUMNS, *([rule.get(name, "") for name in COLUMNS] for rule in rules)]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf8")
    os.utime(path, (stamp, stamp))


def link(nlp, text="the patient had aspirin .", start=3, end=4, label="DRUG"):
    doc = nlp.make_doc(text)
    doc.ents = [Span(doc, start, end, label=label)]
    return nlp.get_pipe("angel_linker")(doc).ents[0]


def concepts(ent):
    return {candidate["concept_id"] for candidate in ent._.candidates}


def test_a_string_that_is_no_mention_links_to_nothing(nlp, tmp_path):
    assert link(nlp)._.kb_id == ASPIRIN
    write(tmp_path, {"action": "exclude", "string": "ASPIRIN"})
    ent = link(nlp)
    assert (ent._.kb_id, ent._.candidates) == ("NIL", [])
    doc = nlp.make_doc("the patient had aspirin .")
    doc.ents = [Span(doc, 3, 4, label="DRUG", kb_id=ASPIRIN)]
    assert nlp.get_pipe("angel_linker").calibration_items([doc]) == []
    write(tmp_path)
    assert link(nlp)._.kb_id == ASPIRIN


def test_a_string_that_means_a_concept_links_to_it(nlp, tmp_path):
    text = "the patient had the big one ."
    write(tmp_path, {"action": "prefer", "string": "the big one", "concept": ATTACK})
    ent = link(nlp, text, 3, 6, "DISEASE")
    assert (ent._.kb_id, ent._.kb_ents) == (ATTACK, [(ATTACK, 0.96)])
    assert [c["log_prob"] for c in ent._.candidates] == [None]
    # A person's decision holds whatever the label says, unless the rule names one.
    assert link(nlp, text, 3, 6, "GENE")._.kb_id == ATTACK
    assert ATTACK not in [c.concept_id for c in nlp.get_pipe("angel_linker").kb.find("big one")]


def test_a_new_name_is_a_candidate_and_the_vocabulary_stays(nlp, tmp_path):
    write(tmp_path, {"action": "add", "string": "acetylsal", "concept": ASPIRIN})
    ent = link(nlp, "the patient had acetylsal .")
    if nlp.get_pipe("angel_linker").settings.reranker.enabled:
        assert "acetylsal" in {c["name"] for c in ent._.candidates}
        assert ent._.kb_id == ASPIRIN
    assert nlp.get_pipe("angel_linker").kb.find("acetylsal") == []


def test_excluded_concepts_and_types_are_no_candidates(nlp, tmp_path):
    assert ASPIRIN in concepts(link(nlp, label="ONE"))
    write(tmp_path, {"action": "exclude", "concept": ASPIRIN, "label": "One"})
    left = concepts(link(nlp, label="ONE"))
    # The beams go to others: it is left out of the trie, not of what was found.
    assert left
    assert ASPIRIN not in left
    assert link(nlp, label="TWO")._.kb_id == ASPIRIN
    write(tmp_path, {"action": "exclude", "type": "T121"})
    kb = nlp.get_pipe("angel_linker").kb
    assert all("T121" not in kb[c].types for c in concepts(link(nlp)))


def test_a_string_counts_only_as_it_is_written(nlp, tmp_path):
    write(tmp_path, {"action": "allow", "string": "Aspirin"})
    text = "the patient had Aspirin and aspirin ."
    doc = nlp.make_doc(text)
    doc.ents = [Span(doc, 3, 4, label="DRUG"), Span(doc, 5, 6, label="DRUG")]
    with nlp.get_pipe("angel_linker").using(candidates={"shortcuts": True}):
        doc = nlp.get_pipe("angel_linker")(doc)
    assert [ent._.kb_id for ent in doc.ents] == [ASPIRIN, "NIL"]


def test_the_identifier_that_is_preferred_is_written(nlp, tmp_path):
    write(tmp_path, {"action": "prefer", "concept": "CHEBI:15365", "instead_of": ASPIRIN})
    ent = link(nlp)
    assert ent._.kb_id == ent._.kb_ents[0][0] == ent._.candidates[0]["concept_id"] == "CHEBI:15365"
    assert ent._.candidates[0]["other_ids"] == [ASPIRIN]


def test_rules_are_saved_with_the_pipeline(nlp, tmp_path):
    write(tmp_path, {"action": "exclude", "string": "aspirin"})
    nlp.to_disk(tmp_path / "saved")
    data = nlp.get_pipe("angel_linker").to_bytes()
    (tmp_path / "rules.tsv").unlink()
    again = spacy.load(tmp_path / "saved")
    assert link(again)._.kb_id == "NIL"
    own = tmp_path / "saved" / "angel_linker" / "curation.tsv"
    assert again.get_pipe("angel_linker").settings.decision.curation == str(own)
    # A pipeline that is saved once more, and into its own folder, keeps them.
    again.to_disk(tmp_path / "saved")
    (tmp_path / "saved").rename(tmp_path / "moved")
    moved = spacy.load(tmp_path / "moved")
    assert link(moved)._.kb_id == "NIL"
    other = pipeline()
    linker = other.add_pipe("angel_linker", config=blocks()).from_bytes(data)
    assert link(other)._.kb_id == "NIL"
    assert linker.to_bytes() is not None
    # Whoever names others gets those.
    write(tmp_path)
    decision: dict = {"curation": str(tmp_path / "rules.tsv")}
    config = {"components": {"angel_linker": {"decision": decision}}}
    assert link(spacy.load(tmp_path / "moved", config=config))._.kb_id == ASPIRIN
    config["components"]["angel_linker"]["decision"]["curation"] = None
    assert link(spacy.load(tmp_path / "moved", config=config))._.kb_id == ASPIRIN


def test_a_new_name_is_found_as_a_mention(model, vocabulary, tmp_path):
    write(tmp_path, {"action": "add", "string": "acetylsal", "concept": ASPIRIN})
    nlp = spacy.blank("en")
    nlp.add_pipe("angel_matcher", config={"label": "DRUG"})
    rules = str(tmp_path / "rules.tsv")
    config = {"model": model, "vocabulary": vocabulary, "curation": rules}
    nlp.add_pipe("angel_linker", config=blocks(**config))
    assert [ent.text for ent in nlp("He took Acetylsal .").ents] == ["Acetylsal"]
    write(tmp_path)
    assert nlp("He took Acetylsal .").ents == ()
