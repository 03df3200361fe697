"""The command line: what it prints, what it writes, how it fails."""

import json
import re
import shutil
from hashlib import sha256

import pytest
from support.helpers import ROOT, run
from typer.testing import CliRunner

from spacy_angel.about import SHIPPED_NAMES, __version__
from spacy_angel.cli.app import app
from spacy_angel.vocabulary.kb import ConceptKB

CONCEPTS = [
    {
        "concept_id": "MESH:D009203",
        "canonical_name": "Myocardial Infarction",
        "aliases": ["heart attack", "Heart Attack"],
        "types": ["Disease"],
        "definition": "Death of heart muscle.",
    },
    {"concept_id": "MESH:D001241", "canonical_name": "Aspirin"},
]
MORE = [
    {"concept_id": "MESH:D001241", "canonical_name": "Aspirin", "aliases": ["ASA"], "types": []},
    {"concept_id": "MESH:D003920", "canonical_name": "Diabetes Mellitus"},
]
CORPUS = """\
1|t|Cardiac infarct after acetosal
1|a|A cardiac infarct and stroke or palsy.
1\t0\t15\tCardiac infarct\tDisease\tD009203
1\t22\t30\tacetosal\tChemical\tD001241
1\t33\t48\tcardiac infarct\tDisease\tD009203
1\t53\t59\tstroke\tDisease\tD020521
1\t53\t68\tstroke or palsy\tDisease\tD020521|D010243

"""


def fails(*arguments):
    code, out, err = run(*arguments)
    assert (code, out) == (1, "")
    assert "Traceback" not in err
    return err


def write_jsonl(path, concepts):
    path.write_text("".join(json.dumps(concept) + "\n" for concept in concepts), "utf8")
    return path


@pytest.fixture
def source(tmp_path):
    return write_jsonl(tmp_path / "concepts.jsonl", CONCEPTS)


@pytest.fixture
def folder(tmp_path, source):
    assert run("kb", "build", source, "-o", tmp_path / "kb")[0] == 0
    return tmp_path / "kb"


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "train.pubtator"
    path.write_text(CORPUS, "utf8")
    return path


def test_reader_options_are_texts_that_the_reader_converts(tmp_path, folder, corpus):
    table = tmp_path / "names.tsv"
    table.write_text("x1\tone\n", "utf8")
    kb = tmp_path / "new"
    assert run("kb", "build", table, "-o", kb, "--option", "prefix=true")[0] == 0
    assert [concept.concept_id for concept in ConceptKB.from_disk(kb)] == ["true:x1"]
    build = ("kb", "build", ROOT / "tests/fixtures/vocabularies/umls", "-o", kb, "--option")
    assert "all_names of the format umls.v1 must be true" in fails(*build, "all_names=maybe")
    add = ("kb", "add", folder, "--mentions", corpus, "--option")
    assert run(*add, "strict=no")[0] == 0
    assert "strict of the format pubtator must be true" in fails(*add, "strict=maybe")


