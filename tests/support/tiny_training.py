"""A vocabulary, mentions and models that are small enough to train in seconds."""

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.formats.pubtator import write_pubtator
from spacy_angel.model.mention import Mention
from spacy_angel.training.data.batches import Example, PreferencePair
from spacy_angel.training.data.development import LabelledMention
from spacy_angel.training.models.backbones import Backbone, fresh_bart
from spacy_angel.training.settings.config_tables import BackboneSettings, OptimizerSettings
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name

CONCEPTS = (
    Concept(
        "T:1", "Renal colic", ("Kidney colic", "Colic, renal"), ("Disease",), "Pain in a flank."
    ),
    Concept("T:2", "Heart attack", ("Myocardial infarction",), ("Disease",)),
    Concept("T:3", "Heart failure", ("Cardiac failure", "Failing heart"), ("Disease",)),
    Concept("T:4", "Migraine", (), ("Disease",)),
)
NAMES = [normalize_name(name) for concept in CONCEPTS for name in concept.names]
PAIRS = [
    PreferencePair(Mention("renal pain", "a case of", "at night"), "renal colic", "heart attack"),
    PreferencePair(Mention("cardiac arrest", "died of"), "heart attack", "heart failure"),
    PreferencePair(Mention("weak heart", right="in old age"), "heart failure", "heart attack"),
    PreferencePair(Mention("bad headache", "with a"), "migraine", "cardiac failure"),
]
EXAMPLES = [Example(pair.mention, pair.chosen) for pair in PAIRS]
GOLD = [
    LabelledMention(pair.mention, (concept_id,))
    for pair, concept_id in zip(PAIRS, ("T:1", "T:2", "T:3", "T:4"), strict=True)
]


TINY = BackboneSettings(
    kind="fresh",
    encoder_layers=1,
    decoder_layers=1,
    width=32,
    heads=2,
    vocabulary_size=330,
    max_source_tokens=64,
)


def tiny_backbone() -> Backbone:
    """Make a BART with one encoder and one decoder layer."""
    torch.set_num_threads(1)
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    return fresh_bart(TINY, NAMES)


def write_corpus(path: Path, sentences: Iterable[tuple[str, str, str]], label: str) -> Path:
    """Write a PubTator file of documents with one mention each: text, mention, identifiers."""
    documents = []
    for number, (text, mention, ids) in enumerate(sentences, start=1):
        at = text.index(mention)
        gold = GoldMention(at, at + len(mention), mention, label, ids)
        documents.append(CorpusDocument(str(number), text, (gold,), title_end=len(text)))
    write_pubtator(documents, path)
    return path


def quick(**values: object) -> OptimizerSettings:
    """Make deterministic settings for the CPU, with checkpoints only at the end."""
    defaults = {"learning_rate": 3e-3, "steps": 60, "batch_size": 4, "clip_norm": 1.0}
    defaults |= {"dropout": 0.0, "attention_dropout": 0.0, "precision": "float32"}
    defaults |= {"checkpoint_every": 1000, "log_every": 1}
    return OptimizerSettings(**{**defaults, **values})


def metrics(output: Path, key: str = "loss") -> list[dict[str, Any]]:
    """Return the lines of a run's metrics that have a value for the key."""
    lines = (output / "metrics.jsonl").read_text("utf8").splitlines()
    return [line for line in map(json.loads, lines) if key in line]


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")
