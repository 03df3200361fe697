"""Build what `configs/mini/noise.cfg` of version 0.2 trained on: corpora, and a large vocabulary.

    python scripts/shipped/build_training_data.py DATA OUT

DATA holds `ncbi-disease/`, `bc5cdr/`, `aioner/`, `chemdisgene_silver/`, `medic/`, `mesh/` and
`vocab/`. Documents of the development sets, all of tmVar3 and four tenths of BioRED stay out, so
that `scripts/fit_ranker.py` can measure on them. The vocabulary is MEDIC of 2012 and 2017 and MeSH
of 2019, whose identifiers the corpora have, beside names of ORDO, NCIt, HPO with its lay words, and
DrugBank's open vocabulary, which have identifiers of their own and the type of what they name.
"""

import csv
import gzip
import hashlib
import json
import random
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.corpora.formats.bioc import write_bioc_json
from spacy_angel.corpora.preprocessing import Preprocessing, preprocess
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.build import add_vocabulary, build_vocabulary

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


def build(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora and vocabularies.")],
    output: Annotated[Path, typer.Argument(help="Folder to write.")],
) -> None:
    """Write `kb/`, and `ncbi.json`, `cdr.json`, `biored.json`, `silver.json` for training and
    `ncbi_dev.json`, `cdr_dev.json` for choosing."""
    output.mkdir(parents=True, exist_ok=True)
    corpora = {
        "ncbi": documents(data, [NCBI.format("train")]),
        "cdr": documents(data, [CDR.format("Training")]),
        "ncbi_dev": documents(data, DEV[:1]),
        "cdr_dev": documents(data, DEV[1:]),
        "biored": biored(data),
        "silver": silver(data),
    }
    for name, own in corpora.items():
        typer.echo(f"{name}.json")
        write_bioc_json(preprocess(own, STEPS), output / f"{name}.json")
    kb = vocabulary(data, output)
    typer.echo(f"kb: {len(kb):,} concepts, {kb.n_names:,} names")


def documents(data: Path, files: Iterable[str]) -> Iterator[CorpusDocument]:
    """RETURNS (Iterator[CorpusDocument]): of PubTator files; what is faulty is left out."""
    return chain.from_iterable(read_corpus(data / f, "pubtator", strict=False) for f in files)


def biored(data: Path) -> Iterator[CorpusDocument]:
    """RETURNS (Iterator[CorpusDocument]): the part that is trained on."""
    kept = {document.doc_id for document in documents(data, [*DEV, TMVAR])}
    trained = [NCBI.format("train"), CDR.format("Training")]
    known = {document.doc_id for document in documents(data, trained)}
    for document in documents(data, [BIORED]):
        is_unseen = number(document.doc_id) % BIORED_PARTS < BIORED_UNSEEN
        if document.doc_id not in kept and (document.doc_id in known or not is_unseen):
            yield document


def silver(data: Path) -> list[CorpusDocument]:
    """RETURNS (list[CorpusDocument]): some by chance, none of those that are measured on."""
    trained = {document.doc_id for document in biored(data)}
    kept = {document.doc_id for document in documents(data, [*DEV, TMVAR, BIORED])} - trained
    found = {d.doc_id: d for d in documents(data, SILVER) if d.doc_id not in kept}
    return random.Random(0).sample([found[doc_id] for doc_id in sorted(found)], N_SILVER)


def vocabulary(data: Path, folder: Path) -> ConceptKB:
    """RETURNS (ConceptKB): all vocabularies in one, `kb/` of the folder; `base/` has those of the
    corpora."""
    medic = ("medic/medic_06Jul2012.txt", "medic/CTD_diseases_2017-06.tsv.gz")
    build_vocabulary([data / file for file in medic], folder / "base")
    trees = {"tree_numbers": str(data / "mesh/mesh_2015_tree_numbers.tsv")}
    add_vocabulary(folder / "base", data / "mesh/mesh_2019_descriptors.tsv", options=trees)
    disease = data / "vocab" / "disease"
    return ConceptKB.join(
        [
            iter(ConceptKB.from_disk(folder / "base")),
            graph(disease / "ordo-2_6-2018-07-12.json.gz", "ORDO"),
            graph(disease / "ncit-disease-2018-06-08.json.gz", "NCIT"),
            phenotypes(data / "vocab" / "phenotype"),
            drugs(data / "vocab/chemical/drugbank_vocabulary_CC0.csv.gz"),
        ],
        folder / "kb",
    )


def graph(path: Path, prefix: str) -> Iterator[Concept]:
    """RETURNS (Iterator[Concept]): classes of an OBO graph in JSON, as diseases."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        nodes = json.load(file)["graphs"][0]["nodes"]
    for node in nodes:
        if node.get("lbl"):
            synonyms = [synonym["val"] for synonym in node.get("meta", {}).get("synonyms", [])]
            yield _concept(f"{prefix}:{node['id'].rsplit('/', 1)[-1]}", node["lbl"], synonyms, "C")


def phenotypes(folder: Path) -> Iterator[Concept]:
    """RETURNS (Iterator[Concept]): HPO's, with lay synonyms, as diseases."""
    lay: dict[str, list[str]] = {}
    with gzip.open(folder / "hpo_layperson-synonyms.tsv.gz", "rt", encoding="utf8") as file:
        for row in csv.reader(file, delimiter="\t"):
            lay.setdefault(row[0].strip("<>").rsplit("/", 1)[-1], []).append(row[2])
    path = folder / "hpo_2025-10-22_phenotypic_abnormality_names.json.gz"
    with gzip.open(path, "rt", encoding="utf8") as file:
        terms: dict[str, Any] = json.load(file)
    for concept_id, term in terms.items():
        synonyms = [*term["synonyms"], *lay.get(concept_id, [])]
        yield _concept(concept_id, term["name"], synonyms, "C")


def drugs(path: Path) -> Iterator[Concept]:
    """RETURNS (Iterator[Concept]): DrugBank's, as chemicals."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        for row in csv.DictReader(file):
            synonyms = row["Synonyms"].split(" | ")
            yield _concept(f"DB:{row['DrugBank ID']}", row["Common name"], synonyms, "D")


def number(text: str) -> int:
    """RETURNS (int): one that belongs to the text, the same everywhere."""
    return int(hashlib.md5(text.encode()).hexdigest(), 16)


def _concept(concept_id: str, name: str, synonyms: Iterable[str], tree: str) -> Concept:
    aliases = [s for s in dict.fromkeys(synonyms) if s and s != name and len(s) < LONGEST]
    return Concept(concept_id, name, tuple(aliases), (tree,))


if __name__ == "__main__":
    typer.run(build)
