"""Corpora of diseases and chemicals for the light recogniser of `en_angel_mini`.

    python tools/build_light_corpora.py SIX OUT RECOGNISER

SIX is what `tools/build_six_types.py` wrote, with `raw/drugprot.json` of
`tools/build_gene_corpora.py`, `raw/notes.json` and `raw/everyday.json` of
`tools/build_everyday_text.py`, `raw/abstracts.jsonl` and `raw/articles.jsonl` of
`tools/build_unmarked_texts.py`. OUT gets `train_NAME.json` of each corpus, with the mentions of
diseases and chemicals alone, and `dev_NAME.json` with the articles that the recogniser of six kinds
is chosen by; those of its last look are in neither. `silver.json` has what RECOGNISER, a folder,
finds in other texts; where it is not sure it is left open.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Annotated

import typer
from tqdm import tqdm

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.formats.bioc import write_bioc_json
from spacy_angel.corpora.recogniser_data import OPEN
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.recognition.finder import MentionFinder
from spacy_angel.recognition.found import FoundMention
from spacy_angel.training.data.batches import chunks
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
# Read by the recogniser of six kinds: whole abstracts, and two paragraphs of each article.
ABSTRACTS = (
    *("abstracts.jsonl", "NLMgene_Train.PubTator", "GNormPlus_Train.PubTator"),
    "SPECIES_Train.PubTator",
)
ARTICLES = "articles.jsonl"
PARAGRAPHS, SHORTEST, LONGEST, MOST = 2, 400, 2500, 5000
# Of its mentions those with a lower probability may be none.
SURE = 0.75
AT_ONCE = 64


def build(
    six: Annotated[Path, typer.Argument(help="Folder of the six types.")],
    output: Annotated[Path, typer.Argument(help="Folder to write.")],
    recogniser: Annotated[Path, typer.Argument(help="Folder of the recogniser of six kinds.")],
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
    held = (*settings.choose, *settings.last_look)
    unmarked = [d for d in abstracts(six / "raw") if digit_of(d.doc_id) not in held]
    unmarked += paragraphs(six / "raw" / ARTICLES, Random(3))
    found = list(read_by(MentionFinder.from_disk(recogniser, dtype="auto"), unmarked))
    write_bioc_json(found, output / "silver.json")
    typer.echo(f"silver.json: {len(found):,} documents")


def abstracts(raw: Path) -> Iterator[CorpusDocument]:
    """raw (Path): folder of the files. YIELDS (CorpusDocument): whole ones."""
    for name in ABSTRACTS:
        yield from read_corpus(raw / name, strict=False)


def paragraphs(path: Path, chance: Random) -> list[CorpusDocument]:
    """path (Path): articles. chance (Random): chooses. RETURNS (list[CorpusDocument]): paragraphs
    of their bodies."""
    parts = []
    for article in read_corpus(path):
        long = [p for p in article.text.split("\n") if SHORTEST < len(p) < LONGEST]
        for number, text in enumerate(chance.sample(long, min(PARAGRAPHS, len(long)))):
            parts.append(CorpusDocument(f"{article.doc_id}-{number}", text))
    chance.shuffle(parts)
    return parts[:MOST]


def read_by(finder: MentionFinder, documents: list[CorpusDocument]) -> Iterator[CorpusDocument]:
    """finder (MentionFinder): the recogniser. YIELDS (CorpusDocument): with what it finds."""
    for group in chunks(tqdm(documents, desc="Reading"), AT_ONCE):
        texts = [document.text for document in group]
        for document, found in zip(group, finder.find(texts), strict=True):
            mentions = tuple(
                GoldMention(m.start, m.end, document.text[m.start : m.end], label_of(m))
                for m in found
            )
            yield with_kinds(replace(document, mentions=mentions))


def label_of(mention: FoundMention) -> str:
    """RETURNS (str): with a question mark for one of which the recogniser is not sure."""
    return mention.label if mention.probability >= SURE else mention.label + OPEN


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
