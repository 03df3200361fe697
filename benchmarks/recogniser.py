"""Measure a trained recogniser beside the light one of en_angel_mini.

    python benchmarks/recogniser.py training/recogniser/model --config recogniser \
        --dev corpus/NCBIdevelopset_corpus.txt --dev corpus/CDR_DevelopmentSet.PubTator.txt

Mentions count with exactly these characters and this label. Of the articles of the config that were
held out, each label is counted in the corpora that annotate it; of the files of `--dev`, diseases
and chemicals as the light recogniser's training has them, of both recognisers as components, so
that a mention that ends inside a token of the pipeline is lost. Speed: abstracts of the first of
these files a second, tokenizer included, the best of some rounds.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import spacy
import torch
import typer

from spacy_angel.corpora.recogniser_data import to_entities
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.linking.settings.loaders import SHIPPED_PIPELINE
from spacy_angel.recognition.finder import MentionFinder
from spacy_angel.recognition.found import FoundMention
from spacy_angel.training.course.config import parse_overrides
from spacy_angel.training.recogniser.config import load_recogniser_config
from spacy_angel.training.recogniser.data import (
    Annotated as AnnotatedText,
)
from spacy_angel.training.recogniser.data import (
    MentionCounts,
    by_label,
    count_mentions,
    read_texts,
)
from spacy_angel.training.recogniser.training import measure
from spacy_angel.training.settings.configs import find_config

if TYPE_CHECKING:
    from spacy.language import Language

LIGHT_LABELS = ("DISEASE", "CHEMICAL")


def main(
    model: Annotated[Path, typer.Argument(help="Folder of the recogniser.")],
    config: Annotated[str, typer.Option(help="The config that it was trained with.")],
    dev: Annotated[list[Path], typer.Option(help="Corpus of diseases or chemicals.")],
    dtype: Annotated[str, typer.Option(help="Type of the weights.")] = "float32",
    threads: Annotated[int, typer.Option(help="Threads.")] = 2,
    rounds: Annotated[int, typer.Option(help="Times that each runs; the best counts.")] = 3,
    override: Annotated[
        list[str] | None, typer.Option(help="`--section.name=value` of the config.")
    ] = None,
) -> None:
    """Print Markdown tables."""
    torch.set_num_threads(threads)
    settings = load_recogniser_config(find_config(config), parse_overrides(override or []))
    finder = MentionFinder.from_disk(model, dtype=dtype)
    texts = read_texts(settings)
    print("| label | corpus | mentions | precision | recall | F-score |")
    print("|---|---|---|---|---|---|")
    counts = measure(finder, texts.last_look)
    for label in finder.labels:
        for key in sorted(key for key in counts if key[0] == label):
            print_row(label, key[1], counts[key])
        print_row(label, "all", by_label(counts)[label])
    print()
    systems = {"light": light(), "angel_recogniser": with_encoder(model, dtype)}
    print("| recogniser | corpus | label | mentions | precision | recall | F-score |")
    print("|---|---|---|---|---|---|---|")
    for path in dev:
        gold = annotated(path)
        for name, nlp in systems.items():
            found = [mentions_of(nlp(text.document.text)) for text in gold]
            for label, one in sorted(by_label(count_mentions(gold, found)).items()):
                print_row(name, path.name, one, label)
    print()
    some = [text.document.text for text in annotated(dev[0])]
    for name, nlp in systems.items():
        seconds = min(timed(nlp, some) for _ in range(rounds))
        print(f"{name} ({dtype}, {threads} threads): {len(some) / seconds:.1f} abstracts/s")


def light() -> "Language":
    """RETURNS (Language): the tokenizer and the recogniser that ship."""
    others = ["sentencizer", "abbreviation_detector", "angel_linker"]
    return spacy.load(SHIPPED_PIPELINE, exclude=others)


def with_encoder(model: Path, dtype: str) -> "Language":
    """RETURNS (Language): the same tokenizer, and the recogniser in the folder."""
    nlp = light()
    nlp.remove_pipe("ner")
    nlp.add_pipe("angel_recogniser", config={"model": str(model), "dtype": dtype})
    return nlp


def annotated(path: Path) -> list[AnnotatedText]:
    """RETURNS (list[AnnotatedText]): a corpus of diseases, chemicals or both, with its name."""
    documents = list(to_entities(read_corpus(path)))
    used = {mention.label for document in documents for mention in document.mentions}
    return [
        AnnotatedText(document, path.name, frozenset(used).intersection(LIGHT_LABELS))
        for document in documents
    ]


def mentions_of(doc: "spacy.tokens.Doc") -> list[FoundMention]:
    """RETURNS (list[FoundMention]): the entities of a document."""
    return [FoundMention(e.start_char, e.end_char, e.label_, 1.0) for e in doc.ents]


def timed(nlp: "Language", texts: Sequence[str]) -> float:
    """RETURNS (float): seconds that a pipeline takes for the texts."""
    begin = time.perf_counter()
    for _ in nlp.pipe(texts, batch_size=32):
        pass
    return time.perf_counter() - begin


def print_row(first: str, second: str, counts: MentionCounts, *more: str) -> None:
    """Print a line of a table with per cent."""
    rates = (
        counts.right / max(counts.found, 1),
        counts.right / max(counts.gold, 1),
        counts.f_score,
    )
    cells = [first, second, *more, f"{counts.gold:,}", *(f"{100 * rate:.1f}" for rate in rates)]
    print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    typer.run(main)
