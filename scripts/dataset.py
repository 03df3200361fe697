"""Build the vocabulary and corpora of a dataset, and evaluate on them: the steps of project.yml
that differ between datasets, as configured in configs/datasets.yml."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

import typer
from command import run
from fetch import ASSETS
from recipes import CorpusPart, needs, read_recipe

from spacy_angel.corpora.convert import prepare_corpus, prepared_documents
from spacy_angel.corpora.documents import CorpusReport, Reading
from spacy_angel.corpora.formats.bioc import write_bioc_json
from spacy_angel.corpora.formats.phrases import askapatient_rows
from spacy_angel.corpora.preprocessing import PUBLISHED, Preprocessing
from spacy_angel.errors import AngelError
from spacy_angel.evaluation.compare import compare as compare_evaluations
from spacy_angel.evaluation.run import evaluate as run_evaluation
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.build import add_vocabulary, build_vocabulary
from spacy_angel.vocabulary.storage.metadata import BuildOptions

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False)
Name = Annotated[str, typer.Argument(help="Dataset of configs/datasets.yml.")]
Corpus = Annotated[Path, typer.Argument(help="Folder of the dataset's corpora.")]
Form = Literal["published", "released"]
Split = Annotated[str, typer.Option(help="train, dev or test.")]
Metrics = Annotated[Path, typer.Argument(help="Folder of the evaluations.")]

# Evaluation folders: each system without and with the training mentions as names.
SYSTEMS = ("angel", "positive", "tfidf")
EVALUATIONS = "evaluations"
TRAIN_NAMES = {"": False, "-train-names": True}


@app.command()
def kb(name: Name, output: Annotated[Path, typer.Argument(help="Folder to write.")]) -> None:
    """Build the vocabulary."""
    recipe = read_recipe(name)
    folder = ASSETS / name
    steps = next(
        (c for c in recipe.vocabulary if all((folder / f).exists() for f in needs(c))), None
    )
    if steps is None:
        raise AngelError(
            f"No vocabulary of {name} is complete in {folder}. Run the command `fetch` first."
        )
    for number, step in enumerate(steps):
        files = [folder / file for file in step.files]
        of_files = {key: str(folder / file) for key, file in step.file_options.items()}
        options = {**step.options, **of_files}
        shared = step.shared_names
        print("Reading", *files)
        if step.format == "askapatient":
            sources = [{"path": str(path)} for path in files]
            concepts = askapatient_concepts(files)
            recorded = BuildOptions(sources=sources, shared_names=shared)
            ConceptKB.join([concepts], output, recorded)
        elif number == 0:
            build_vocabulary(
                files, output, format=step.format, options=options, shared_names=shared
            )
        else:
            for file in files:
                add_vocabulary(output, file, format=step.format, options=options)
    built = ConceptKB.from_disk(output)
    print(f"{len(built):,} concepts, {built.n_names:,} names: {output}")


@app.command()
def corpus(name: Name, output: Corpus) -> None:
    """Write the unprocessed corpora in one format: OUTPUT/raw/SPLIT/CORPUS.json."""
    recipe = read_recipe(name)
    for split, parts in recipe.corpora.items():
        for part, source in parts.items():
            if split == "test" and not all((ASSETS / name / f).exists() for f in source.needs):
                print(f"{split}/{part}: not fetched, left out")
                continue
            report = prepare_corpus(
                [ASSETS / name / source.file],
                _raw(output, split, part),
                options={key: ASSETS / name / f for key, f in source.file_options.items()},
            )
            _say(f"{split}/{part}", report)


@app.command()
def abbreviations(
    name: Name,
    folder: Corpus,
    detector: Annotated[
        str, typer.Option(help="ab3p as the papers did, scispacy, or best: ab3p if installed.")
    ],
    form: Annotated[
        Form, typer.Option(help="The steps as the papers say, or to the letter as files given out.")
    ] = "published",
) -> None:
    """Expand abbreviations and apply the other published preprocessing steps: FOLDER/SPLIT.json,
    the files to train on."""
    known = ConceptKB.from_disk(folder / "kb")
    if detector == "best":
        detector = "ab3p" if find_spec("pyab3p") else "scispacy"
        if detector == "scispacy":
            print(
                "Abbreviations are expanded by scispaCy. The papers used Ab3P, which finds others: "
                "pip install 'spacy-angel[ab3p]'."
            )
    for split, parts in read_recipe(name).corpora.items():
        if not all(_raw(folder, split, part).exists() for part in parts):
            # The files of the test split are not available.
            continue
        reports = {part: CorpusReport() for part in parts}
        documents = (
            prepared_documents(
                [_raw(folder, split, part)],
                report,
                steps=_steps(parts[part], detector, form),
                known=known,
            )
            for part, report in reports.items()
        )
        write_bioc_json(chain.from_iterable(documents), folder / f"{split}.json")
        for part, report in reports.items():
            _say(f"{split}/{part}", report)


@app.command()
def evaluate(
    name: Name,
    folder: Corpus,
    metrics: Metrics,
    pipeline: Annotated[Path, typer.Option(help="The pipeline.")],
    positive: Annotated[Path, typer.Option(help="The one before negative-aware training.")],
    split: Split = "dev",
) -> None:
    """Evaluate both pipelines and tf-idf, without and with the training mentions as names:
    METRICS/evaluations/CORPUS/SYSTEM."""
    systems = dict(zip(SYSTEMS, (str(pipeline), str(positive), "tfidf"), strict=True))
    for part in _parts(name, split):
        gold = _raw(folder, split, part)
        if not gold.exists():
            raise AngelError(
                f"{gold} is missing. {name} has no {split} split, or it was not downloaded."
            )
        for suffix, train_names in TRAIN_NAMES.items():
            for system, opened in systems.items():
                output = metrics / EVALUATIONS / part / (system + suffix)
                figures = run_evaluation(
                    opened,
                    gold,
                    kb=folder / "kb",
                    output=output,
                    train_names=_raw(folder, "train", part) if train_names else None,
                )
                accuracy = figures["lenient"]["acc@1"]
                print(
                    f"{output}: {accuracy:.1f} % lenient, {figures['strict']['acc@1']:.1f} strict"
                )


@app.command()
def compare(name: Name, metrics: Metrics, split: Split = "dev") -> None:
    """Compare the pipeline with the one before negative-aware training and with tf-idf:
    METRICS/comparisons/CORPUS/SYSTEM."""
    ours, *others = SYSTEMS
    for part in _parts(name, split):
        for other in others:
            for suffix in TRAIN_NAMES:
                output = metrics / "comparisons" / part / (other + suffix)
                folder = metrics / EVALUATIONS / part
                found = compare_evaluations(
                    folder / (ours + suffix), folder / (other + suffix), output
                )
                figures = found["lenient"]
                print(f"{output}: {figures['a']:.1f} against {figures['b']:.1f} % lenient")


def _parts(name: str, split: str) -> list[str]:
    corpora = read_recipe(name).corpora
    if split not in corpora:
        raise AngelError(
            f"assets/{name} is missing. {name} has no {split} split, or it was not downloaded."
        )
    return list(corpora[split])


def askapatient_concepts(files: Iterable[Path]) -> Iterator[Concept]:
    """Read the concepts of AskAPatient, which has no vocabulary: together, the three files of a
    fold contain the preferred terms of all 1,036 concepts.

    files (Iterable[Path]): files of a fold.
    YIELDS (Concept): a concept for each identifier, in the order of the files.
    """
    names: dict[str, dict[str, None]] = {}
    for file in files:
        reading = Reading(str(file), prefix="SNOMEDCT")
        for _, code, term, _ in askapatient_rows(file, reading):
            names.setdefault(reading.concept_ids(code), {}).setdefault(term)
    for concept_id, (canonical_name, *aliases) in names.items():
        yield Concept(concept_id, canonical_name, tuple(aliases))


def _raw(folder: Path, split: str, part: str) -> Path:
    return folder / "raw" / split / f"{part}.json"


def _steps(part: CorpusPart, detector: str, form: Form) -> Preprocessing:
    """Return the published steps. In corpora of terms without context, there is nothing to
    expand."""
    name = part.preprocessing
    if form == "released" and (name := f"{name}-released") not in PUBLISHED:
        known = sorted(n.removesuffix("-released") for n in PUBLISHED if n.endswith("-released"))
        raise AngelError(
            f"There is no released form of {part.preprocessing!r}, only of {', '.join(known)}."
        )
    steps = PUBLISHED[name]
    if steps.abbreviations == "keep":
        return steps
    return replace(steps, abbreviations=detector)  # type: ignore[arg-type]  # checked there


def _say(what: str, report: CorpusReport) -> None:
    print(f"{what}: " + ", ".join(f"{key} {n:,}" for key, n in sorted(report.counts.items())))


if __name__ == "__main__":
    run(app)
