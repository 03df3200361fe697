"""Corpora become entities by the rules, and the recogniser's configs can learn from them."""

import random
from dataclasses import replace

import pytest
import spacy
import typer
from spacy.training import Corpus, Example
from spacy.util import load_config, registry
from support.helpers import ROOT
from support.scripts import load_script
from typer.testing import CliRunner

from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.corpora.recogniser_data import swap_mentions
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.errors import AngelError

entity_docs, in_all_letters, to_entities, unmarked_strings = (
    getattr(load_script("scripts/entities.py"), name)
    for name in ("entity_docs", "in_all_letters", "to_entities", "unmarked_strings")
)

names_by_label = load_script("scripts/notes.py").names_by_label

# As NCBI-disease: four types of diseases, chemicals unmarked. Two mentions overlap.
DISEASES = """\
11|t|Cholesterol in familial LCAT deficiency.
11|a|Breast and ovarian cancer was absent, no BE, be it rare. Iron in cat eye syndrome: no NO.
11\t15\t39\tfamilial LCAT deficiency\tSpecificDisease\tD007863
11\t24\t39\tLCAT deficiency\tSpecificDisease\tD007863
11\t41\t66\tBreast and ovarian cancer\tCompositeMention\tD001943|D010051
11\t106\t122\tcat eye syndrome\tModifier\tC535918

"""
# As BC5CDR. `dementia` ends a token and does not begin it.
BOTH = """\
21|t|Phenobarbital-induced dyskinesia without pseudodementia.
21|a|Iron, NO and cholesterol were normal.
21\t0\t13\tPhenobarbital\tChemical\tD010634
21\t22\t32\tdyskinesia\tDisease\tD004409
21\t47\t55\tdementia\tDisease\tD003704
21\t57\t61\tIron\tChemical\tD007501
21\t63\t65\tNO\tChemical\tD009569
21\t70\t81\tcholesterol\tChemical\tD002784
21\tCID\tD010634\tD004409

"""


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "NCBItrainset_corpus.txt", tmp_path / "CDR_TrainingSet.PubTator.txt"]
    for path, text in zip(paths, (DISEASES, BOTH), strict=True):
        path.write_text(text, encoding="utf8")
    return paths


def read(path):
    report = CorpusReport()
    return list(to_entities(read_corpus(path, report=report), report=report)), report


def entities(doc):
    return [(entity.text, entity.label_) for entity in doc.ents]


def test_two_labels_and_the_longest_of_overlapping_mentions(files):
    (document,), report = read(files[0])
    assert [(m.start, m.end, m.label, m.concept_ids) for m in document.mentions] == [
        (15, 39, "DISEASE", ""),
        (41, 66, "DISEASE", ""),
        (106, 122, "DISEASE", ""),
    ]
    assert report.counts["overlapping_left_out"] == 1


def test_unknown_type_is_named(files):
    with pytest.raises(AngelError, match=r"'Disease' of 'dyskinesia'.*Chemical"):
        list(to_entities(read_corpus(files[1]), labels={"Chemical": "CHEMICAL"}))


def test_tokens_of_unmarked_strings_are_left_open(files, nlp):
    diseases, both = (read(path)[0] for path in files)
    report = CorpusReport()
    (doc,) = entity_docs(diseases, nlp, unmarked_strings(diseases, both), report)
    assert [token.text for token in doc if token.ent_iob_ == ""] == ["Cholesterol", "Iron", "NO"]
    assert entities(doc) == [
        ("familial LCAT deficiency", "DISEASE"),
        ("Breast and ovarian cancer", "DISEASE"),
        ("cat eye syndrome", "DISEASE"),
    ]
    assert report.counts == {"entities_DISEASE": 3, "tokens_left_open": 3}


def test_a_label_with_a_question_mark_leaves_its_tokens_open(nlp):
    text = "Fever after a rub of salt."
    marked = (GoldMention(0, 5, "Fever", "Disease"), GoldMention(14, 17, "rub", "Disease?"))
    salt = GoldMention(21, 25, "salt", "Chemical?")
    (document,) = to_entities([CorpusDocument("1", text, (*marked, salt))])
    (doc,) = entity_docs([document], nlp)
    assert entities(doc) == [("Fever", "DISEASE")]
    assert [token.text for token in doc if token.ent_iob_ == ""] == ["rub", "salt"]
    # It says of no other corpus that it has such strings, and its own labels are known.
    assert unmarked_strings([document], [document]) == frozenset()
    other = replace(document, mentions=())
    assert unmarked_strings([other], [document]) == {"Fever", "fever"}