def test_info_prints_what_a_bug_report_needs(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SPACY_ANGEL_CACHE", str(tmp_path))
    shutil.copytree(folder, tmp_path / "vocabularies/mine")
    _, out, _ = run("info")
    for name in ("spacy", "torch", "transformers", "numpy", "python", "system", "cpu", "gpu"):
        assert re.search(rf"^  {name} +\S", out, re.MULTILINE), name
    for name in SHIPPED_NAMES:
        assert re.search(rf"^Pipeline {name}: .*{name}, sha256 [0-9a-f]{{64}}$", out, re.MULTILINE)
    assert f"spacy-angel {__version__}" in out
    assert re.search(r'^Type of dtype="auto" on this CPU: (float32|bfloat16|int8)$', out, re.M)
    digest = sha256((folder / "meta.json").read_bytes()).hexdigest()
    assert f"mine, meta.json sha256 {digest}" in out


def test_info_prints_counts_types_sources_and_steps(folder, corpus):
    run("kb", "add", folder, "--mentions", corpus)
    code, out, _ = run("info", folder)
    assert code == 0
    assert "  concepts: 2\n" in out
    assert "types:\n- Disease" in out
    assert "sources:\n- path: " in out
    assert "steps:\n- step: add_mentions" in out


def test_add_a_file_joins_names_and_adds_concepts(tmp_path, folder):
    more = write_jsonl(tmp_path / "more.jsonl", MORE)
    code, out, _ = run("kb", "add", folder, more)
    assert code == 0
    assert out.startswith("1 concepts and 2 names added.\n")
    kb = ConceptKB.from_disk(folder)
    assert kb["MESH:D001241"].names == ("Aspirin", "ASA")
    assert "MESH:D003920" in kb
    assert [len(source) > 3 for source in kb.meta["sources"]] == [True, True]
    step = {"step": "add", "path": str(more), "format": "scispacy.v1", "options": {}}
    assert kb.meta["steps"] == [step]


def test_add_mentions_leaves_composites_out_and_counts_the_unknown(folder, corpus):
    code, out, _ = run("kb", "add", folder, "--mentions", corpus)
    assert code == 0
    assert out.startswith("1 mentions have an unknown identifier.\n0 concepts and 2 names added.")
    kb = ConceptKB.from_disk(folder)
    assert kb.concept_ids_of(kb.name_index("cardiac infarct")) == ["MESH:D009203"]
    assert kb.concept_ids_of(kb.name_index("acetosal")) == ["MESH:D001241"]
    assert kb.name_index("stroke or palsy") is None


def test_concepts_are_searched(folder):
    assert run("kb", "search", folder, "attack") == (
        0,
        "MESH:D009203  Myocardial Infarction  “heart attack”  [Disease]\n",
        "",
    )
    code, out, _ = run("kb", "search", folder, "zzz")
    assert (code, out) == (1, "No matching concept in the vocabulary.\n")


def test_a_failed_build_or_add_leaves_what_was_there(tmp_path, folder):
    broken = tmp_path / "broken.jsonl"
    broken.write_text(json.dumps(MORE[0]) + '\n{"concept_id": "MESH:D1", "canon\n', "utf8")
    assert "broken.jsonl, line 2" in fails("kb", "build", broken, "-o", folder)
    assert "broken.jsonl, line 2" in fails("kb", "add", folder, broken)
    kb = ConceptKB.from_disk(folder)
    assert (len(kb), kb.meta["steps"]) == (2, [])


def test_mistakes_are_told_without_a_traceback(tmp_path, folder, source, corpus):
    assert "does not exist" in fails("link", "text", "--kb", tmp_path / "nothing")
    assert "kb build" in fails("info", tmp_path)
    assert "nothing.jsonl" in fails("kb", "build", tmp_path / "nothing.jsonl", "-o", tmp_path / "x")
    assert "Give exactly one of" in fails("kb", "add", folder)
    assert "Give exactly one of" in fails("kb", "add", folder, source, "--mentions", corpus)
    assert "one text" in fails("link")
    assert "one text" in fails("link", "text", "--file", source)
    assert "cannot be loaded" in fails("link", "text", "--pipeline", tmp_path / "nothing")
    assert "NAME=VALUE" in fails("kb", "build", source, "-o", tmp_path / "x", "--option", "a")
    assert "no option a" in fails("kb", "build", source, "-o", tmp_path / "x", "--option", "a=b")
    assert not (tmp_path / "x").exists()
    assert run("kb", "build")[0] == 2


def test_a_dash_links_standard_input():
    done = CliRunner().invoke(app, ["link", "-"], input=b"She had a heart attack.")
    assert done.exit_code == 0
    assert "MESH:D009203" in done.stdout
    done = CliRunner().invoke(app, ["link", "-"], input="one\nna\u00efve".encode("latin1"))
    assert "standard input, line 2: expected UTF-8 text" in done.stderr


def test_link_prints_a_table_and_writes_a_page(tmp_path):
    page = tmp_path / "page.html"
    text = tmp_path / "text.txt"
    text.write_text("After a myocardial infarction she was given aspirin.", "utf8")
    code, out, _ = run("link", "--file", text, "--html", page)
    assert code == 0
    rows = [line.split("  ") for line in out.splitlines()]
    found = {row[0].strip(): line for row, line in zip(rows, out.splitlines(), strict=True)}
    assert "MESH:D009203" in found["myocardial infarction"]
    assert "Myocardial Infarction" in found["myocardial infarction"]
    assert "MESH:D001241" in found["aspirin"]
    html = page.read_text("utf8")
    assert "https://bioregistry.io/MESH:D009203" in html
    assert re.search("MESH:D001241 +Aspirin", html)


def test_a_saved_pipeline_is_calibrated_and_evaluated(tmp_path, corpus):
    import spacy_angel

    spacy_angel.load().to_disk(tmp_path / "pipeline")
    # Diseases and chemicals have weights of their own, for which one text is too little.
    many = tmp_path / "many.pubtator"
    texts = [re.sub(r"^\d+(?=[|\t])", str(i), CORPUS, flags=re.M) for i in range(1, 9)]
    many.write_text("\n".join(texts), "utf8")
    code, out, err = run("calibrate", tmp_path / "pipeline", many)
    assert code == 0, err
    assert "Nothing is written" in out
    # As another vocabulary asks for it, which is then the pipeline's.
    options = ("--kb", "en_angel_mini", "-o", tmp_path / "calibrated")
    code, out, err = run("calibrate", tmp_path / "pipeline", many, *options)
    assert code == 0, err
    assert re.search(r"^n_mentions +40$", out, re.M)
    assert "weights" in out
    assert (tmp_path / "calibrated/angel_linker/kb").is_dir()
    configs = [tmp_path / name / "config.cfg" for name in ("pipeline", "calibrated")]
    assert configs[0].read_text("utf8") != configs[1].read_text("utf8")
    options = ("-o", tmp_path / "e", "--protocol", "document")
    code, out, err = run("evaluate", tmp_path / "calibrated", corpus, *options)
    assert code == 0, err
    assert out.startswith("5 mentions, ")
    assert "acc@1" in out
    assert "document:\n| type | " in out
    assert (tmp_path / "e/report.md").exists()
    code, out, err = run("compare", tmp_path / "e", tmp_path / "e")
    assert code == 0, err
    assert re.search(r"^\| strict \| 5 \|.* \| 0 \| 0 \| 0 \| 1 \|", out, re.M)
