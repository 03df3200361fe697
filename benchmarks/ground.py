"""Measure grounding: labels of one vocabulary are strings, cross-mappings say which concept of
another they mean. Printed beside it is the name with the most similar 3-grams (tf-idf).

    python benchmarks/ground.py DATA [SET]...

DATA has `vocab/` and `more/ontologies/`. A set is the vocabulary and where the strings are from.
"""

import csv
import gzip
import json
import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Annotated, Any, NamedTuple

import typer

from spacy_angel.evaluation.baselines import nearest_name
from spacy_angel.pipelines.ground import Grounder, Query
from spacy_angel.pipelines.load import find_linker, load
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.names.identifiers import normalize_id
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

BIOMAPPINGS = "vocab/mappings/biomappings_positive.sssom.tsv.gz"
ONTOLOGIES = "more/ontologies"


class GoldSet(NamedTuple):
    """vocabulary (str): a file, or the name of a pipeline that has it. prefix (str): of its
    identifiers. mappings (str): SSSOM. label (str): of the strings."""

    vocabulary: str
    prefix: str
    mappings: str
    label: str = ""


def mondo(name: str) -> str:
    return f"vocab/disease/mondo_{name}.sssom.tsv.gz"


SETS = {
    "MeSH (shipped), MONDO": GoldSet("en_angel_mini", "MESH", mondo("mesh")),
    "MeSH (shipped), MONDO as DISEASE": GoldSet("en_angel_mini", "MESH", mondo("mesh"), "DISEASE"),
    "MeSH (shipped), Biomappings": GoldSet("en_angel_mini", "MESH", BIOMAPPINGS),
    "ICD-10-CM, MONDO": GoldSet(f"{ONTOLOGIES}/ICD10CM_2026.tsv.gz", "ICD10CM", mondo("icd10cm")),
    "NCIt, MONDO": GoldSet("vocab/disease/ncit-disease-2018-06-08.json.gz", "NCIT", mondo("ncit")),
    "ORDO, MONDO": GoldSet(
        "vocab/disease/ordo-2_6-2018-07-12.json.gz", "Orphanet", mondo("orphanet")
    ),
    "DO, MONDO": GoldSet("doid/doid.obo", "DOID", mondo("doid")),
    "MONDO, NCIt": GoldSet(f"{ONTOLOGIES}/MONDO_2026_synonyms.tsv.gz", "MONDO", mondo("ncit")),
    "MONDO, ORDO": GoldSet(f"{ONTOLOGIES}/MONDO_2026_synonyms.tsv.gz", "MONDO", mondo("orphanet")),
    "MONDO, OMIM": GoldSet(f"{ONTOLOGIES}/MONDO_2026_synonyms.tsv.gz", "MONDO", mondo("omim")),
    "Uberon, Biomappings": GoldSet(
        "vocab/anatomy/uberon-basic_2015-04-23.obo.gz", "UBERON", BIOMAPPINGS
    ),
    "CL, Biomappings": GoldSet(f"{ONTOLOGIES}/CL_2026_synonyms.tsv.gz", "CL", BIOMAPPINGS),
}


def gold_of(path: Path, prefix: str, kb: ConceptKB) -> dict[str, set[str]]:
    """RETURNS (dict[str, set[str]]): of each label of another vocabulary its concepts."""
    gold: defaultdict[str, set[str]] = defaultdict(set)
    with gzip.open(path, "rt", encoding="utf8") as file:
        lines = (line for line in file if not line.startswith("#"))
        for row in csv.DictReader(lines, delimiter="\t"):
            for own, other in (("subject", "object"), ("object", "subject")):
                vocabulary, _, code = row[f"{own}_id"].partition(":")
                label = row.get(f"{other}_label")
                concept = kb.resolve(normalize_id(code, prefix))
                if vocabulary.lower() == prefix.lower() and label and concept:
                    gold[label].add(concept)
    return gold


def concepts_of(path: Path, prefix: str) -> Iterator[Concept]:
    """YIELDS (Concept): of a file, also of a graph of OBO in JSON."""
    if ".json" not in path.suffixes:
        options: dict[str, Any] = {"prefix": prefix} if ".tsv" in path.suffixes else {}
        yield from read_vocabulary(path, **options)
        return
    with gzip.open(path, "rt", encoding="utf8") as file:
        nodes = json.load(file)["graphs"][0]["nodes"]
    for node in nodes:
        found = re.search(rf"{prefix}_(\w+)$", node["id"])
        if found and node.get("lbl"):
            names = [one["val"] for one in node.get("meta", {}).get("synonyms", ())]
            yield Concept(f"{prefix}:{found[1]}", node["lbl"], tuple(names))


def main(
    data: Path,
    sets: Annotated[list[str] | None, typer.Argument()] = None,
    n: Annotated[int, typer.Option(help="Strings of each set.")] = 1000,
) -> None:
    print("set | n | names | right | wrong | no link | best candidate right | tf-idf right | /s")
    for name in sets or SETS:
        vocabulary, prefix, mappings, label = SETS[name]
        is_shipped = vocabulary == "en_angel_mini"
        kb = None if is_shipped else ConceptKB.build(concepts_of(data / vocabulary, prefix))
        nlp = load(kb=kb)
        kb = find_linker(nlp).kb
        gold = gold_of(data / mappings, prefix, kb)
        strings = Random(0).sample(sorted(gold), min(n, len(gold)))
        grounder = Grounder(nlp, find_linker(nlp))
        _ = kb.nearest.index, list(grounder.stream([Query("warm-up of the model")]))
        start = time.perf_counter()
        found = list(grounder.stream(Query(string, "", label) for string in strings))
        seconds = time.perf_counter() - start
        ranked = [[c.concept_id for c in one.candidates] for one in found]
        similar = [[c for c, _ in one.concepts] for one in nearest_name(kb)(strings, 1)]
        links = [[one.link.concept_id] if one.link else [] for one in found]
        right, best, tfidf = (count_right(strings, gold, r) for r in (links, ranked, similar))
        linked = sum(map(bool, links))
        known = sum(kb.name_index(string) is not None for string in strings)
        counts = (len(strings), known, right, linked - right, len(strings) - linked, best, tfidf)
        print(name, *counts, f"{len(strings) / seconds:.0f}", sep=" | ", flush=True)


def count_right(
    strings: Iterable[str], gold: dict[str, set[str]], ranked: Iterable[list[str]]
) -> int:
    return sum(bool(r) and r[0] in gold[s] for s, r in zip(strings, ranked, strict=True))


if __name__ == "__main__":
    typer.run(main)
