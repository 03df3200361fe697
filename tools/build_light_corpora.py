"""Corpora of diseases and chemicals for the light recogniser of `en_angel_mini`.

    python tools/build_light_corpora.py SIX OUT

SIX is what `tools/build_six_types.py` wrote, with `raw/drugprot.json` of
`tools/build_gene_corpora.py`, `raw/notes.json` and `raw/everyday.json` of
`tools/build_everyday_text.py`. OUT gets `train_NAME.json` of each corpus, with the mentions of
diseases and chemicals alone, and `dev_NAME.json` with the articles that the recogniser of six kinds
is chosen by; those of its last look are in neither.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.formats.bioc import write_bioc_json
from spacy_angel.corpora.recogniser_data import OPEN
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.training.recogniser.config import load_recogniser_config
from spacy_angel.training.recogniser.texts import digit_of
from spacy_angel.training.settings.configs import find_config
from spacy_angel.vocabulary.names.labels import entity_type_of

CORPORA = {
    "ncbi": "NCBItrainset_corpus.txt",
    "ncbi_dev": "NCBIdevelopset_corpus.txt",
    "bc5cdr": "CDR_TrainingSet.PubTator.txt",
    "bc5cdr_dev": "CDR_DevelopmentSet.PubTator.txt",
    "biored": "BioRED_TrainDev.PubTator",
    "tmvar": "tmVar3_Train.PubTator",
    "drugprot": "drugprot.json",
}
# Of those of daily life so many tenths.
DAILY = {"notes": "notes.json", "everyday": "everyday.json"}
TENTHS = range(2, 6)
CHOSEN_BY = ("ncbi_dev", "bc5cdr_dev", "biored")
KINDS = ("DISEASE", "CHEMICAL")


def build(
    six: Annotated[Path, typer.Argument(help="Folder of the six types.")],
    output: Annotated[Path, typer.Argument(help="Folder to write.")],
) -> None:
    """Write the files, and how many documents each has."""
    settings = load_recogniser_config(find_config("recogniser")).data
    output.mkdir(parents=True, exist_ok=True)
    for name, file in (CORPORA | DAILY).items():
        parts: dict[str, list[CorpusDocument]] = {"train": [], "dev": []}
        for document in read_corpus(six / "raw" / file, strict=False):
            digit = digit_of(document.doc_id)
            if digit in settings.choose:
                parts["dev"].append(with_kinds(document))
            elif digit in TENTHS or (digit not in settings.last_look and name not in DAILY):
                parts["train"].append(with_kinds(document))
        for part, documents in parts.items():
            if part == "train" or name in CHOSEN_BY:
                write_bioc_json(documents, output / f"{part}_{name}.json")
                typer.echo(f"{part}_{name}.json: {len(documents):,} documents")


def with_kinds(document: CorpusDocument) -> CorpusDocument:
    """RETURNS (CorpusDocument): with mentions of `KINDS` alone; a phenotype that is not marked as a
    disease may be one."""
    kept: dict[tuple[int, int], GoldMention] = {}
    for mention in document.mentions:
        label = mention.label
        kind = entity_type_of(label.removesuffix(OPEN))
        if kind == "PHENOTYPE":
            kept.setdefault((mention.start, mention.end), replace(mention, label=f"DISEASE{OPEN}"))
        elif kind in KINDS:
            kept[mention.start, mention.end] = mention
    return replace(document, mentions=tuple(kept.values()))


if __name__ == "__main__":
    typer.run(build)
