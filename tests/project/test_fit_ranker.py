"""The script that fits the ranker: sets of mentions, what is kept of them, and its report."""

import importlib
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from support.helpers import ROOT
from typer.testing import CliRunner

from spacy_angel.corpora.documents import GoldMention
from spacy_angel.linking.ranking.alignment import Alignment
from spacy_angel.linking.ranking.features import CandidateName, MentionCandidates
from spacy_angel.linking.ranking.ranker import Ranker, Table
from spacy_angel.vocabulary.lookup.string_similarity import Similarity
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name

sys.path.append(str(ROOT / "scripts"))
script, sets = map(importlib.import_module, ("fit_ranker", "ranker_sets"))
CLEAN = [one for one in sets.CLEAN if one.corpus == "craft"][:2]


def found(is_right: bool) -> MentionCandidates:
    similarity = Similarity(0.9, 0.9) if is_right else Similarity(0.2, 0.2)
    alignment = Alignment(0.1, 0.1) if is_right else Alignment(0.9, 0.9)
    name = CandidateName(0, "name", -1.0, -1.0, "mention", False, similarity, alignment, ("C:1",))
    other = replace(name, name=1, log_prob=-9.0, concepts=("C:2",), second=frozenset({"C:2"}))
    return MentionCandidates("long mention", (name, other), frozenset({"C:2"}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for one in CLEAN:
        rows = (
            (str(i), one.label, {"C:1"} if i % 2 else (), found(bool(i % 2))) for i in range(40)
        )
        lines = "".join(script.to_line(*row) for row in rows)
        (tmp_path / f"{one.key}.jsonl").write_text(lines)
    return tmp_path


def test_candidates_are_read_as_they_were_kept(folder):
    row = ("1", "CL", frozenset({"C:1", "C:2"}), found(True))
    assert script.from_line(script.to_line(*row)) == row
    items = script.read(folder)
    assert len(items) == 80
    assert [item.gold for item in items[:2]] == [frozenset(), {"C:1"}]
    assert np.array_equal(items[1].table.terms, Table(found(True)).terms)
    assert {item.of for item in items} == set(CLEAN)


def test_a_ranker_is_fitted_and_a_vocabulary_left_out(folder, tmp_path):
    run = CliRunner().invoke(
        script.app, ["fit", str(folder), "-o", str(tmp_path / "r.json"), "--leave-out", CLEAN[0].kb]
    )
    assert run.exit_code == 0, run.output
    ranker = Ranker.from_disk(tmp_path / "r.json")
    right, wrong = (ranker.rank(found(b), "X").concepts[0].probability for b in (True, False))
    assert wrong < 0.3 < 0.7 < right
    # The same set alone gives the same weights: nothing is left to chance.
    again = script.fit_ranker(script.read(folder), [CLEAN[0].kb])
    assert again == ranker


def test_types_have_weights_of_their_own(folder):
    (one,) = (s for s in sets.CLEAN if s.corpus == "cdr" and s.label == "CHEMICAL")
    drugs = replace(one, corpus="drugs", is_foreign=True)
    (folder / f"{CLEAN[0].key}.jsonl").rename(folder / f"{one.key}.jsonl")
    # An unknown drug that looks as a right chemical does.
    row = script.to_line("1", one.label, (), found(True))
    (folder / f"{drugs.key}.jsonl").write_text(row * 40)
    ranker = script.fit_ranker(script.read(folder))
    assert set(ranker.by_type) == {"CHEMICAL"}
    chemical, other = (ranker.rank(found(True), label).concepts[0] for label in ("Drug", "X"))
    assert chemical.probability < other.probability - 0.1
    left = script.fit_ranker(script.read(folder), [one.kb])
    assert left.by_type == {}


def test_the_report_has_a_line_for_each_set(folder):
    run = CliRunner().invoke(script.app, ["report", str(folder)])
    assert run.exit_code == 0, run.output
    for one in CLEAN:
        # Right at every second mention, and linked there alone.
        assert f"| {one.key} | 40 | 100.0 | 100.0 | 100.0 | 0.0 | 0.0 |" in run.output


def test_numbers_of_genes_are_read_without_remarks_on_their_species():
    mention = GoldMention(0, 3, "abc", "Gene", "2099(Tax:9606);24513(tax:10116)")
    labelled = sets.labelled(mention, "GENE")
    assert (labelled.label, labelled.concept_ids) == ("GENE", "NCBIGene:2099;NCBIGene:24513")


def test_of_a_concept_one_name_is_hidden_or_all():
    words = ("heart", "lung", "liver", "brain", "skin", "bone", "hand", "foot", "neck", "back")
    concepts = [
        Concept(f"C:{i}", f"{word} {number}", (f"{number}th {word} part", "shared name"))
        for i, (word, number) in enumerate((w, n) for w in words for n in range(9))
    ]
    left, mentions = sets.hide_names(concepts, 60, "PO", Random(1))
    names = {c.concept_id: c.names for c in left}
    everything = {normalize_name(name) for own in names.values() for name in own}
    before = {c.concept_id: c.names for c in concepts}
    assert len(mentions) == len({c for _, c in mentions}) == 60
    assert {len(names.get(c, ())) for _, c in mentions} == {0, 2}
    assert all(normalize_name(text) not in everything for text, _ in mentions)
    assert 40 < sum(text in before[c] for text, c in mentions) < 60
    assert all(names[c] == before[c] for c in names.keys() - {c for _, c in mentions})


def test_drugs_take_the_places_of_chemicals(tmp_path):
    (tmp_path / "bc5cdr").mkdir()
    shutil.copy(
        ROOT / "tests/fixtures/corpora/CDR_sample.PubTator.txt",
        tmp_path / sets.CORPORA["cdr"],
    )
    documents = list(sets.with_drugs(tmp_path, ["zufetinib", "loxivaptan"] * 20))
    assert documents
    for document in documents:
        for mention in document.mentions:
            assert document.text[mention.start : mention.end] == mention.text
            assert mention.text in ("zufetinib", "loxivaptan")
            assert mention.concept_ids == ""


def test_drugs_that_are_made_up_are_the_same_each_time():
    names = sets.made_up_drugs(20)
    assert names == sets.made_up_drugs(20) == sorted(names)
    assert all(name.endswith(tuple(sets.STEMS.split())) for name in names)
