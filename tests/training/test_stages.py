"""All stages of the tiny config, from files to models."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest
import torch
from support.helpers import ROOT
from support.tiny_training import CONCEPTS, NAMES, PAIRS, tiny_backbone, weights_of, write_corpus

from spacy_angel.errors import AngelError
from spacy_angel.search.generator import Generator
from spacy_angel.training import stages
from spacy_angel.training.course import negative
from spacy_angel.training.course.config import load_config
from spacy_angel.training.data.preferences import read_pairs, write_pairs
from spacy_angel.training.models.backbones import make_backbone
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name

SENTENCES = [
    ("A man with renal pain came.", "renal pain", "T:1"),
    ("She died of a cardiac arrest.", "cardiac arrest", "T:2"),
    ("His weak heart gave out.", "weak heart", "T:3|T:99"),
    ("With a bad headache in bed.", "bad headache", "T:4"),
    ("Not in the vocabulary: measles.", "measles", "T:50"),
]


@pytest.fixture
def config(tmp_path):
    torch.set_num_threads(1)
    ConceptKB.build(CONCEPTS, tmp_path / "kb")
    corpus = [str(write_corpus(tmp_path / "train.txt", SENTENCES, "Disease"))]
    return load_config(
        ROOT / "configs/tiny/tiny.cfg",
        {
            "data.kb": str(tmp_path / "kb"),
            "data.train": corpus,
            "data.dev": corpus,
            "pretrain.positive.optimizer.steps": 4,
            "pretrain.positive.optimizer.checkpoint_every": 2,
            "positive.optimizer.steps": 60,
        },
    )


@pytest.mark.parametrize("of_config", [None, "genbioel_ncbi"])
def test_a_start_is_read_as_the_config_says(config, tmp_path, of_config):
    start, words = tmp_path / "ANGEL_pretrained", tmp_path / "words"
    tiny_backbone().save(start)
    (start / "angel.json").unlink()
    words.mkdir()
    for path in [*start.glob("tokenizer*.json"), start / "special_tokens_map.json"]:
        path.rename(words / path.name)
    kind = {"kind": "pretrained", "name": "unused", "tokenizer": str(words)}
    backbone = replace(config.backbone, **kind, preset=of_config)
    model = stages.starting_model(replace(config, backbone=backbone), start)
    # without a setting, what the name tells
    assert model.format.preset == (of_config or "genbioel")
    assert model.format.punctuation == ("normal" if of_config else "keep")
    assert model.tokenizer.vocab_size > 0


def test_from_a_vocabulary_and_a_corpus_to_a_model_that_links(config, tmp_path):
    pretrained = stages.pretrain(config, tmp_path / "pretrain")
    assert pretrained.folder == tmp_path / "pretrain/negative/model"
    pairs = read_pairs(tmp_path / "pretrain/negative/pairs.jsonl")
    assert {pair.chosen for pair in pairs} <= {*NAMES}

    positive = stages.fine_tune(config, tmp_path / "positive", pretrained.folder)
    assert positive.accuracy == 1.0

    mined = stages.mine(config, positive.folder, tmp_path / "pairs.jsonl")
    pairs = read_pairs(tmp_path / "pairs.jsonl")
    assert len(pairs) == mined
    assert [path.name for path in tmp_path.glob("pairs*")] == ["pairs.jsonl"]

    with pytest.raises(AngelError, match=r"rounds = 2 mines new pairs: leave out .*pairs\.jsonl"):
        stages.train_preferences(
            config, positive.folder, tmp_path / "negative", tmp_path / "pairs.jsonl"
        )
    once = replace(config, negative=replace(config.negative, rounds=1))
    trained = stages.train_preferences(
        once, positive.folder, tmp_path / "negative", tmp_path / "pairs.jsonl"
    )
    generator = Generator.from_pretrained(trained.folder)
    kb = ConceptKB.from_disk(tmp_path / "kb")
    data = stages.TrainingData(config)
    mentions = [labelled.mention for labelled in data.train]
    assert [mention.text for mention in mentions] == [text for _, text, _ in SENTENCES[:4]]
    found = generator.search(mentions, kb.search_space(generator.prompts, [None]))
    best = [kb.concept_ids_of(names[0].name) for names in found]
    assert best == [["T:1"], ["T:2"], ["T:3"], ["T:4"]]


def test_rounds_mine_their_part_with_their_reference(config, tmp_path, monkeypatch):
    start = stages.fine_tune(config, tmp_path / "positive").folder
    references = []
    original = negative.reference_log_probs

    def spy(backbone, *args, **kwargs):
        references.append(backbone.model.state_dict()["model.shared.weight"].clone())
        return original(backbone, *args, **kwargs)

    monkeypatch.setattr(negative, "reference_log_probs", spy)
    trained = stages.train_preferences(config, start, tmp_path / "negative")
    parts = [
        {pair.mention.text for pair in read_pairs(tmp_path / f"negative/round-0{n}/pairs.jsonl")}
        for n in (0, 1)
    ]
    assert parts == [{"renal pain", "weak heart"}, {"cardiac arrest", "bad headache"}]
    first = weights_of(start)["model.shared.weight"]
    after = references[1]
    assert len(references) == 2
    assert torch.equal(references[0], first)
    assert not torch.equal(first, after)
    result = json.loads((tmp_path / "negative/result.json").read_text())
    assert result == {"accuracy": 1.0, "round": "round-00"}
    # The model of the first round started the second, and is the best.
    assert torch.equal(weights_of(trained.folder)["model.shared.weight"], after)
    assert not list((tmp_path / "negative").glob("round-*/model"))

    again = stages.train_preferences(config, start, tmp_path / "negative")
    assert (again, len(references)) == (trained, 2)


def test_positives_of_a_corpus(config):
    data = stages.TrainingData(config)
    found = stages.positive_examples(data, replace(config.positive.examples, positives=2))
    assert [(example.mention.text, example.name) for example in found] == [
        ("renal pain", "renal colic"),
        ("renal pain", "colic renal"),
        ("cardiac arrest", "myocardial infarction"),
        ("cardiac arrest", "heart attack"),
        ("weak heart", "heart failure"),
        ("weak heart", "failing heart"),
        ("bad headache", "migraine"),
    ]
    assert found[0].mention.left == "A man with "


def test_substitutes_share_the_type_and_serve_equally_often(config, tmp_path):
    drugs = [Concept("D:1", "Aspirin", ("ASA",), ("Drug",)), Concept("D:2", "Iron", (), ("Drug",))]
    ConceptKB.build([*CONCEPTS, *drugs], tmp_path / "kb")
    data = stages.TrainingData(config)
    settings = replace(config.positive.examples, positives=1, repeats=3, substitutes=1.5)
    plain = replace(settings, repeats=1, substitutes=0.0)
    examples = stages.positive_examples(data, settings)
    # four mentions, three times; then 4 * 3 * 1.5 examples of the nine names of diseases
    positives = stages.positive_examples(data, plain)
    assert (len(positives), examples[:12]) == (4, positives * 3)
    substitutes = examples[12:]
    names = {data.kb.name(i) for c in CONCEPTS for i in data.kb.names_of(c.concept_id)}
    assert Counter(example.name for example in substitutes) == dict.fromkeys(names, 2)
    contexts = {(example.mention.left, example.mention.right) for example in positives}
    assert {(e.mention.left, e.mention.right) for e in substitutes} == contexts
    for copies, share in ((1.0, 18), (0.0, 2)):
        made = stages.positive_examples(data, replace(settings, copies=copies))[12:]
        # a concept's only name leads to itself
        assert sum(normalize_name(e.mention.text) == e.name for e in made) == share
    assert stages.positive_examples(data, settings) == examples


# Without `--`, torchrun takes `--start` as its own option.
TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "-m", "--"]
ACCELERATE = ["-m", "accelerate.commands.launch", "--cpu", "--num_processes=2", "--num_machines=1"]
LAUNCHERS = {"alone": ["-m"], "torchrun": TORCHRUN, "accelerate": [*ACCELERATE, "-m"]}


@pytest.mark.slow
def test_two_processes_train_what_one_does_and_the_first_one_reports(config, tmp_path):
    start = tmp_path / "model"
    make_backbone(config.backbone, NAMES).save(start)
    write_pairs(tmp_path / "right_and_wrong.jsonl", PAIRS)

    def train(launcher, *command):
        settings = {
            "data.kb": tmp_path / "kb",
            "data.train": json.dumps([str(tmp_path / "train.txt")]),
            "data.dev": json.dumps([str(tmp_path / "train.txt")]),
            # Eight examples and four pairs, which two processes can share.
            **{"positive.examples.positives": 1, "positive.examples.repeats": 2},
            **{"positive.optimizer.steps": 6, "positive.optimizer.checkpoint_every": 3},
            **{"negative.rounds": 1, "negative.optimizer.batch_size": 4},
        }
        overrides = [f"--{name}={value}" for name, value in settings.items()]
        done = subprocess.run(
            [sys.executable, *LAUNCHERS[launcher], "spacy_angel", "train", *command, *overrides],
            env={**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [line for line in done.stdout.splitlines() if not line.startswith(("{", "  0%"))]

    for name in LAUNCHERS:
        folder, pairs = tmp_path / name, tmp_path / f"{name}.jsonl"
        trained = train(name, "positive", "tiny/tiny", "--start", start, "-o", folder / "positive")
        assert sum(line.startswith("Model: ") for line in trained) == 1
        mined = train(name, "mine", "tiny/tiny", "--start", start, "-o", pairs)
        assert mined == [f"{len(read_pairs(pairs))} pairs in {pairs}"]
        arguments = ["--pairs", tmp_path / "right_and_wrong.jsonl", "-o", folder / "negative"]
        train(name, "negative", "tiny/tiny", "--start", start, *arguments)
        alone = read_pairs(tmp_path / "alone.jsonl")
        assert sorted(map(str, read_pairs(pairs))) == sorted(map(str, alone))
        for stage in ("positive", "negative"):
            expected = tmp_path / "alone" / stage
            ours, theirs = weights_of(folder / stage / "model"), weights_of(expected / "model")
            # A bias of keys changes no attention: its gradient is rounding, which Adam blows up.
            for weight in (w for w in theirs if not w.endswith("k_proj.bias")):
                assert torch.allclose(ours[weight], theirs[weight], atol=1e-5), weight
            results = [(run / "result.json").read_text() for run in (folder / stage, expected)]
            assert results[0] == results[1]
