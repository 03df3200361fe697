"""Corpora of diseases and chemicals for the light recogniser of `en_angel_mini`.

    python tools/build_light_corpora.py SIX OUT

SIX is what `tools/build_six_types.py` wrote, with `raw/drugprot.json` of
`tools/build_gene_corpora.py`. OUT gets `train_NAME.json` of each corpus, with the mentions of
diseases and chemicals alone, and `dev_NAME.json` with the articles that the recogniser of six kinds
is chosen by; those of its last look are in neither.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.corpora.formats.bioc import write_bioc_json
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.training.configs import find_config
from spacy_angel.training.recogniser_config import load_recogniser_config
from spacy_angel.training.recogniser_data import digit_of
from spacy_angel.vocabulary.labels import kind_of

CORPORA = {
    "ncbi": "NCBItrainset_corpus.txt",
    "ncbi_dev": "NCBIdevelopset_corpus.txt",
    "bc5cdr": "CDR_TrainingSet.PubTator.txt",
    "bc5cdr_dev": "CDR_DevelopmentSet.PubTator.txt",
    "biored": "BioRED_TrainDev.PubTator",
    "tmvar": "tmVar3_Train.PubTator",
    "drugprot": "drugprot.json",
}
CHOSEN_BY = ("ncbi_dev", "bc5cdr_dev", "biored")
KINDS = ("DISEASE", "CHEMICAL")


def build(
    six: Annotated[Path, typer.Argument(help="Folder of the six types.")],
    output: Annotated[Path, typer.Argument(help="Folder to write.")],
) -> None:
    """Write the files, and how many documents each has."""
    settings = load_recogniser_config(find_config("recogniser")).data
    output.mkdir(parents=True, exist_ok=True)
    for name, file in CORPORA.items():
        parts: dict[str, list[CorpusDocument]] = {"train": [], "dev": []}
        for document in read_corpus(six / "raw" / file, strict=False):
            digit = digit_of(document.doc_id)
            if digit in settings.choose:
                parts["dev"].append(with_kinds(document))
            elif digit not in settings.last_look:
                parts["train"].append(with_kinds(document))
        for part, documents in parts.items():
            if part == "train" or name in CHOSEN_BY:
                write_bioc_json(documents, output / f"{part}_{name}.json")
                typer.echo(f"{part}_{name}.json: {len(documents):,} documents")


def with_kinds(document: CorpusDocument) -> CorpusDocument:
    """RETURNS (CorpusDocument): with mentions of `KINDS` alone."""
    kept = tuple(mention for mention in document.mentions if kind_of(mention.label) in KINDS)
    return replace(document, mentions=kept)


if __name__ == "__main__":
    typer.run(build)
