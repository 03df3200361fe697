"""Raw corpora become the files that training reads, and nothing is lost on the way."""

import json
import re
from dataclasses import replace

import pytest
from support.corpora import RICH, plain
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.corpora.convert import prepare_corpus
from spacy_angel.corpora.preprocessing import PUBLISHED
from spacy_angel.corpora.registry import (
    FORMATS,
    infer_format,
    read_corpus,
    writable_formats,
    write_corpus,
)
from spacy_angel.errors import AngelError, AngelWarning

STEPS = replace(PUBLISHED["bc5cdr"], abbreviations="scispacy")
# A composite whose parts are spelled out, a mention without id, one that no vocabulary has.
PARTS = "\tOcular toxicity|auditory toxicity"
CORPUS = """\
1|t|Ocular and auditory toxicity
1|a|Gentamicin (GM) was stopped. GM is old, deafness is not, nor is zeal.
1\t0\t28\tOcular and auditory toxicity\tDisease\tD014786|D006311@PARTS
1\t29\t39\tGentamicin\tChemical\tD005839
1\t58\t60\tGM\tChemical\tD005839
1\t69\t77\tdeafness\tDisease\tD003638
1\t93\t97\tzeal\tDisease\t-1

""".replace("@PARTS", PARTS)
OTHER = """\
2|t|Deafness
2|a|It lasted.
2\t0\t8\tDeafness\tDisease\tD003638

"""
KNOWN = {"MESH:D014786", "MESH:D006311", "MESH:D005839"}


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "a_train.txt", tmp_path / "b_train.txt"]
    for path, text in zip(paths, (CORPUS, OTHER), strict=True):
        path.write_text(text, "utf8")
    return paths


def in_order(document):
    return replace(document, mentions=tuple(sorted(document.mentions, key=repr)))


def test_what_is_written_is_read_back_with_parts(tmp_path, files):
    output = tmp_path / "corpus/train.json"
    report = prepare_corpus(files, output, steps=STEPS, kb=KNOWN)
    first, second = read_corpus(output)
    assert first.text == (
        "ocular and auditory toxicity gentamicin (gentamicin) was stopped. gentamicin is old, "
        "deafness is not, nor is zeal."
    )
    assert [(m.text, m.concept_ids, m.parts) for m in first.mentions] == [
        (
            "ocular and auditory toxicity",
            "MESH:D014786|MESH:D006311",
            ("ocular toxicity", "auditory toxicity"),
        ),
        ("gentamicin", "MESH:D005839", ()),
        ("gentamicin", "MESH:D005839", ()),
    ]
    assert second.mentions == ()
    counts = report.counts
    assert (counts["documents_written"], counts["mentions_written"]) == (2, 3)
    assert (counts["unknown_left_out"], counts["abbreviations_expanded"]) == (3, 2)


def test_a_fault_leaves_the_old_file_and_no_other(tmp_path, files):
    output = tmp_path / "out/train.json"
    prepare_corpus(files[1:], output)
    before = output.read_bytes()
    files[1].write_text(OTHER.replace("\t0\t8\t", "\t1\t9\t"), "utf8")
    with pytest.raises(AngelError, match="Deafness"):
        prepare_corpus(files, output)
    assert output.read_bytes() == before
    assert [path.name for path in output.parent.iterdir()] == ["train.json"]


def run(*arguments):
    return CliRunner().invoke(app, ["corpus", *map(str, arguments)])


def test_the_command_prints_counts_and_writes(tmp_path, files):
    concepts = [
        {"concept_id": concept_id, "canonical_name": concept_id, "aliases": [], "types": []}
        for concept_id in sorted(KNOWN)
    ]
    kb = tmp_path / "kb.jsonl"
    kb.write_text("".join(json.dumps(c) + "\n" for c in concepts), "utf8")
    output = tmp_path / "train.json"
    options = ("--preprocessing", "bc5cdr", "--abbreviations", "scispacy")
    result = run(*files, "-o", output, *options, "--kb", kb)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert "  unknown_left_out         3" in lines
    assert lines[-1] == f"2 documents, 3 mentions: {output}"
    assert [len(d.mentions) for d in read_corpus(output)] == [3, 0]
    result = run(*files, "-o", output, *options)
    assert result.exit_code == 1
    assert "needs the vocabulary" in result.stderr


def test_the_command_writes_for_other_tools_and_reads_what_they_give_back(tmp_path, files):
    result = run(*files, "-o", tmp_path / "tasks.json", "--to", "label_studio")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].startswith("2 documents, 6 mentions: ")
    assert (tmp_path / "tasks.xml").exists()
    back = ("--option", "results=predictions", "--to", "pubtator")
    result = run(tmp_path / "tasks.json", "-o", tmp_path / "back_train.txt", *back)
    assert result.exit_code == 0, result.output
    # Label Studio has no place for the parts of a composite.
    expected = re.sub(r"\bD0", "MESH:D0", CORPUS + OTHER).replace(PARTS, "")
    assert (tmp_path / "back_train.txt").read_text("utf8") == expected


def test_the_command_writes_names_of_the_vocabulary(tmp_path, files):
    kb = tmp_path / "kb.jsonl"
    concept = {"concept_id": "MESH:D003638", "canonical_name": "Hearing Loss"}
    kb.write_text(json.dumps({**concept, "aliases": [], "types": []}) + "\n", "utf8")
    result = run(*files, "-o", tmp_path / "brat", "--to", "brat", "--kb", kb)
    assert result.exit_code == 0, result.output
    lines = (tmp_path / "brat/2.ann").read_text("utf8").splitlines()
    assert lines == ["T1\tDisease 0 8\tDeafness", "N1\tReference T1 MESH:D003638\tHearing Loss"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--to", "cometa"], "The format cometa cannot be written. Formats that can: "),
        (["--to", "xyz"], "There is no corpus format 'xyz'"),
        (["--to", "brat", "--to-option", "results=x"], "brat has no option results"),
    ],
)
def test_what_cannot_be_written_is_told_before_reading(tmp_path, files, options, problem):
    result = run(*files, "-o", tmp_path / "x", *options)
    assert result.exit_code == 1
    assert problem in result.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", writable_formats())
def test_what_is_written_is_told_by_itself_and_keeps_offsets(tmp_path, name):
    document = replace(plain(RICH), doc_id="3", text=RICH.text.replace("\n", " "), title_end=None)
    mentions = [
        replace(m, text=m.text.replace("\n", " "), label=re.sub("[ ,]", "_", m.label))
        for m in document.mentions
    ]
    document = replace(document, mentions=tuple(mentions))
    path = tmp_path / ("dev.spacy" if name == "docbin" else "dev")
    write_corpus([document], path, name)
    assert infer_format(path) == name
    results = {"results": "predictions"} if name == "label_studio" else {}
    (found,) = read_corpus(path, **results)
    assert replace(found, title_end=None) == document
    if "read_as" in FORMATS[name].lacks:
        with pytest.warns(AngelWarning, match="no place for .*read_as.*; they are lost"):
            write_corpus([RICH], tmp_path / "rich", name)
