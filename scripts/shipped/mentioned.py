"""Count how often texts mention names, to choose the names of a small vocabulary."""

import gzip
import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path

from build_training_data import documents

from spacy_angel.vocabulary.names.concepts import normalize_name

_MOST_WORDS = 6
# Articles, abstracts, and the training parts of corpora about genes and species.
_RAW = (
    "evidence_inference_articles.jsonl.gz",
    "medline16n0005.jsonl.gz",
    "pubmedqa_pqal_contexts.jsonl.gz",
)
_ABSTRACTS = "bmc_abstracts.txt.xz"
CORPORA = (
    "aioner/BioRED_TrainDev.PubTator",
    "aioner/GNormPlus_Train.PubTator",
    "aioner/Linnaeus_Train.PubTator",
    "aioner/NLMgene_Train.PubTator",
    "aioner/SPECIES_Train.PubTator",
    "aioner/tmVar3_Train.PubTator",
    "aioner/BioID_Train_revision.PubTator",
    "chemdisgene_silver/curated_abstracts.txt.gz",
    "chemdisgene_silver/ctd_derived_dev_abstracts.txt.gz",
    "chemdisgene_silver/ctd_derived_test_abstracts.txt.gz",
)


def mentioned(names: Iterable[str], texts: Iterable[str]) -> Iterator[list[str]]:
    """names (Iterable[str]): names in normal form; those of more than six words are ignored.
    texts (Iterable[str]): unprocessed texts. YIELDS (list[str]): the names in each text, in order,
    with repetitions."""
    wanted = set(names)
    lengths: dict[str, set[int]] = {}
    for name in wanted:
        first, *others = name.split()
        if len(others) < _MOST_WORDS:
            lengths.setdefault(first, set()).add(len(others) + 1)
    for text in texts:
        words = normalize_name(text).split()
        found = (
            " ".join(words[start : start + n])
            for start, word in enumerate(words)
            for n in lengths.get(word, ())
            if start + n <= len(words)
        )
        yield [name for name in found if name in wanted]


def raw_texts(data: Path) -> Iterator[str]:
    """data (Path): folder of the corpora. YIELDS (str): articles and abstracts."""
    for name in _RAW:
        with gzip.open(data / "raw_text" / name, "rt", encoding="utf8") as file:
            for line in file:
                yield " ".join(map(str, json.loads(line).values()))


def texts_of(data: Path) -> Iterator[str]:
    """data (Path): folder of the corpora. YIELDS (str): raw texts, then the texts of corpora. The
    BMC abstracts lack most digits, which only affects names with digits."""
    yield from raw_texts(data)
    with lzma.open(data / "raw_text" / _ABSTRACTS, "rt", encoding="utf8") as file:
        yield from file
    yield from (document.text for document in documents(data, CORPORA))
