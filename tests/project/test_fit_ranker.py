"""The script that fits the ranker: sets of mentions, what is kept of them, and its report."""

import importlib.util
import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.helpers import ROOT
from typer.testing import CliRunner

from spacy_angel.corpora.documents import GoldMention
from spacy_angel.linking.ranking.alignment import Alignment
from spacy_angel.linking.ranking.features import CandidateName, MentionCandidates
from spacy_angel.linking.ranking.ranker import Ranker
from spacy_angel.vocabulary.lookup.string_similarity import Similarity

_SPEC = importlib.util.spec_from_file_location("fit_ranker", ROOT / "scripts/fit_ranker.py")
script = importlib.util.module_from_spec(_SPEC)
# Its dataclasses ask for their module.
sys.modules["fit_ranker"] = script
_SPEC.loader.exec_module(script)
CLEAN = [one for one in script.CLEAN if one.corpus == "craft"][:2]


def found(is_right: bool) -> MentionCandidates:
    similarity = Similarity(0.9, 0.9) if is_right else Similarity(0.2, 0.2)
    alignment = Alignment(0.1, 0.1) if is_right else Alignment(0.9, 0.9)
    name = CandidateName(0, "name", -1.0, -1.0, "mention", False, similarity, alignment, ("C:1",))
    other = replace(name, name=1, log_prob=-9.0, concepts=("C:2",), second=frozenset({"C:2"}))
    return MentionCandidates("long mention", (name, other), frozenset({"C:2"}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for one in CLEAN:
        rows = [
            {"doc": str(i), "label": one.label, "gold": ["C:1"] if i % 2 else []}
            | script._plain(found(bool(i % 2)))
            for i in range(40)
        ]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{one.key}.jsonl").write_text(lines)
    return tmp_path


def test_candidates_are_read_as_they_were_kept(folder):
    items = script.read(folder)
    assert len(items) == 80
    assert [item.found for item in items[:2]] == [found(False), found(True)]
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
    (one,) = (s for s in script.CLEAN if s.corpus == "cdr" and s.label == "CHEMICAL")
    drugs = replace(one, corpus="drugs", is_foreign=True)
    (folder / f"{CLEAN[0].key}.jsonl").rename(folder / f"{one.key}.jsonl")
    # An unknown drug that looks as a right chemical does.
    row = json.dumps({"doc": "1", "label": one.label, "gold": []} | script._plain(found(True)))
    (folder / f"{drugs.key}.jsonl").write_text(f"{row}\n" * 40)
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
        assert f"| {one.key} | 40 | 100.0 | 100.0 | 0.0 |" in run.output


def test_numbers_of_genes_are_read_without_remarks_on_their_species():
    one = next(s for s in script.CLEAN if s.corpus == "gnormplus")
    mention = GoldMention(0, 3, "abc", "Gene", "2099(Tax:9606);24513(tax:10116)")
    labelled = script._labelled(mention, one)
    assert (labelled.label, labelled.concept_ids) == ("GENE", "NCBIGene:2099;NCBIGene:24513")


def test_drugs_take_the_places_of_chemicals(tmp_path):
    (tmp_path / "bc5cdr").mkdir()
    shutil.copy(
        ROOT / "tests/fixtures/corpora/CDR_sample.PubTator.txt",
        tmp_path / script.CORPORA["cdr"],
    )
    documents = list(script.with_drugs(tmp_path, ["zufetinib", "loxivaptan"] * 20))
    assert documents
    for document in documents:
        for mention in document.mentions:
            assert document.text[mention.start : mention.end] == mention.text
            assert mention.text in ("zufetinib", "loxivaptan")
            assert mention.concept_ids == ""


def test_drugs_that_are_made_up_are_the_same_each_time():
    names = script.made_up_drugs(20)
    assert names == script.made_up_drugs(20) == sorted(names)
    assert all(name.endswith(script.STEMS) for name in names)
