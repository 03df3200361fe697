"""An annotated set with a new vocabulary: what changes, and whether the model had to be asked."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from support.tiny_annotation import make_pipeline, write_jsonl
from typer.testing import CliRunner

from spacy_angel.annotation import relink as module
from spacy_angel.annotation.inputs import plan_inputs
from spacy_angel.annotation.relink import relink
from spacy_angel.annotation.run import annotate
from spacy_angel.annotation.stored import read_stored
from spacy_angel.cli.app import app
from spacy_angel.errors import AngelError
from spacy_angel.linking.decision.vocabulary_change import VocabularyChange
from spacy_angel.pipelines.load import open_pipeline
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory) -> Path:
    return make_pipeline(tmp_path_factory.mktemp("relink"))


@pytest.fixture(scope="module")
def old(pipeline) -> ConceptKB:
    return ConceptKB.from_disk(pipeline / "angel_linker/kb")


@pytest.fixture(scope="module")
def annotated(pipeline, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("annotated")
    texts = write_jsonl(folder / "texts.jsonl", 12)
    annotate(texts, pipeline, output=folder / "out", candidates=True, shard_size=5)
    return folder / "out"


def changed(old, folder, change):
    """A vocabulary whose concepts `change` has changed; None takes one away."""
    ConceptKB.build(filter(None, map(change, old)), folder)
    return folder


def read(folder):
    lines = [line for path in sorted(folder.glob("0*.jsonl")) for line in path.open("rb")]
    return [json.loads(line) for line in lines]


def table(path):
    with path.open(encoding="utf8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def linked(documents):
    return {m["concept_id"] for d in documents for m in d["mentions"]} - {None}


@pytest.fixture
def no_model(monkeypatch):
    """The pipeline is opened for its vocabulary only."""

    def refuse(*_, **__):
        raise AssertionError("the model was asked")

    monkeypatch.setattr(module, "DocumentLinker", refuse)


def test_the_same_vocabulary_changes_nothing_and_asks_nothing(
    annotated, pipeline, old, tmp_path, no_model
):
    kb = changed(old, tmp_path / "kb", lambda concept: concept)
    paths = {"changes": tmp_path / "c.tsv", "output": tmp_path / "new"}
    result = relink(annotated, kb, pipeline=pipeline, **paths)
    assert result.counts == {"documents": 12, "mentions": 24, "may_change": 0, "asked_documents": 0}
    assert table(tmp_path / "c.tsv") == []
    for path in annotated.glob("0*.jsonl"):
        assert (tmp_path / "new" / path.name).read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.tsv", "kb", "new"]


def test_merged_and_renamed_concepts_need_no_model(annotated, pipeline, old, tmp_path, no_model):
    first = min(linked(read(annotated)))

    def change(concept):
        if concept.concept_id != first:
            return concept
        return replace(concept, concept_id="NEW:1", alternate_ids=(first,))

    kb = changed(old, tmp_path / "kb", change)
    paths = {"changes": tmp_path / "c.tsv", "output": tmp_path / "new"}
    result = relink(annotated, kb, pipeline=pipeline, **paths)
    before = [m for d in read(annotated) for m in d["mentions"]]
    after = [m for d in read(tmp_path / "new") for m in d["mentions"]]
    n = sum(m["concept_id"] == first for m in before)
    assert n
    assert result.counts["merged"] == n
    assert {(row["change"], row["old_id"], row["new_id"]) for row in table(tmp_path / "c.tsv")} == {
        ("merged", first, "NEW:1")
    }
    for was, now in zip(before, after, strict=True):
        assert now["concept_id"] == ("NEW:1" if was["concept_id"] == first else was["concept_id"])
        assert now["share"] == was["share"]
        assert now["probability"] is was["probability"] is None


def test_documents_that_may_change_are_linked_as_annotate_would(annotated, pipeline, old, tmp_path):
    first = min(linked(read(annotated)))
    kb = changed(old, tmp_path / "kb", lambda c: None if c.concept_id == first else c)
    paths = {"changes": tmp_path / "c.tsv", "output": tmp_path / "new"}
    result = relink(annotated, kb, pipeline=pipeline, **paths)
    assert 0 < result.counts["asked_documents"] < 12
    rows = table(tmp_path / "c.tsv")
    assert len(rows) == sum(result.counts[kind] for kind in ("moved", "linked", "unlinked"))
    assert {row["old_id"] for row in rows} == {first}
    nlp, linker = open_pipeline(pipeline)
    linker.kb = ConceptKB.from_disk(kb)
    nlp.to_disk(tmp_path / "pipeline")
    arguments = {"mentions": "input", "candidates": True, "shard_size": 5}
    annotate(annotated, tmp_path / "pipeline", output=tmp_path / "whole", **arguments)
    ids = [[m["concept_id"] for m in d["mentions"]] for d in read(tmp_path / "whole")]
    assert [[m["concept_id"] for m in d["mentions"]] for d in read(tmp_path / "new")] == ids
    again = relink(annotated, kb, pipeline=pipeline, changes=tmp_path / "all.tsv", ask_all=True)
    assert again.counts["asked_documents"] == 12
    ids_only = ("doc_id", "start", "change", "old_id", "new_id")
    assert [[row[name] for name in ids_only] for row in table(tmp_path / "all.tsv")] == [
        [row[name] for name in ids_only] for row in rows
    ]


def test_an_interrupted_run_goes_on_after_the_files_that_were_done(
    annotated, pipeline, old, tmp_path, monkeypatch
):
    kb = changed(old, tmp_path / "kb", lambda concept: concept)
    arguments = {"changes": tmp_path / "c.tsv", "output": tmp_path / "new", "pipeline": pipeline}
    read_files = []
    whole = module.read_stored

    def interrupted(source):
        read_files.append(Path(source.name).name)
        if len(read_files) == 2:
            raise KeyboardInterrupt
        return whole(source)

    monkeypatch.setattr(module, "read_stored", interrupted)
    with pytest.raises(KeyboardInterrupt):
        relink(annotated, kb, **arguments)
    assert not (tmp_path / "c.tsv").exists()
    result = relink(annotated, kb, **arguments)
    assert result.counts["documents"] == 12
    files = [f"00000-00000{i}.jsonl" for i in range(3)]
    assert read_files == [*files[:2], *files[1:]]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == files


@pytest.mark.parametrize("format", ["parquet", "pubtator", "docbin", "bioc_json", "csv", "tsv"])
def test_every_format_is_relinked(format, annotated, pipeline, old, tmp_path):
    annotate(annotated, pipeline, output=tmp_path / "out", output_format=format)
    kb = changed(old, tmp_path / "kb", lambda concept: concept)
    arguments = ("relink", tmp_path / "out", "--kb", kb, "--pipeline", pipeline)
    more = ("--changes", tmp_path / "c.tsv", "-o", tmp_path / "new")
    result = CliRunner().invoke(app, [str(argument) for argument in (*arguments, *more)])
    assert result.exit_code == 0, result.stderr
    assert "24 mentions in 12 documents; 0 might change" in result.stdout
    assert "links that change: 0 moved, 0 linked, 0 unlinked, 0 merged" in result.stdout
    names = [path.name for path in (tmp_path / "out").iterdir() if path.name.startswith("0")]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(names)


def test_what_cannot_be_relinked_is_told(annotated, pipeline, old, tmp_path):
    kb = changed(old, tmp_path / "kb", lambda concept: concept)
    (tmp_path / "own.tsv").write_text("doc_id\tstart\td1\t0\n", "utf8")
    with pytest.raises(AngelError, match=r"is not a table of mentions by.*concept_id, end"):
        list(read_stored(plan_inputs([tmp_path / "own.tsv"], "csv")[0]))
    with pytest.raises(AngelError, match="holds the files that are read"):
        relink(annotated, kb, pipeline=pipeline, changes=tmp_path / "c.tsv", output=annotated)


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_a_table_takes_the_texts_that_it_needs(format, annotated, pipeline, old, tmp_path):
    texts = write_jsonl(tmp_path / "texts.jsonl", 12)
    annotate(texts, pipeline, output=tmp_path / "out", output_format=format, candidates=True)
    gone = min(linked(read(annotated)))
    kb = changed(old, tmp_path / "kb", lambda c: None if c.concept_id == gone else c)
    paths = {"changes": tmp_path / "c.tsv", "output": tmp_path / "new"}
    with pytest.raises(AngelError, match=r"has no texts, and document.*--texts"):
        relink(tmp_path / "out", kb, pipeline=pipeline, **paths)
    fewer = write_jsonl(tmp_path / "fewer.jsonl", 1)
    with pytest.raises(AngelError, match=r"fewer\.jsonl: expected .* in document"):
        relink(tmp_path / "out", kb, pipeline=pipeline, texts=fewer, ask_all=True, **paths)
    result = relink(tmp_path / "out", kb, pipeline=pipeline, texts=texts, **paths)
    assert 0 < result.counts["asked_documents"] < 12
    # The same as from JSON lines, which have the texts.
    other = {"changes": tmp_path / "other.tsv", "output": tmp_path / "other"}
    assert relink(annotated, kb, pipeline=pipeline, **other).counts == result.counts
    assert table(tmp_path / "other.tsv") == table(tmp_path / "c.tsv")
    (first,) = (tmp_path / "new").glob(f"0*.{format}")
    assert gone not in first.read_text("utf8")


@pytest.mark.parametrize("texts", [("migraine", "migraine"), ("migraine", "no migraine")])
def test_documents_of_one_identifier_in_a_table(texts, pipeline, old, tmp_path):
    lines = [{"doc_id": "1", "text": text} for text in (*texts, "migraine")]
    lines[-1]["doc_id"] = "2"
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf8")
    names = "doc_id,start,end,text,label,concept_id,name,probability,share"
    starts = [("1", text.index("migraine")) for text in texts] + [("2", 0)]
    rows = [f"{doc_id},{start},{start + 8},migraine,,,,," for doc_id, start in starts]
    (tmp_path / "out.csv").write_text("\n".join([names, *rows, ""]), "utf8")
    kb = changed(old, tmp_path / "kb", lambda concept: concept)
    paths = {"changes": tmp_path / "c.tsv", "texts": path, "pipeline": pipeline}
    if len({*texts}) == 2:
        # Nothing in the table says which mention is of which of them.
        with pytest.raises(AngelError, match=r"texts\.jsonl has different texts with the id 1\."):
            relink(tmp_path / "out.csv", kb, ask_all=True, **paths)
    else:
        counts = relink(tmp_path / "out.csv", kb, ask_all=True, **paths).counts
        assert (counts["documents"], counts["mentions"], counts["asked_documents"]) == (2, 3, 2)


def test_what_may_change_by_hand():
    concepts = [
        Concept("A:1", "heart attack", ("infarct",)),
        Concept("A:2", "migraine"),
        Concept("A:3", "zoster", ("shingles",)),
    ]
    new = [
        Concept("A:1", "heart attack", ("infarct", "cardiac arrest of sorts")),
        Concept("A:2", "migraine"),
        Concept("A:4", "zoster"),
        Concept("A:5", "migraine with aura"),
    ]
    change = VocabularyChange(ConceptKB.build(concepts), ConceptKB.build(new))
    # Its concept is as it was, and no name near it is new.
    assert not change.may_change("infarct", "A:1")
    # The concept is gone; a new name is near; a candidate's name leads elsewhere.
    assert change.may_change("zoster", "A:3")
    assert change.may_change("migraines", "A:2")
    assert change.may_change("infarct", "A:1", ["Zoster"])
    assert not change.may_change("infarct", "A:1", ["Heart attack"])
    # A mention that was linked to nothing.
    assert change.may_change("shingles", "")
    assert not change.may_change("heart attack", "")
