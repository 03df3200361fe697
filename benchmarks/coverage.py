"""How much of the corpora at hand a vocabulary covers, corpus by corpus and label by label.

    python benchmarks/coverage.py DATA KB [KB ...] [-o table.json]

DATA is the folder of the corpora, KB a vocabulary's folder or the name of a pipeline that ships.
No model runs. Of the mentions that have an identifier, in per cent:

    known   the vocabulary holds all their identifiers, alternate ones included
    exact   the mention itself, in normal form, is a name of one of these concepts
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.files.atomic import write_text
from spacy_angel.linking.settings.loaders import load_vocabulary
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import normalize_name
from spacy_angel.vocabulary.names.identifiers import normal_ids, split_ids

_AIONER = {
    "Gene": "NCBIGene",
    "FamilyName": "NCBIGene",
    "Species": "NCBITaxon",
    "Disease": "",
    "Chemical": "",
    "CellLine": "",
}
_TMVAR = {label: prefix for label, prefix in _AIONER.items() if label != "CellLine"}
"""Its cell lines have the number of their species."""
# ids of phenotypes and of cells bring their prefix
_LINES = {"GENE": "NCBIGene", "SPECIES": "NCBITaxon"}


@dataclass(frozen=True)
class Corpus:
    """Files of one corpus, and the vocabulary of identifiers without a prefix by label; labels that
    are not named are left out, unless none is."""

    files: tuple[str, ...]
    prefixes: Mapping[str, str] = field(default_factory=dict)


CORPORA = {
    "NCBI-disease": Corpus(
        ("ncbi-disease/NCBItrainset_corpus.txt", "ncbi-disease/NCBIdevelopset_corpus.txt")
    ),
    "BC5CDR": Corpus(
        ("bc5cdr/CDR_TrainingSet.PubTator.txt", "bc5cdr/CDR_DevelopmentSet.PubTator.txt"),
        {"Disease": "", "Chemical": ""},
    ),
    "BioRED": Corpus(("aioner/BioRED_TrainDev.PubTator",), _AIONER),
    "GNormPlus": Corpus(("aioner/GNormPlus_Train.PubTator",), {"Gene": "NCBIGene"}),
    "NLM-Gene": Corpus(
        ("aioner/NLMgene_Train.PubTator",), {"Gene": "NCBIGene", "FamilyName": "NCBIGene"}
    ),
    "tmVar3": Corpus(("aioner/tmVar3_Train.PubTator",), _TMVAR),
    "Linnaeus": Corpus(("aioner/Linnaeus_Train.PubTator",), {"Species": "NCBITaxon"}),
    "Species-800": Corpus(("aioner/SPECIES_Train.PubTator",), {"Species": "NCBITaxon"}),
    "BioID": Corpus(("aioner/BioID_Train_revision.PubTator",), {"CellLine": ""}),
    "GSC+": Corpus(("hpo_gsc/GSCplus_dev_gold.tsv",)),
    "ChemDisGene": Corpus(
        (
            "chemdisgene_silver/curated_abstracts.txt.gz",
            "chemdisgene_silver/ctd_derived_dev_abstracts.txt.gz",
            "chemdisgene_silver/ctd_derived_test_abstracts.txt.gz",
        ),
        {"Disease": "", "Chemical": "", "Gene": "NCBIGene", "Species": "NCBITaxon"},
    ),
    "RegEl": Corpus(("more/corpora/regel.jsonl.gz",), _LINES),
    "CRAFT": Corpus(
        ("craft/craft_train.jsonl.gz", "craft/craft_dev.jsonl.gz"), {"NCBITaxon": "NCBITaxon"}
    ),
}
# A remark on the species takes the place of the prefix: `22339(Tax:10090)`.
_TAXON = re.compile(r"(\d+)\(Tax:\d+\)")
_ENTREZ = "EntrezGene:"


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora.")],
    vocabularies: Annotated[list[str], typer.Argument(help="Folders, or pipelines that ship.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Also as JSON.")] = None,
) -> None:
    """Print a table in Markdown, a line for each label of each corpus."""
    kbs = [load_vocabulary(name) for name in vocabularies]
    heads = [f"{Path(name).name}, {kind}" for name in vocabularies for kind in ("known", "exact")]
    typer.echo(f"| corpus | label | mentions | {' | '.join(heads)} |")
    typer.echo(f"|---|---|--:|{'--:|' * len(heads)}")
    rows = []
    for name, corpus in CORPORA.items():
        if not all((data / file).exists() for file in corpus.files):
            continue
        for label, mentions in sorted(labelled(data, corpus).items()):
            n = mentions.total()
            counted = [100 * count / n for kb in kbs for count in covered(kb, mentions)]
            shown = " | ".join(f"{share:.1f}" for share in counted)
            typer.echo(f"| {name} | {label} | {n:,} | {shown} |")
            shares = dict(zip(heads, counted, strict=True))
            rows.append({"corpus": name, "label": label, "mentions": n, **shares})
    if output is not None:
        write_text(output, json.dumps(rows, indent=1) + "\n")


def labelled(data: Path, corpus: Corpus) -> dict[str, Counter[tuple[str, str]]]:
    """RETURNS (dict[str, Counter[tuple[str, str]]]): how often each mention with its identifiers
    stands in the corpus, by label."""
    found: dict[str, Counter[tuple[str, str]]] = {}
    for file in corpus.files:
        for document in _documents(data / file, corpus.prefixes):
            for mention in document.mentions:
                label = mention.label or "Phenotype"
                if mention.concept_ids and (not corpus.prefixes or label in corpus.prefixes):
                    ids = _TAXON.sub(rf"{corpus.prefixes.get(label)}:\1", mention.concept_ids)
                    found.setdefault(label, Counter())[mention.text, ids] += 1
    return found


def covered(kb: ConceptKB, mentions: Mapping[tuple[str, str], int]) -> tuple[int, int]:
    """RETURNS (tuple[int, int]): mentions whose identifiers it holds, and those that are a name of
    one of them."""
    n_known = n_exact = 0
    for (text, concept_ids), n in mentions.items():
        gold = [kb.resolve(concept_id) for concept_id in split_ids(concept_ids)]
        n_known += n * all(gold)
        named = {concept.concept_id for concept in kb.find(normalize_name(text))}
        n_exact += n * bool(named.intersection(gold))
    return n_known, n_exact


def _documents(path: Path, prefixes: Mapping[str, str]) -> Iterator[CorpusDocument]:
    if path.name.endswith(".jsonl.gz"):
        yield from _lines(path, prefixes)
    else:
        format = "gsc" if path.name.startswith("GSCplus") else "pubtator"
        yield from read_corpus(path, format, strict=False, prefix=prefixes)


def _lines(path: Path, prefixes: Mapping[str, str]) -> Iterator[CorpusDocument]:
    """Objects with `text` and `mentions`, each a label, an identifier and its pieces."""
    with gzip.open(path, "rt", encoding="utf8") as file, closing(file):
        for line in file:
            row = json.loads(line)
            mentions = []
            for label, concept_id, pieces in row["mentions"]:
                raw = str(concept_id or "").replace(_ENTREZ, "NCBIGene:")
                ids = normal_ids(raw, prefixes.get(label, ""))
                text = " ".join(row["text"][start:end] for start, end in pieces)
                mentions.append(GoldMention(pieces[0][0], pieces[-1][1], text, label, ids))
            yield CorpusDocument(row["id"], row["text"], tuple(mentions))


if __name__ == "__main__":
    typer.run(main)
