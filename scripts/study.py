"""The papers' tables and figures that are made of several trainings: the rows of
configs/studies.yml, trained and evaluated on each dataset, a stage that rows share once.

python scripts/study.py table-2 --size mini/ --datasets "ncbi bc5cdr"
"""

import json
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Any

import srsly
import typer
from command import run
from folders import INPUTS, renew
from recipes import base_of

from spacy_angel.errors import AngelError, AngelWarning
from spacy_angel.files.atomic import write_json

STUDIES = Path("configs/studies.yml")
# Those of the papers that anybody can have.
DATASETS = ("ncbi", "bc5cdr", "aap")
MARGINS = "margins.json"


@dataclass(frozen=True)
class Row:
    """One training.

    name (str): in the table.
    start (str): stage of pre-training that it begins with: `backbone`, `positive`, `negative`.
    until (str): its last stage: `start`, `positive`, `negative`.
    overrides (dict[str, Any]): settings of the config, by dotted name.
    """

    name: str
    start: str = "negative"
    until: str = "negative"
    overrides: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Study:
    """A table or figure.

    name (str): of the command. title (str): above the table.
    rows (tuple[Row, ...]): the first is what the others are compared with.
    datasets (tuple[str, ...]): what it is of where nothing else is said.
    figure (int | None): 3 or 4, of its two rows; None: a table of accuracies.
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    datasets: tuple[str, ...] = DATASETS
    figure: int | None = None


@dataclass(frozen=True)
class Setting:
    """What is the same for all rows of a run.

    size (str): folder of the configs, with its slash: `mini/`.
    backbone (str): name or folder; empty: the config's.
    pretraining (str): dataset whose pre-training is shared; empty: each dataset's own.
    start (str): a model to begin with in place of all pre-training; empty: none.
    split (str): evaluated on.
    documents (int): evaluated on so many, drawn evenly; 0: all.
    overrides (dict[str, Any]): settings of the config for all rows.
    """

    size: str = "mini/"
    backbone: str = ""
    pretraining: str = ""
    start: str = ""
    split: str = "dev"
    documents: int = 0
    overrides: dict[str, Any] = field(default_factory=dict)


def read_study(name: str, path: Path = STUDIES) -> Study:
    """name (str): of a study. path (Path): the file. RETURNS (Study): its values.
    RAISES (AngelError): there is no such study."""
    known = srsly.read_yaml(path)
    if name not in known:
        raise AngelError(f"{path} has no study {name!r}. Known: {', '.join(known)}.")
    values = known[name]
    rows = tuple(Row(row, **given) for row, given in values["rows"].items())
    return Study(
        name,
        values["title"],
        rows,
        tuple(values.get("datasets", DATASETS)),
        values.get("figure"),
    )


def train(dataset: str, row: Row, setting: Setting) -> Path:
    """Train what a row says, as far as it is not there from another row or a run before.

    dataset (str): its corpus and vocabulary lie in `corpus/DATASET`.
    row (Row): of a study.
    setting (Setting): of the run.
    RETURNS (Path): folder of the model.
    """
    from spacy_angel.training.course.trainer import finished
    from spacy_angel.training.settings.config_tables import as_plain
    from spacy_angel.training.stages import fine_tune, mine, starting_model, train_preferences

    given = _pretrained(dataset, row, setting)
    config = _config(dataset, setting, row.overrides)
    start = _stage(dataset, "start", [given, *_parts(config, "backbone")], setting)
    if not (start / "config.json").exists():
        source = None if given == "backbone" else given
        starting_model(config, source).save(start / "model")
        shutil.copytree(start / "model", start, dirs_exist_ok=True)
        shutil.rmtree(start / "model")
    if row.until == "start":
        return start
    key = [given, *_parts(config, "data", "backbone", "development", "positive")]
    folder = _stage(dataset, "positive", key, setting)
    # Asked here, for the stage itself would make its examples first.
    positive = (finished(folder) or fine_tune(config, folder, start)).folder
    if row.until == "positive":
        return positive
    folder = _stage(dataset, "negative", [*key, *_parts(config, "negative")], setting)
    if (done := finished(folder)) is not None:
        return done.folder
    # Rounds mine with the weights so far.
    if config.negative.rounds > 1:
        return train_preferences(config, positive, folder).folder
    shared = _stage(dataset, "pairs", [*key, as_plain(config.negative.pairs)], setting)
    pairs = shared / "pairs.jsonl"
    if not pairs.exists():
        print(f"{dataset}, {row.name}: {mine(config, positive, pairs):,} pairs")
    return train_preferences(config, positive, folder, pairs=pairs).folder


def measure(dataset: str, row: Row, model: Path, setting: Setting) -> Path:
    """Evaluate a model on the preprocessed corpus, once for all rows and studies that share it.

    dataset (str), row (Row), setting (Setting): as `train`.
    model (Path): its folder.
    RETURNS (Path): folder of the evaluation.
    """
    import spacy

    from spacy_angel.evaluation.run import evaluate

    corpus = Path("corpus") / dataset
    gold, kb = _sample(corpus / f"{setting.split}.json", setting.documents), corpus / "kb"
    search = _config(dataset, setting, row.overrides).development.search
    # The folder of the stage holds that of its weights.
    stage = model if (model / INPUTS).exists() else model.parent
    output = _metrics(setting) / "evaluations" / dataset / f"{stage.name}-{gold.stem}"
    renew(output, [model, gold, kb / "meta.json"], str(search))
    if (output / "metrics.json").exists():
        return output
    nlp = spacy.blank("en")
    settings = {"num_beams": search.num_beams, "search": {"length_penalty": search.length_penalty}}
    more = {"dtype": search.dtype, "reading": {"abbreviations": False}}
    nlp.add_pipe(
        "angel_linker", config={"preset": "published", "model": str(model), **settings, **more}
    )
    nlp.meta["name"] = stage.name
    evaluate(nlp, gold, kb=kb, output=output)
    return output


def measure_margins(dataset: str, model: Path, setting: Setting, folder: Path) -> None:
    """Write what figure 3 shows of a model into the folder of its evaluation.

    dataset (str), setting (Setting): as `train`.
    model (Path): its folder.
    folder (Path): of the evaluation.
    """
    from spacy_angel.corpora.registry import read_corpus
    from spacy_angel.evaluation.margins import margins
    from spacy_angel.search.generator import Generator
    from spacy_angel.vocabulary.kb import ConceptKB

    if (folder / MARGINS).exists():
        return
    corpus = Path("corpus") / dataset
    documents = read_corpus(_sample(corpus / f"{setting.split}.json", setting.documents))
    kb = ConceptKB.from_disk(corpus / "kb")
    write_json(folder / MARGINS, margins(documents, Generator.from_pretrained(model), kb))


def read_margins(folder: Path) -> list[dict[str, Any]]:
    """folder (Path): of an evaluation. RETURNS (list[dict[str, Any]]): see `measure_margins`."""
    return json.loads((folder / MARGINS).read_text("utf8"))


def tabulate(
    study: Study, folders: Mapping[str, Mapping[str, Path]], output: Path, split: str
) -> str:
    """Write the table or figure: `NAME.md`, `NAME.png`.

    study (Study): what it is called and made of.
    folders (Mapping[str, Mapping[str, Path]]): row → dataset → its evaluation.
    output (Path): folder.
    split (str): evaluated on, for the title.
    RETURNS (str): the Markdown.
    """
    from spacy_angel.evaluation.compare import compare
    from spacy_angel.evaluation.files import read_metrics
    from spacy_angel.evaluation.margins import margins_table, plot_margins
    from spacy_angel.evaluation.plots import plot_bars, plot_groups
    from spacy_angel.evaluation.report import markdown_table, similarity_table

    first, *others = folders
    if study.figure is not None:
        text = ""
        output.mkdir(parents=True, exist_ok=True)
        for dataset in folders[first]:
            name = study.name if len(folders[first]) == 1 else f"{study.name}-{dataset}"
            if study.figure == 3:
                bins = {row: read_margins(own[dataset]) for row, own in folders.items()}
                table = markdown_table(margins_table(bins))
                plot_margins(bins, output / f"{name}.png")
            else:
                systems = {row: read_metrics(own[dataset]) for row, own in folders.items()}
                table = similarity_table(systems)
                data = {row: one["analyses"]["similarity"] for row, one in systems.items()}
                plot_groups("similarity", data, output / f"{name}.png")
            (output / f"{name}.md").write_text(f"{table}\n", "utf8")
            text += f"{table}\n"
        return text
    datasets = list(folders[first])
    metrics = {
        name: [read_metrics(one[dataset]) for dataset in datasets] for name, one in folders.items()
    }
    lenient = {name: [one["lenient"]["acc@1"] for one in ms] for name, ms in metrics.items()}
    strict = {name: [one["strict"]["acc@1"] for one in ms] for name, ms in metrics.items()}
    rows = [
        {"lenient accuracy, %": name, **dict(zip(datasets, v, strict=True)), "mean": _mean(v)}
        for name, v in lenient.items()
    ]
    text = f"{study.title} ({split})\n\n{markdown_table(rows)}\n"
    if others:
        tests = [
            {"": other}
            | {d: _test(compare(folders[first][d], folders[other][d])) for d in datasets}
            for other in others
        ]
        note = f"Difference from {first}, its 95 % interval (paired bootstrap) and p (McNemar)"
        text += f"\n{note}\n\n{markdown_table(tests)}\n"
    output.mkdir(parents=True, exist_ok=True)
    (output / f"{study.name}.md").write_text(text, "utf8")
    counts = {"strict": strict, "lenient": lenient}
    bars = {
        count: [fmean(of_count[name]) for name in folders] for count, of_count in counts.items()
    }
    plot_bars(output / f"{study.name}.png", study.title, list(folders), bars)
    return text


def _metrics(setting: Setting) -> Path:
    return Path("metrics") / setting.size / "studies" / setting.split


def _mean(values: Sequence[float]) -> str:
    return f"{fmean(values):.1f}" + (f" ± {stdev(values):.1f}" if len(values) > 1 else "")


def _test(comparison: Mapping[str, Any]) -> str:
    test = comparison["lenient"]["test"]
    interval = f"{test['low']:+.1f} to {test['high']:+.1f}"
    return f"{test['difference']:+.1f} ({interval}; p {test['p']:.2g})"


def same_rows(study: Study) -> list[tuple[str, str]]:
    """study (Study): of which all rows begin with one model, in place of their pre-training.
    RETURNS (list[tuple[str, str]]): a row, and the earlier one that then is the same training."""
    seen: dict[str, str] = {}
    same = []
    for row in study.rows:
        key = json.dumps([row.start == "backbone", row.until, row.overrides], sort_keys=True)
        if (first := seen.setdefault(key, row.name)) != row.name:
            same.append((row.name, first))
    return same


def _pretrained(dataset: str, row: Row, setting: Setting) -> str:
    """What a row begins with: a folder, a name on the hub, or `backbone`."""
    if row.start == "backbone":
        return row.start
    if setting.start:
        return setting.start
    shared = setting.pretraining or base_of(dataset)
    return str(Path("training") / setting.size / "pretrained" / shared / row.start / "model")


def _parts(config: Any, *sections: str) -> list[Any]:
    """What a stage depends on: rows that say the same in other words share it."""
    from spacy_angel.training.settings.config_tables import as_plain

    return [as_plain(getattr(config, section)) for section in sections]


def _stage(dataset: str, stage: str, given: Sequence[Any], setting: Setting) -> Path:
    """The folder of a stage, by what it depends on; emptied where its inputs were others."""
    key = json.dumps(given, sort_keys=True)
    name = f"{stage}-{blake2b(key.encode(), digest_size=4).hexdigest()}"
    folder = Path("training") / setting.size / "studies" / dataset / name
    corpus = Path("corpus") / dataset
    inputs = [corpus / "kb/meta.json", corpus / "train.json", corpus / "dev.json"]
    renew(folder, [*inputs, *(p for p in [Path(given[0])] if p.exists())], key)
    return folder


def _sample(path: Path, n_documents: int) -> Path:
    """So many documents of a corpus, drawn evenly, in a file beside it."""
    corpus = srsly.read_json(path)
    documents = corpus["documents"]
    if not 0 < n_documents < len(documents):
        return path
    drawn = [documents[i * len(documents) // n_documents] for i in range(n_documents)]
    sample = path.with_name(f"{path.stem}-{n_documents}{path.suffix}")
    write_json(sample, {**corpus, "documents": drawn})
    return sample


def _config_file(dataset: str, setting: Setting) -> Path:
    return Path("configs") / setting.size / f"{base_of(dataset)}.cfg"


def _config(dataset: str, setting: Setting, overrides: Mapping[str, Any]) -> Any:
    from spacy_angel.training.course.config import load_config

    corpus = f"corpus/{dataset}"
    data = {
        "data.kb": f"{corpus}/kb",
        "data.train": [f"{corpus}/train.json"],
        "data.dev": [f"{corpus}/dev.json"],
    }
    backbone = {"backbone.name": setting.backbone} if setting.backbone else {}
    values = {**data, **backbone, **setting.overrides, **overrides}
    return load_config(_config_file(dataset, setting), values)


def _prepare(study: Study, datasets: Sequence[str], setting: Setting, variables: str) -> None:
    """Let the project make the corpora, and pre-train where a row begins with that."""
    spacy_project = [sys.executable, "-m", "spacy", "project", "run"]
    needs = any(row.start != "backbone" for row in study.rows) and not setting.start
    shared = {setting.pretraining or base_of(dataset) for dataset in datasets} if needs else set()
    for workflow, names in (("data", datasets), ("pretraining", sorted(shared))):
        for name in names:
            own = ["--vars.dataset", name, "--vars.pretraining", base_of(name)]
            # The recogniser's files are not wanted.
            own += ["--vars.recogniser", name]
            command = [*spacy_project, workflow, ".", *own, *shlex.split(variables)]
            if code := subprocess.run(command).returncode:
                # It has said why.
                sys.exit(code)


def main(
    name: Annotated[str, typer.Argument(help="Study of configs/studies.yml.")],
    datasets: Annotated[str, typer.Option(help="Others than its own, blanks between.")] = "",
    size: Annotated[str, typer.Option(help="As --vars.size.")] = "mini/",
    backbone: Annotated[str, typer.Option(help="As --vars.backbone.")] = "",
    pretraining: Annotated[str, typer.Option(help="Dataset whose pre-training is shared.")] = "",
    start: Annotated[str, typer.Option(help="A model in place of all pre-training.")] = "",
    split: Annotated[str, typer.Option(help="dev or test.")] = "dev",
    documents: Annotated[int, typer.Option(help="Evaluated on so many; 0: all.")] = 0,
    override: Annotated[str, typer.Option(help="As --vars.override.")] = "",
    prepare: Annotated[str, typer.Option(help="Variables for making corpora before.")] = "",
) -> None:
    """Train and evaluate the rows of a study, and write its table and picture."""
    from spacy_angel.evaluation.files import read_metrics
    from spacy_angel.training.course.config import parse_overrides

    study = read_study(name)
    chosen = tuple(datasets.split()) or study.datasets
    overrides = parse_overrides(shlex.split(f"--{override}") if override else [])
    setting = Setting(size, backbone, pretraining, start, split, documents, overrides)
    if start:
        for row_name, first in same_rows(study):
            warnings.warn(
                f"Row {row_name!r} is the same training as {first!r}, as all start from {start}.",
                AngelWarning,
                stacklevel=2,
            )
    if prepare:
        _prepare(study, chosen, setting, prepare)
    output = _metrics(setting)
    folders: dict[str, dict[str, Path]] = {row.name: {} for row in study.rows}
    for dataset in chosen:
        for row in study.rows:
            model = train(dataset, row, setting)
            folder = measure(dataset, row, model, setting)
            if study.figure == 3:
                measure_margins(dataset, model, setting, folder)
            accuracy = read_metrics(folder)["lenient"]["acc@1"]
            print(f"{dataset}, {row.name}: {accuracy:.1f} % lenient", flush=True)
            folders[row.name][dataset] = folder
    print(tabulate(study, folders, output, split))


if __name__ == "__main__":
    run(lambda: typer.run(main))
