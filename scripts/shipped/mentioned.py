"""How often texts mention names: what a vocabulary that must be small is chosen by."""

import gzip
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from build_training_data import documents

from spacy_angel.vocabulary.names.concepts import normalize_name

_MOST_WORDS = 6
# Articles, abstracts; corpora whose texts speak of genes and species, their training parts.
_RAW = (
    "evidence_inference_articles.jsonl.gz",
    "medline16n0005.jsonl.gz",
    "pubmedqa_pqal_contexts.jsonl.gz",
)
_ABSTRACTS = "bmc_abstracts.txt.xz"
_CORPORA = (
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


def mentioned(names: Iterable[str], texts: Iterable[str]) -> Counter[str]:
    """names (Iterable[str]): in normal form, those of up to six words count. texts (Iterable[str]):
    as they are. RETURNS (Counter[str]): how often each stands in them."""
    wanted = set(names)
    words_of: dict[str, set[int]] = {}
    for name in wanted:
        first, *others = name.split()
        if len(others) < _MOST_WORDS:
            words_of.setdefault(first, set()).add(len(others) + 1)
    found: Counter[str] = Counter()
    for text in texts:
        words = normalize_name(text).split()
        for start, word in enumerate(words):
            for n in words_of.get(word, ()):
                name = " ".join(words[start : start + n])
                if name in wanted and start + n <= len(words):
                    found[name] += 1
    return found


def raw_texts(data: Path) -> Iterator[str]:
    """data (Path): folder of the corpora. YIELDS (str): articles and abstracts."""
    for name in _RAW:
        with gzip.open(data / "raw_text" / name, "rt", encoding="utf8") as file:
            for line in file:
                yield " ".join(map(str, json.loads(line).values()))


def texts_of(data: Path) -> Iterator[str]:
    """data (Path): folder of the corpora. YIELDS (str): raw texts, then those of corpora. The
    abstracts of BMC have hardly a digit, which is nothing to a name without."""
    yield from raw_texts(data)
    with lzma.open(data / "raw_text" / _ABSTRACTS, "rt", encoding="utf8") as file:
        yield from file
    yield from (document.text for document in documents(data, _CORPORA))
