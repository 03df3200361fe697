"""Turn NCBI-disease and BC5CDR into training data for the mention recogniser.

python scripts/ner_corpus.py --train NCBItrainset_corpus.txt --train CDR_TrainingSet.PubTator.txt \
    --dev NCBIdevelopset_corpus.txt --dev CDR_DevelopmentSet.PubTator.txt \
    --names assets/starter.jsonl --output corpus/ner
"""

import sys
from pathlib import Path
from random import Random
from typing import Annotated

import typer
from tqdm import tqdm

from spacy_angel.corpora.documents import CorpusReport
from spacy_angel.corpora.recogniser_data import (
    entity_docs,
    names_by_label,
    swap_mentions,
    to_entities,
    unmarked_strings,
)
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.errors import AngelError
from spacy_angel.files.atomic import replacing
from spacy_angel.vocabulary.formats.registry import read_vocabulary


def convert(splits: dict[str, list[Path]], names: Path | None, output: Path) -> None:
    """Write a DocBin for each split that has files, and print what each file gave.

    splits (dict[str, list[Path]]): corpora of `train` and `dev`.
    names (Path | None): vocabulary of the swapped copies, see `swap_mentions`.
    output (Path): folder.
    RAISES (AngelError): a file cannot be read, or a type in it is unknown.
    """
    import spacy
    from spacy.tokens import DocBin

    nlp = spacy.blank("en")
    reports = {path: CorpusReport() for paths in splits.values() for path in paths}
    corpora = {
        path: list(to_entities(read_corpus(path, report=report), report=report))
        for path, report in reports.items()
    }
    training = [document for path in splits["train"] for document in corpora[path]]
    swaps = names_by_label(read_vocabulary(names)) if names else {}
    rng = Random(0)
    for split, paths in splits.items():
        if not paths:
            continue
        docs = DocBin()
        for path in paths:
            documents, report = corpora[path], reports[path]
            unmarked = unmarked_strings(documents, training)
            for doc in entity_docs(tqdm(documents, desc=path.name), nlp, unmarked, report):
                docs.add(doc)
            if swaps and split == "train":
                copies = (swap_mentions(document, swaps, rng) for document in documents)
                for doc in entity_docs(copies, nlp, unmarked):
                    docs.add(doc)
            counts = ", ".join(f"{key} {n:,}" for key, n in sorted(report.counts.items()))
            print(f"{path}: {counts}")
        target = output / f"{split}.spacy"
        with replacing(target) as file:
            file.write(docs.to_bytes())
        print(f"{target}: {len(docs):,} documents")


def main(
    output: Annotated[Path, typer.Option(help="Folder for train.spacy and dev.spacy.")],
    train: Annotated[
        list[Path] | None, typer.Option(help="Corpus to train on; may be repeated.")
    ] = None,
    dev: Annotated[
        list[Path] | None, typer.Option(help="Corpus to choose on; may be repeated.")
    ] = None,
    names: Annotated[
        Path | None,
        typer.Option(help="Vocabulary: each training document also comes with its names."),
    ] = None,
) -> None:
    """Convert corpora; a split without files is not written."""
    if not train and not dev:
        raise typer.BadParameter("give at least one --train or --dev file")
    try:
        convert({"train": train or [], "dev": dev or []}, names, output)
    except AngelError as error:
        # A person reads this: the message says what to do, a traceback would not.
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    typer.run(main)
