"""Annotation of files: outputs and manifest, failures, streams, the command line, formats."""

import gzip
import json
import os
import sys

import pytest
import spacy
from annotation.conftest import rows, shard_files, times
from typer.testing import CliRunner

import spacy_angel
from spacy_angel.annotation.run import annotate
from spacy_angel.cli.app import app
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.errors import AngelError, AngelWarning
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

PUBTATOR = """\
1|t|Heart attack and aspirin
1|a|Then migraine.
1\t0\t12\tHeart attack\tDisease\tD000009
1\t17\t24\taspirin\tChemical\t-1
1\t0\t24\tHeart attack and aspirin\tBoth\t-1

2|t|A headache, not named
2|a|history of diabetes.

"""


def test_shards_and_manifest(pipeline, source, tmp_path):
    manifest = annotate(source, pipeline, output=tmp_path / "out", shard_size=10)
    shards = shard_files(tmp_path / "out")
    assert [path.name for path in shards] == [f"00000-00000{i}.jsonl" for i in range(3)]
    assert [path.read_bytes().count(b"\n") for path in shards] == [10, 10, 5]
    assert [row["doc_id"] for row in rows(tmp_path / "out")] == [f"d{i}" for i in range(25)]
    assert {row["input"] for row in rows(tmp_path / "out")} == {"in.jsonl"}
    assert manifest == json.loads((tmp_path / "out/_manifest.json").read_text("utf8"))
    assert manifest["complete"] is True
    counts = manifest["counts"]
    assert (counts["documents"], counts["failed"], counts["shards"]) == (25, 0, 3)
    assert counts["mentions"] == sum(len(row["mentions"]) for row in rows(tmp_path / "out"))
    (entry,) = manifest["inputs"]
    assert (entry["format"], entry["error"], entry["shards"]) == ("jsonl", None, 3)
    assert len(entry["sha256"]) == 64
    assert manifest["settings"]["shard_size"] == 10
    assert {"spacy-angel", "torch", "device"} <= set(manifest["settings"]["versions"])


def test_what_does_not_fit_is_refused(pipeline, source, tmp_path):
    out = tmp_path / "out"
    annotate(source, pipeline, output=out, shard_size=10)
    with pytest.raises(AngelError, match=r"other settings \(candidates, shard_size\)"):
        annotate(source, pipeline, output=out, candidates=True)
    with pytest.raises(AngelError, match="other files and no run to continue"):
        annotate(source, pipeline, output=tmp_path)
    with pytest.raises(AngelError, match="shard_size must be a whole number from 1, not 0"):
        annotate(source, pipeline, output=tmp_path / "x", shard_size=0)
    with pytest.raises(AngelError, match="There is no output format 'xls'"):
        annotate(source, pipeline, output=tmp_path / "x", output_format="xls")
    with pytest.raises(AngelError, match="mentions must be auto, input or pipeline"):
        annotate(source, pipeline, output=tmp_path / "x", mentions="all")
    with pytest.raises(AngelError, match="Protocol not known"):
        annotate(source, pipeline, output="nosuch://bucket/out")
    with pytest.raises(AngelError, match="must be a folder or a URL"):
        annotate(source, pipeline, output="-")
    assert not (tmp_path / "x").exists()


