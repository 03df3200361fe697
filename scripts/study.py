"""The papers' tables and figures that are made of several trainings: the rows of
configs/studies.yml, trained and evaluated on each dataset, a stage that rows share once.

python scripts/study.py table-2 --size mini/ --datasets "ncbi bc5cdr"
"""

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Any

import srsly
import typer
from folders import renew
from recipes import base_of

from spacy_angel.errors import AngelError, Errors

STUDIES = Path("configs/studies.yml")
# Those of the papers that anybody can have.
DATASETS = ("ncbi", "bc5cdr", "aap")
# Names of other concepts that figure 3 compares each mention's right name with.
_NEGATIVES = 10


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
    overrides (dict[str, Any]): settings of the config for all rows.
    """

    size: str = "mini/"
    backbone: str = ""
    pretraining: str = ""
    start: str = ""
    split: str = "dev"
    overrides: dict[str, Any] = field(default_factory=dict)


def read_study(name: str, path: Path = STUDIES) -> Study:
    """name (str): of a study. path (Path): the file. RETURNS (Study): its values.
    RAISES (AngelError): there is no such study."""
    known = srsly.read_yaml(path)
    if name not in known:
        raise AngelError(Errors.E729.format(name=name, path=path, known=", ".join(known)))
    values = known[name]
    rows = tuple(Row(row, **given) for row, given in values["rows"].items())
    return Study(
        name, values["title"], rows, tuple(values.get("datasets", DATASETS)), values.get("figure")
    )


def train(dataset: str, row: Row, setting: Setting) -> Path:
    """Train what a row says, as far as it is not there from another row or a run before.

    dataset (str): its corpus and vocabulary lie in `corpus/DATASET`.
    row (Row): of a study.
    setting (Setting): of the run.
    RETURNS (Path): folder of the model.
    """
    from spacy_angel.training.stages import fine_tune, starting_model, train_preferences

    of_start = {k: v for k, v in row.overrides.items() if k.startswith("backbone.")}
    of_positive = {k: v for k, v in row.overrides.items() if not k.startswith("negative.")}
    given = _pretrained(dataset, row, setting)
    start = _stage(dataset, "start", [given, of_start], setting)
    if not (start / "config.json").exists():
        source = None if given == "backbone" else given
        starting_model(_config(dataset, setting, of_start), source).save(start / "model")
        shutil.copytree(start / "model", start, dirs_exist_ok=True)
        shutil.rmtree(start / "model")
    if row.until == "start":
        return start
    folder = _stage(dataset, "positive", [given, of_positive], setting)
    positive = fine_tune(_config(dataset, setting, of_positive), folder, start)
    if row.until == "positive":
        return positive.folder
    folder = _stage(dataset, "negative", [given, row.overrides], setting)
    config = _config(dataset, setting, row.overrides)
    # Rounds mine with the weights so far and need no folds.
    before = start if config.negative.pairs.folds > 1 else None
    return train_preferences(config, positive.folder, folder, before=before).folder


def measure(dataset: str, row: Row, model: Path, output: Path, setting: Setting) -> dict[str, Any]:
    """Evaluate a model on the preprocessed corpus.

    dataset (str), row (Row), setting (Setting): as `train`.
    model (Path): its folder.
    output (Path): folder of the evaluation; one of the same model and data stays.
    RETURNS (dict[str, Any]): its metrics.
    """
    import spacy

    from spacy_angel.evaluation.files import read_metrics
    from spacy_angel.evaluation.run import evaluate

    corpus = Path("corpus") / dataset
    gold, kb = corpus / f"{setting.split}.json", corpus / "kb"
    search = _config(dataset, setting, row.overrides).development.search
    renew(output, [model, gold, kb / "meta.json"], json.dumps([str(search), _NEGATIVES]))
    if (output / "metrics.json").exists():
        return read_metrics(output)
    nlp = spacy.blank("en")
    settings = {"num_beams": search.num_beams, "length_penalty": search.length_penalty}
    more = {"dtype": search.dtype, "resolve_abbreviations": False}
    nlp.add_pipe("angel_linker", config={"model": str(model), **settings, **more})
    nlp.meta["name"] = row.name
    train_file = corpus / "train.json"
    return evaluate(nlp, gold, kb=kb, output=output, train=train_file, negatives=_NEGATIVES)


def tabulate(
    study: Study, folders: Mapping[str, Mapping[str, Path]], output: Path, split: str
) -> str:
    """Write the table or figure: `NAME.md`, `NAME.svg`.

    study (Study): what it is called and made of.
    folders (Mapping[str, Mapping[str, Path]]): row → dataset → its evaluation.
    output (Path): folder.
    split (str): evaluated on, for the title.
    RETURNS (str): the Markdown.
    """
    from spacy_angel.evaluation.charts import bar_chart
    from spacy_angel.evaluation.compare import compare
    from spacy_angel.evaluation.figures import markdown_table, write_chart
    from spacy_angel.evaluation.files import read_metrics

    first, *others = folders
    if study.figure is not None:
        text = ""
        for dataset, folder in folders[first].items():
            pair = output / study.name / dataset / "comparison"
            compare(folder, folders[others[0]][dataset], pair, names=(first, others[0]))
            name = study.name if len(folders[first]) == 1 else f"{study.name}-{dataset}"
            for ending in (".md", ".svg"):
                shutil.copy(pair / f"figure-{study.figure}{ending}", output / f"{name}{ending}")
            text += (output / f"{name}.md").read_text("utf8")
        return text
    datasets = list(folders[first])
    metrics = {
        name: [read_metrics(one[dataset]) for dataset in datasets] for name, one in folders.items()
    }
    lenient = {name: [one["lenient"]["acc@1"] for one in ms] for name, ms in metrics.items()}
    strict = {name: [one["strict"]["acc@1"] for one in ms] for name, ms in metrics.items()}
    head = ["lenient accuracy, %", *datasets, "mean"]
    rows = [[name, *map("{:.1f}".format, v), _mean(v)] for name, v in lenient.items()]
    tables = [markdown_table(f"{study.title} ({split})", head, rows)]
    if others:
        tests = [
            [other, *(_test(compare(folders[first][d], folders[other][d])) for d in datasets)]
            for other in others
        ]
        note = f"Difference from {first}, its 95 % interval and p by paired bootstrap"
        tables.append(markdown_table(note, ["", *datasets], tests))
    bars = [(name, fmean(strict[name]), fmean(lenient[name]), "") for name in folders]
    text = "\n".join(tables)
    write_chart(output / study.name, bar_chart(study.title, bars), text)
    return text


def _mean(values: Sequence[float]) -> str:
    return f"{fmean(values):.1f}" + (f" ± {stdev(values):.1f}" if len(values) > 1 else "")


def _test(comparison: Mapping[str, Any]) -> str:
    test = comparison["lenient"]["test"]
    interval = f"{test['low']:+.1f} to {test['high']:+.1f}"
    return f"{test['difference']:+.1f} ({interval}; p {test['p_bootstrap']:.2g})"


def _pretrained(dataset: str, row: Row, setting: Setting) -> str:
    """What a row begins with: a folder, a name on the hub, or `backbone`."""
    if row.start == "backbone":
        return row.start
    if setting.start:
        return setting.start
    shared = setting.pretraining or base_of(dataset)
    return str(Path("training") / setting.size / "pretrained" / shared / row.start / "model")


def _stage(dataset: str, stage: str, given: Any, setting: Setting) -> Path:
    """The folder of a stage, emptied where it was begun with other inputs."""
    key = json.dumps([given, setting.overrides, setting.backbone], sort_keys=True)
    name = f"{stage}-{blake2b(key.encode(), digest_size=4).hexdigest()}"
    folder = Path("training") / setting.size / "studies" / dataset / name
    corpus = Path("corpus") / dataset
    inputs = [corpus / "kb/meta.json", corpus / "train.json", corpus / "dev.json"]
    inputs += [_config_file(dataset, setting), *(p for p in [Path(given[0])] if p.exists())]
    renew(folder, inputs, key)
    return folder


def _config_file(dataset: str, setting: Setting) -> Path:
    return Path("configs") / setting.size / f"{base_of(dataset)}.cfg"


def _config(dataset: str, setting: Setting, overrides: Mapping[str, Any]) -> Any:
    from spacy_angel.training.config import load_config

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
    override: Annotated[str, typer.Option(help="As --vars.override.")] = "",
    prepare: Annotated[str, typer.Option(help="Variables for making corpora before.")] = "",
) -> None:
    """Train and evaluate the rows of a study, and write its table and picture."""
    from spacy_angel.training.config import parse_overrides

    study = read_study(name)
    chosen = tuple(datasets.split()) or study.datasets
    overrides = parse_overrides(shlex.split(f"--{override}") if override else [])
    setting = Setting(size, backbone, pretraining, start, split, overrides)
    if prepare:
        _prepare(study, chosen, setting, prepare)
    output = Path("metrics") / size / "studies" / split
    folders: dict[str, dict[str, Path]] = {row.name: {} for row in study.rows}
    for dataset in chosen:
        for number, row in enumerate(study.rows):
            model = train(dataset, row, setting)
            folder = output / study.name / dataset / f"{number}"
            metrics = measure(dataset, row, model, folder, setting)
            print(f"{dataset}, {row.name}: {metrics['lenient']['acc@1']:.1f} % lenient")
            folders[row.name][dataset] = folder
    print(tabulate(study, folders, output, split))


if __name__ == "__main__":
    try:
        typer.run(main)
    except AngelError as error:
        # A person reads this: the message says what to do, a traceback would not.
        sys.exit(f"Error: {error}")
