"""A corpus of two documents, and a vocabulary that lacks `gout` and `renal failure`."""

import json
from dataclasses import replace

import pytest
from support.helpers import ROOT
from support.tiny_linker import concepts

from spacy_angel.corpora.preprocessing import Preprocessing
from spacy_angel.vocabulary.kb import ConceptKB

CORPUS = ROOT / "tests/fixtures/evaluation" / "dev.PubTator.txt"
PLAIN = Preprocessing()


@pytest.fixture(scope="session")
def kb():
    return ConceptKB.build(replace(concept, types=()) for concept in concepts())


def lines(folder):
    return [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