def test_faults_and_failures_are_recorded(pipeline, tmp_path):
    too_long = json.dumps({"id": "2", "text": "x" * 1_000_001})
    (tmp_path / "in.jsonl").write_text('{"id": 1, "text": "aspirin"}\n{\n' + too_long, "utf8")
    out = tmp_path / "out"
    command = ["annotate", str(tmp_path / "in.jsonl"), "-o", str(out), "--pipeline", str(pipeline)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 3
    assert "1 documents, 1 mentions, 1 linked, 1 failed, 1 faults, 1 documents left" in done.stdout
    assert "1 faults, see the manifest" in done.stderr
    manifest = json.loads((out / "_manifest.json").read_bytes())
    assert (manifest["finished"], manifest["complete"]) == (True, False)
    assert manifest["inputs"][0]["counts"]["documents_left_out"] == 1
    assert "in.jsonl, line 2" in manifest["inputs"][0]["notes"][0]
    [[doc_id, reason]] = manifest["shards"][0]["failures"]
    assert (doc_id, reason[:18]) == ("2", "ValueError: [E088]")
    # it stays so although there is nothing left to do
    assert CliRunner().invoke(app, command).exit_code == 3
    (tmp_path / "b.jsonl").write_text('{"text": "aspirin", "mentions": [{"start": 0, "end": 9}]}')
    with pytest.warns(AngelWarning, match="not inside the text"):
        manifest = annotate(tmp_path / "b.jsonl", pipeline, output=tmp_path / "b")
    assert (manifest["complete"], manifest["counts"]["mentions_left_out"]) == (False, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes there")
def test_a_name_that_is_no_text_is_escaped(pipeline, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("aspirin")
    (folder / os.fsdecode(b"b\xff.txt")).write_text("migraine")
    out = tmp_path / "out"
    manifest = annotate(folder, pipeline, output=out)
    assert (manifest["counts"]["documents"], manifest["complete"]) == (2, True)
    assert [row["doc_id"] for row in rows(out)] == ["a", r"b\udcff"]


def test_a_loaded_pipeline_and_the_function_of_the_package(pipeline, source, tmp_path):
    nlp = spacy.load(pipeline)
    settings = {"output": tmp_path / "out", "shard_size": 10}
    first = spacy_angel.annotate(source, nlp, **settings)
    nlp("words that its vocab has not met")
    assert spacy_angel.annotate(source, nlp, **settings) == first
    annotate(source, pipeline, output=tmp_path / "folder", shard_size=10)
    assert rows(tmp_path / "out") == rows(tmp_path / "folder")


def test_another_vocabulary(pipeline, tmp_path):
    """The mentions of an output stay, and only links of the new vocabulary are in the new one."""
    ConceptKB.build([Concept("MY:1", "Migraine")], tmp_path / "kb")
    note, out, again = tmp_path / "note.txt", tmp_path / "out", tmp_path / "again"
    note.write_text("She had migraine after aspirin.")
    annotate(note, output=out)
    command = ["annotate", str(out), "--mentions", "input", "-o", str(again)]
    for _ in range(2):
        done = CliRunner().invoke(app, [*command, "--kb", str(tmp_path / "kb")])
        assert done.exit_code == 0, done.stderr
    found = [[(m["text"], m["concept_id"]) for m in row["mentions"]] for row in rows(again)]
    assert found == [[("migraine", "MY:1"), ("aspirin", None)]]
    assert [row["input"] for row in rows(again)] == ["00000-000000.jsonl"]
    refused = CliRunner().invoke(app, command)
    assert "other settings (pipeline)" in refused.stderr


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_folder_of_tables_is_read_as_it_is(pipeline, source, tmp_path, format):
    pd, dataset = map(pytest.importorskip, ("pandas", "pyarrow.dataset"))
    out = tmp_path / "out"
    annotate(source, pipeline, output=out, output_format=format, shard_size=10)
    if format == "parquet":
        assert pd.read_parquet(out)["doc_id"].tolist() == [f"d{i}" for i in range(25)]
    else:
        assert sum(len(pd.read_csv(path)) for path in out.glob("*.csv")) == 50
    assert dataset.dataset(out, format=format).count_rows() == (25 if format == "parquet" else 50)


def test_the_command_line_tells_of_a_cut_input(pipeline, source, tmp_path):
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(gzip.compress(source.read_bytes())[:-20])
    command = ["annotate", str(source), str(cut), "-o", str(tmp_path / "out"), "--candidates"]
    done = CliRunner().invoke(app, [*command, "--pipeline", str(pipeline)])
    assert done.exit_code == 1
    assert "Not read to the end" in done.stderr
    # The other input is complete.
    found = rows(tmp_path / "out")
    assert [row["doc_id"] for row in found[:25]] == [f"d{i}" for i in range(25)]
    assert found[0]["mentions"][0]["candidates"]


def citations(path, *articles, deleted=()):
    """Write a PubMed file of PMIDs, versions and titles."""
    content = "".join(
        f'<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID><Article>'
        f"<ArticleTitle>{title}</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
        for pmid, version, title in articles
    )
    pmids = "".join(f'<PMID Version="1">{pmid}</PMID>' for pmid in deleted)
    content += f"<DeleteCitation>{pmids}</DeleteCitation>"
    path.write_text(f"<PubmedArticleSet>{content}</PubmedArticleSet>")


def test_of_an_article_in_pubmed_the_latest_version_is_annotated(pipeline, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    baseline = [(i, 1, f"aspirin {i}") for i in range(1, 8)]
    citations(folder / "pubmed26n0001.xml", *baseline, (7, 2, "migraine"), (7, 1, "old"))
    citations(folder / "pubmed26n0002.xml", (2, 1, "migraine"), (9, 1, "migraine"), deleted=(3,))
    options = {"output": tmp_path / "out", "shard_size": 2}
    manifest = annotate(folder, pipeline, **options)
    found = [(row["input"][11:13], row["doc_id"], row["text"]) for row in rows(tmp_path / "out")]
    assert found == [
        *(("02", "2", "migraine"), ("02", "9", "migraine"), ("01", "1", "aspirin 1")),
        *(("01", str(i), f"aspirin {i}") for i in (4, 5, 6)),
        ("01", "7", "migraine"),
    ]
    counts = manifest["counts"]
    assert (counts["documents"], counts["superseded"], manifest["complete"]) == (7, 4, True)
    # What a new file replaces or deletes is annotated anew, and nothing else.
    before = times(tmp_path / "out")
    assert annotate(folder, pipeline, **options) == manifest
    citations(folder / "pubmed26n0003.xml", (5, 1, "migraine again"), deleted=(9,))
    annotate(folder, pipeline, **options)
    after = times(tmp_path / "out")
    changed = sorted(name for name in before if after[name] != before[name])
    assert changed == ["00000-000000.jsonl", "00001-000002.jsonl"]
    found = [row["doc_id"] for row in rows(tmp_path / "out")]
    assert sorted(found) == ["1", "2", "4", "5", "6", "7"]
    annotate(folder, pipeline, output=tmp_path / "anew", shard_size=2)
    anew = sorted(json.dumps(row) for row in rows(tmp_path / "anew"))
    assert anew == sorted(json.dumps(row) for row in rows(tmp_path / "out"))


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_an_output_is_an_input(pipeline, tmp_path, format):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    source = tmp_path / "in.pubtator"
    source.write_text(PUBTATOR, "utf8")
    settings = {"output_format": format, "candidates": True}
    manifest = annotate(source, pipeline, output=tmp_path / "out", **settings)
    assert (manifest["counts"]["documents"], manifest["counts"]["mentions"]) == (2, 4)
    given, _ = read_corpus(source)
    first, second = read_corpus(tmp_path / f"out/00000-000000.{format}")
    offsets = [(m.start, m.end, m.text, m.label) for m in given.mentions]
    assert [(m.start, m.end, m.text, m.label) for m in first.mentions] == offsets
    assert (second.text, second.title_end) == ("A headache, not named history of diabetes.", 21)
    assert [(m.start, m.end, m.text) for m in second.mentions] == [(33, 41, "diabetes")]
    again = annotate(tmp_path / "out", pipeline, output=tmp_path / "again", **settings)
    assert again["counts"]["linked"] == manifest["counts"]["linked"]