def test_entity_inside_a_token_is_neither_taught_nor_forgotten(files, nlp):
    documents, report = read(files[1])
    (doc,) = entity_docs(documents, nlp, report=report)
    assert entities(doc) == [
        ("Phenobarbital", "CHEMICAL"),
        ("dyskinesia", "DISEASE"),
        ("dementia", "DISEASE"),
        ("Iron", "CHEMICAL"),
        ("NO", "CHEMICAL"),
        ("cholesterol", "CHEMICAL"),
    ]
    assert report.counts["entities_inside_tokens"] == 1
    assert (report.counts["entities_DISEASE"], report.counts["entities_CHEMICAL"]) == (2, 4)

    example = Example(nlp.make_doc(doc.text), doc)
    tags = dict(zip((t.text for t in example.predicted), example.get_aligned_ner(), strict=True))
    assert tags["pseudodementia"] is None
    assert (tags["Phenobarbital"], tags["induced"], tags["."]) == ("U-CHEMICAL", "O", "O")
    # One who finds all that tokens allow has missed one.
    example.predicted.set_ents(example.get_aligned_spans_y2x(doc.ents))
    scores = nlp.create_pipe("ner").score([example])
    assert (scores["ents_p"], scores["ents_r"]) == (1.0, pytest.approx(5 / 6))


def test_swapped_mentions_move_with_the_text():
    text = "MI after MI, given X. Flu!"
    mentions = [(9, 11, "DISEASE"), (0, 2, "DISEASE"), (19, 20, "CHEMICAL"), (22, 25, "OTHER")]
    document = CorpusDocument(
        "1", text, tuple(GoldMention(a, b, text[a:b], label) for a, b, label in mentions)
    )
    names = {"DISEASE": ["T1DM of the young"], "CHEMICAL": ["Warfarin", "Heparin"]}
    found = set()
    for seed in range(20):
        swapped = swap_mentions(document, names, random.Random(seed))
        chemical = swapped.mentions[2].text
        found.add(chemical)
        young = "T1DM of the young"
        assert swapped.text == f"{young} after {young}, given {chemical}. Flu!"
        end = 47 + len(chemical)
        assert [(m.start, m.end, m.label) for m in swapped.mentions] == [
            (24, 41, "DISEASE"),
            (0, 17, "DISEASE"),
            (49, 49 + len(chemical), "CHEMICAL"),
            (end + 4, end + 7, "OTHER"),
        ]
        assert all(swapped.text[m.start : m.end] == m.text for m in swapped.mentions)
    assert found == {"Warfarin", "Heparin", "warfarin", "heparin"}


def run_script(*arguments):
    app = typer.Typer()
    app.command()(load_script("scripts/ner_corpus.py").main)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_script_writes_what_spacy_trains_on(files, tmp_path, nlp):
    folder = tmp_path / "ner"
    done = run_script("--train", files[0], "--train", files[1], "--output", folder)
    assert done.exit_code == 0
    assert "entities_DISEASE 3" in done.output
    assert not (folder / "dev.spacy").exists()
    first, second = Corpus(folder / "train.spacy")(nlp)
    assert entities(first.reference)[0] == ("familial LCAT deficiency", "DISEASE")
    assert [t.text for t in first.reference if not t.ent_iob_] == ["Cholesterol", "Iron", "NO"]
    assert entities(second.reference)[0] == ("Phenobarbital", "CHEMICAL")


def test_script_adds_copies_with_names_of_a_vocabulary(files, tmp_path, nlp):
    names = tmp_path / "names.jsonl"
    names.write_text(
        '{"concept_id": "MESH:D005776", "canonical_name": "GAUCHER", "types": ["Disease"]}\n',
        encoding="utf8",
    )
    arguments = ["--train", files[0], "--dev", files[0], "--names", names, "--output", tmp_path]
    assert run_script(*arguments).exit_code == 0
    first, second = Corpus(tmp_path / "train.spacy")(nlp)
    assert entities(first.reference)[0] == ("familial LCAT deficiency", "DISEASE")
    assert entities(second.reference) == [("GAUCHER", "DISEASE")] * 3
    assert second.text.startswith("Cholesterol in GAUCHER. GAUCHER was absent, no BE,")
    assert len(list(Corpus(tmp_path / "dev.spacy")(nlp))) == 1


def test_script_adds_notes(files, tmp_path, nlp):
    names = tmp_path / "names.jsonl"
    names.write_text(
        '{"concept_id": "MESH:D005776", "canonical_name": "GAUCHER", "types": ["Disease"]}\n',
        encoding="utf8",
    )
    arguments = ["--train", files[1], "--dev", files[1], "--names", names, "--notes", 5]
    assert run_script(*arguments, "--output", tmp_path).exit_code == 0
    gold, swapped, restyled, *notes = Corpus(tmp_path / "train.spacy")(nlp)
    assert [len(example.reference.ents) for example in (gold, swapped, restyled)] == [6, 6, 6]
    assert len(notes) == 5
    texts = {ent.text.lower() for note in notes for ent in note.reference.ents}
    assert texts & {"gaucher", "phenobarbital", "dyskinesia", "iron", "cholesterol", "no"}
    assert len(list(Corpus(tmp_path / "dev.spacy")(nlp))) == 1


@pytest.mark.parametrize("name", ["ner_mini", "ner_trf"])
def test_config_is_complete(name):
    config = load_config(ROOT / "configs" / f"{name}.cfg").interpolate()
    nlp = spacy.util.load_model_from_config(config, auto_fill=True)
    assert nlp.pipe_names[-1] == "ner"
    training = registry.resolve(nlp.config.interpolate()["training"], validate=False)
    assert training["max_steps"] > 0
    assert config["corpora"]["train"]["augmenter"]["level"] > 0
