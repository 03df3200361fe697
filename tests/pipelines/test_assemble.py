"""Pipelines put together from their parts, and what is saved of them."""

import json
import re
import shutil

import pytest
import spacy
import torch
from support import models
from typer.testing import CliRunner

from spacy_angel.about import __version__
from spacy_angel.cli.app import app
from spacy_angel.errors import AngelError
from spacy_angel.pipelines.assemble import assemble

torch.set_num_threads(1)

RECORDS = [
    {"concept_id": c, "canonical_name": name, "aliases": aliases, "types": [kind]}
    for kind, concepts in (("Disease", models.DISEASES), ("Chemical", models.DRUGS))
    for c, (name, *aliases) in concepts.items()
]
ADDED = ["angel_abbreviations", "angel_consistency", "angel_linker"]
CORPUS = """\
1|t|history of aspirin. history of diabetes.
1|a|history of migraine. history of zzz qqq. history of xqj 77.
1\t11\t18\taspirin\tChemical\tD001241
1\t31\t39\tdiabetes\tDisease\tD003920
1\t52\t60\tmigraine\tDisease\tD008881
1\t73\t80\tzzz qqq\tDisease\tD099999
1\t93\t99\txqj 77\tDisease\tD099998

"""


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A folder with `model`, `kb.jsonl`, `ner`, `dev.pubtator`."""
    path = tmp_path_factory.mktemp("parts")
    models.make_trained_model(path / "model")
    (path / "kb.jsonl").write_text("".join(json.dumps(r) + "\n" for r in RECORDS), "utf8")
    (path / "dev.pubtator").write_text(CORPUS, "utf8")
    nlp = spacy.blank("en", config={"paths": {"train": "/home/somebody/train.spacy"}})
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "DRUG", "pattern": [{"LOWER": "aspirin"}]}])
    nlp.meta["performance"] = {"ents_f": 0.9}
    nlp.to_disk(path / "ner")
    return path


def test_the_pipeline_is_complete(parts, tmp_path):
    shutil.copytree(parts, tmp_path / "parts")
    moved = tmp_path / "parts"
    fitted = assemble(moved / "model", moved / "kb.jsonl", tmp_path / "out", ner=moved / "ner")
    assert fitted is None
    shutil.rmtree(moved)
    nlp = spacy.load(tmp_path / "out")
    assert nlp.pipe_names == ["sentencizer", "entity_ruler", *ADDED]
    (ent,) = nlp("history of aspirin.").ents
    assert (ent.label_, ent.kb_id_) == ("DRUG", "MESH:D001241")
    assert nlp.meta["name"] == "angel_mini"
    assert nlp.meta["requirements"] == [f"spacy-angel>={__version__}"]
    assert nlp.meta["performance"] == {"ents_f": 0.9}
    assert len(nlp.get_pipe("angel_linker").kb.meta["sources"]) == 1
    assert "somebody" not in (tmp_path / "out/config.cfg").read_text("utf8")


def test_calibrated_limits_stand_in_the_config(parts, tmp_path):
    out = tmp_path / "out"
    # Diseases and chemicals have weights of their own, for which one text is too little.
    texts = [re.sub(r"^1(?=[|\t])", str(i), CORPUS, flags=re.M) for i in range(4)]
    (tmp_path / "dev.pubtator").write_text("".join(texts), "utf8")
    given = {"calibrate": [tmp_path / "dev.pubtator"], "length_penalty": 0.0}
    fitted = assemble(parts / "model", parts / "kb.jsonl", out, **given)
    assert fitted.n_mentions == 20
    nlp = spacy.load(out)
    config = nlp.config["components"]["angel_linker"]
    in_use = nlp.get_pipe("angel_linker").settings.to_dict()
    thresholds = [one["decision"]["threshold"] for one in (config, in_use)]
    assert thresholds == [fitted.threshold] * 2
    assert config["candidates"]["length_penalty"] == 0.0
    saved = nlp.meta["performance"]["calibration"]
    assert (saved["corpora"], saved["n_mentions"]) == (["dev.pubtator"], 20)
    assert "qqq" not in (out / "vocab/strings.json").read_text("utf8")
    override = {"components": {"angel_linker": {"decision": {"threshold": 0.125}}}}
    linker = spacy.load(out, config=override).get_pipe("angel_linker")
    assert linker.settings.decision.threshold == 0.125
    assert linker.ranker == nlp.get_pipe("angel_linker").ranker


def test_rules_and_classes_of_tokenizers_are_kept(parts, tmp_path):
    nlp = spacy.blank("en")
    nlp.tokenizer.add_special_case("b.i.d.x", [{"ORTH": "b.i.d."}, {"ORTH": "x"}])
    nlp.to_disk(tmp_path / "trained")
    assemble(parts / "model", parts / "kb.jsonl", tmp_path / "out", ner=tmp_path / "trained")
    assert [token.text for token in spacy.load(tmp_path / "out")("b.i.d.x")] == ["b.i.d.", "x"]
    nlp = spacy.blank("zh")
    nlp.to_disk(tmp_path / "zh")
    assemble(parts / "model", parts / "kb.jsonl", tmp_path / "out", ner=tmp_path / "zh")
    assert type(spacy.load(tmp_path / "out").tokenizer) is type(nlp.tokenizer)


def test_nothing_of_others_is_deleted(parts, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(AngelError, match="is not empty and is not a linking pipeline"):
        assemble(parts / "model", parts / "kb.jsonl", tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_a_part_that_is_missing_leaves_what_was_there(parts, tmp_path):
    out = tmp_path / "out"
    assemble(parts / "model", parts / "kb.jsonl", out)
    before = (out / "meta.json").read_bytes()
    for change in ({"model": tmp_path / "no"}, {"kb": tmp_path / "no"}, {"ner": tmp_path / "no"}):
        arguments = {"model": parts / "model", "kb": parts / "kb.jsonl", "output": out, **change}
        with pytest.raises(AngelError, match="/no"):
            assemble(**arguments)
    assert (out / "meta.json").read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_the_command(parts, tmp_path):
    arguments = {
        "--model": parts / "model",
        "--kb": parts / "kb.jsonl",
        "--ner": parts / "ner",
        "--output": tmp_path / "out",
        "--name": "x",
        "--calibrate": parts / "dev.pubtator",
    }
    flat = ["assemble", *(str(part) for pair in arguments.items() for part in pair)]
    result = CliRunner().invoke(app, flat)
    assert result.exit_code == 0, result.output
    assert re.search(r"^n_mentions +5$", result.stdout, re.M)
    assert f"Pipeline: {tmp_path / 'out'} (" in result.stdout
    nlp = spacy.load(tmp_path / "out")
    assert nlp.meta["name"] == "angel_x"
    assert nlp.get_pipe("angel_linker").settings.candidates.length_penalty == 1.0
    wrong = CliRunner().invoke(app, [*flat, "--storage", "int4"])
    assert wrong.exit_code == 1
    assert "There is no dtype 'int4'" in wrong.stderr
