"""Turn NCBI-disease and BC5CDR into training data for the mention recogniser.

python scripts/ner_corpus.py --train NCBItrainset_corpus.txt --train CDR_TrainingSet.PubTator.txt \
    --dev NCBIdevelopset_corpus.txt --dev CDR_DevelopmentSet.PubTator.txt \
    --names scripts/shipped/common_names.tsv --names en_angel_mini --notes 1500 --output corpus/ner
"""

from pathlib import Path
from random import Random
from typing import Annotated

import typer
from command import plain_errors
from entities import entity_docs, in_all_letters, to_entities, unmarked_strings
from notes import (
    Style,
    in_letters,
    invented_note,
    names_by_label,
    restyled,
    short_forms_by_label,
)
from tqdm import tqdm

from spacy_angel.corpora.biomedical_tokens import add_biomedical_tokens
from spacy_angel.corpora.documents import CorpusReport
from spacy_angel.corpora.recogniser_data import mentions_by_label, swap_mentions
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.files.atomic import replacing
from spacy_angel.linking.settings.loaders import load_vocabulary


def convert(
    splits: dict[str, list[Path]],
    vocabularies: list[str],
    notes: int,
    output: Path,
    letters: str = "",
) -> None:
    """Write a DocBin for each split that has files, and print what each file gave.

    splits (dict[str, list[Path]]): corpora of `train` and `dev`.
    vocabularies (list[str]): files or folders, or `en_angel_mini` for the one that ships; the
        first gives the names of the swapped copies, see `swap_mentions`.
    notes (int): how many notes are invented, beside a copy of each training document as a note may
        have it, with names of the vocabularies; 0 for neither.
    output (Path): folder.
    letters (str): of the development documents, see `in_letters`.
    RAISES (AngelError): a file cannot be read, or a type in it is unknown.
    """
    import spacy
    from spacy.tokens import DocBin

    nlp = spacy.blank("en")
    add_biomedical_tokens(nlp)
    files = [path for paths in splits.values() for path in paths]
    reports = {path: CorpusReport() for path in files}
    corpora = {
        path: list(to_entities(read_corpus(path, report=report), report=report))
        for path, report in reports.items()
    }
    training = [document for path in splits["train"] for document in corpora[path]]
    names = [names_by_label(load_vocabulary(name)) for name in vocabularies]
    pools = [mentions_by_label(training), *names, short_forms_by_label(names)]
    rng = Random(0)
    for split, paths in splits.items():
        if not paths:
            continue
        docs = DocBin()
        for path in paths:
            documents, report = corpora[path], reports[path]
            unmarked = unmarked_strings(documents, training)
            if letters and split == "dev":
                documents = [in_letters(document, letters) for document in documents]
            for doc in entity_docs(tqdm(documents, desc=path.name), nlp, unmarked, report):
                docs.add(doc)
            if names and split == "train":
                copies = (swap_mentions(document, names[0], rng) for document in documents)
                for doc in entity_docs(copies, nlp, unmarked):
                    docs.add(doc)
            if notes and split == "train":
                copies = (
                    restyled(swap_mentions(document, rng.choice(pools), rng), rng)
                    for document in documents
                )
                for doc in entity_docs(copies, nlp, in_all_letters(unmarked)):
                    docs.add(doc)
            counts = ", ".join(f"{key} {n:,}" for key, n in sorted(report.counts.items()))
            print(f"{path}: {counts}")
        if split == "train":
            invented = (invented_note(pools, rng, f"note {n}") for n in range(notes))
            for doc in entity_docs(invented, nlp):
                docs.add(doc)
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
        list[str] | None,
        typer.Option(
            help="Vocabulary: each training document also comes with the names of the first; "
            "notes have names of all. May be repeated."
        ),
    ] = None,
    notes: Annotated[
        int,
        typer.Option(
            help="Invent so many notes, and add each training document as a note may have it."
        ),
    ] = 0,
    letters: Annotated[
        Style | None, typer.Option(help="Write the documents of --dev in such letters.")
    ] = None,
) -> None:
    """Convert corpora; a split without files is not written."""
    if not train and not dev:
        raise typer.BadParameter("give at least one --train or --dev file")
    with plain_errors():
        splits = {"train": train or [], "dev": dev or []}
        convert(splits, names or [], notes, output, letters or "")


if __name__ == "__main__":
    typer.run(main)
