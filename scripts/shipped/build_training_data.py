"""Corpora and vocabularies shared by the other scripts in this folder.

DATA, their first argument, contains `ncbi-disease/`, `bc5cdr/`, `aioner/`, `chemdisgene_silver/`,
`medic/`, `mesh/`, and `vocab/`. The development sets, tmVar3, and four tenths of BioRED are
excluded, so that `scripts/fit_ranker.py` can measure on them.
"""

import csv
import gzip
import hashlib
import json
import random
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.corpora.preprocessing import Preprocessing
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.vocabulary.names.concepts import Concept

NCBI, CDR = "ncbi-disease/NCBI{}set_corpus.txt", "bc5cdr/CDR_{}Set.PubTator.txt"
DEV = (NCBI.format("develop"), CDR.format("Development"))
TMVAR, BIORED = "aioner/tmVar3_Train.PubTator", "aioner/BioRED_TrainDev.PubTator"
SILVER = (
    "chemdisgene_silver/ctd_derived_dev_abstracts.txt.gz",
    "chemdisgene_silver/curated_abstracts.txt.gz",
)
N_SILVER = 350
# See `scripts/fit_ranker.py`.
BIORED_PARTS, BIORED_UNSEEN = 10, 4
STEPS = Preprocessing(abbreviations="scispacy", expand="text")
LONGEST = 120


def documents(data: Path, files: Iterable[str]) -> Iterator[CorpusDocument]:
    """RETURNS (Iterator[CorpusDocument]): documents of PubTator files; faulty ones are skipped."""
    return chain.from_iterable(read_corpus(data / f, "pubtator", strict=False) for f in files)


def biored(data: Path) -> Iterator[CorpusDocument]:
    """RETURNS (Iterator[CorpusDocument]): the documents of BioRED used for training."""
    kept = {document.doc_id for document in documents(data, [*DEV, TMVAR])}
    trained = [NCBI.format("train"), CDR.format("Training")]
    known = {document.doc_id for document in documents(data, trained)}
    for document in documents(data, [BIORED]):
        is_unseen = number(document.doc_id) % BIORED_PARTS < BIORED_UNSEEN
        if document.doc_id not in kept and (document.doc_id in known or not is_unseen):
            yield document


def silver(data: Path) -> list[CorpusDocument]:
    """RETURNS (list[CorpusDocument]): a random sample without documents used for measuring."""
    trained = {document.doc_id for document in biored(data)}
    kept = {document.doc_id for document in documents(data, [*DEV, TMVAR, BIORED])} - trained
    found = {d.doc_id: d for d in documents(data, SILVER) if d.doc_id not in kept}
    return random.Random(0).sample([found[doc_id] for doc_id in sorted(found)], N_SILVER)


def phenotypes(folder: Path) -> Iterator[Concept]:
    """RETURNS (Iterator[Concept]): the concepts of HPO with lay synonyms, without types."""
    lay: dict[str, list[str]] = {}
    with gzip.open(folder / "hpo_layperson-synonyms.tsv.gz", "rt", encoding="utf8") as file:
        for row in csv.reader(file, delimiter="\t"):
            lay.setdefault(row[0].strip("<>").rsplit("/", 1)[-1], []).append(row[2])
    path = folder / "hpo_2025-10-22_phenotypic_abnormality_names.json.gz"
    with gzip.open(path, "rt", encoding="utf8") as file:
        terms: dict[str, Any] = json.load(file)
    for concept_id, term in terms.items():
        names = dict.fromkeys((*term["synonyms"], *lay.get(concept_id, ())))
        aliases = tuple(n for n in names if n and n != term["name"] and len(n) < LONGEST)
        yield Concept(concept_id.replace("_", ":"), term["name"], aliases)


def number(text: str) -> int:
    """RETURNS (int): a hash of the text that is the same on every machine."""
    return int(hashlib.md5(text.encode()).hexdigest(), 16)
