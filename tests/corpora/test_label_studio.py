"""Label Studio: tasks to import, exported projects, and that nothing is lost between."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from support.corpora import RICH, documents, plain
from support.helpers import ROOT

from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.corpora.formats.label_studio import write_label_studio
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.errors import AngelError

EXPORT = ROOT / "tests/fixtures/corpora/label_studio.json"


def read(path, **options):
    report = CorpusReport()
    return list(read_corpus(path, "label_studio", report=report, **options)), report


def ids(document):
    return [(mention.text, mention.concept_ids) for mention in document.mentions]


def changed(path, change):
    """A copy of the export with something else in it."""
    tasks = json.loads(EXPORT.read_text("utf8"))
    change(tasks)
    path.write_text(json.dumps(tasks), "utf8")
    return path


def test_what_an_annotator_made_of_a_task_is_read():
    (first, second), report = read(EXPORT)
    assert ids(first) == [
        ("Fever", "MESH:D005334"),
        ("renal\nfailure", "MESH:D051437|MESH:D007674"),
        ("gentamicin", ""),
    ]
    assert (first.doc_id, first.mentions[0].label) == ("5001", "Disease")
    # Of two annotators the one whose work is the ground truth.
    assert (second.doc_id, ids(second)) == ("5002", [("Fever", "MESH:D005334")])
    assert report.counts == {
        "documents": 2,
        "mentions": 4,
        "mentions_without_id": 1,
        "cancelled_annotations": 1,
        "tasks_without_annotations": 1,
        "results_left_out": 1,
    }


def test_predictions_are_read_where_they_are_asked_for():
    found, _ = read(EXPORT, results="predictions")
    assert [document.doc_id for document in found] == ["5001", "5002", "5003"]
    assert ids(found[0]) == [("Fever", "MESH:D005334"), ("gentamicin", "MESH:D005839")]
    with pytest.raises(AngelError, match=r"results .* must be 'annotations' or 'predictions'"):
        read(EXPORT, results="both")


@pytest.mark.parametrize(
    ("annotator", "expected"),
    [
        ("anna@example.org", [("Fever", "")]),
        ("ben@example.org", [("Fever", "MESH:D005334")]),
        ("1", [("Fever", "")]),
    ],
)
def test_of_several_annotators_one_is_named(annotator, expected):
    found, _ = read(EXPORT, annotator=annotator)
    (second,) = [document for document in found if document.doc_id == "5002"]
    assert ids(second) == expected


def test_missing_annotations_are_told(tmp_path):
    with pytest.raises(AngelError, match=r"has annotations by cara.*anna@example\.org"):
        read(EXPORT, annotator="cara")
    path = tmp_path / "x.json"
    write_label_studio([RICH], path)
    with pytest.raises(AngelError, match=r"none of the 1 tasks has annotations"):
        read(path)


def test_names_of_fields_can_be_others(tmp_path):
    path = tmp_path / "x.json"
    region = {"id": "r", "type": "labels", "value": {"start": 0, "end": 5, "labels": ["A", "B"]}}
    region["meta"] = {"mesh": "D005334"}
    task = {"id": 7, "data": {"body": "Fever."}, "annotations": [{"result": [region]}]}
    path.write_text(json.dumps([task]), "utf8")
    (document,), _ = read(path, text_field="body", id_field="mesh")
    mention = GoldMention(0, 5, "Fever", "A,B", "MESH:D005334")
    assert document == CorpusDocument("7", "Fever.", (mention,))
    with pytest.raises(
        AngelError, match=r"x\.json, item 1: .*the field text.*found.* body.*text_field"
    ):
        read(path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda tasks: tasks[0].pop("data"), "data: Field required"),
        (lambda tasks: tasks[0]["data"].update(text=3), "text: Input should be a valid string"),
        (lambda tasks: tasks.__setitem__(0, 3), "valid dictionary"),
    ],
)
def test_a_malformed_task_costs_no_other(tmp_path, change, problem):
    path = changed(tmp_path / "x.json", change)
    with pytest.raises(AngelError, match=rf"x\.json, item 1: .*{problem}"):
        read(path)
    found, report = read(path, strict=False)
    assert [document.doc_id for document in found] == ["5002"]
    assert report.counts["documents_left_out"] == 1


@given(document=documents())
def test_any_document_there_and_back(tmp_path_factory, document):
    path = tmp_path_factory.mktemp("x") / "x.json"
    write_label_studio([document], path)
    assert read(path, results="predictions")[0] == [plain(document)]


def test_tasks_are_as_label_studio_takes_them(tmp_path):
    """https://labelstud.io/guide/predictions"""
    path = tmp_path / "tasks.json"
    mention = replace(RICH.mentions[1], start=2, end=7)
    write_label_studio([CorpusDocument("1", "😀 Fever.", (mention,))], path)
    base = {"id": "1", "to_name": "text"}
    assert json.loads(path.read_text("utf8")) == [
        {
            "data": {"text": "😀 Fever.", "doc_id": "1"},
            "predictions": [
                {
                    "model_version": "spacy-angel",
                    "result": [
                        base
                        | {"type": "labels", "from_name": "label"}
                        | {"value": {"start": 2, "end": 7, "text": "Fever", "labels": ["Disease"]}},
                        base
                        | {"type": "textarea", "from_name": "concept_id"}
                        | {"value": {"start": 2, "end": 7, "text": ["MESH:D005334+OMIM:1"]}},
                    ],
                }
            ],
        }
    ]


def test_names_of_concepts_are_shown_and_not_read(tmp_path):
    def name_of(concept_id):
        return {"MESH:D014786": "Vision Disorders", "OMIM:1": "One"}.get(concept_id, "")

    path = tmp_path / "tasks.json"
    write_label_studio([RICH], path, names=name_of)
    (task,) = json.loads(path.read_text("utf8"))
    fields = [one for one in task["predictions"][0]["result"] if one["type"] == "textarea"]
    assert [(one["id"], one["from_name"], one["value"]["text"]) for one in fields] == [
        ("1", "concept_id", ["MESH:D014786", "MESH:D006311"]),
        ("1", "concept_name", ["Vision Disorders"]),
        ("2", "concept_id", ["MESH:D005334+OMIM:1"]),
        ("2", "concept_name", ["One"]),
        ("3", "concept_id", ["3767"]),
        ("4", "concept_id", ["HGVS:c.1+1G>C"]),
    ]
    view = ElementTree.fromstring(path.with_suffix(".xml").read_text("utf8"))
    assert [one.get("name") for one in view.iter("TextArea")] == ["concept_id", "concept_name"]
    found, report = read(path, results="predictions")
    assert found == [plain(RICH)]
    assert report.counts["results_left_out"] == 0
