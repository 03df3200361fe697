"""Measure the baselines on the public benchmarks; their table is for docs/notebook/baselines.md.

    python benchmarks/baselines.py DATA evaluations

DATA holds `ncbi-disease/`, `bc5cdr/`, `aap/`, `medic/` and `mesh/`. A run whose folder already has
figures is not repeated: remove the folder to measure again.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_angel.corpora.preprocessing import PUBLISHED, Preprocessing
from spacy_angel.evaluation.files import METRICS
from spacy_angel.evaluation.run import evaluate
from spacy_angel.files.atomic import replacing

RESULTS = Path(__file__).parents[1] / "docs" / "notebook" / "baselines.md"
BEGIN, END = "<!-- baselines: begin -->", "<!-- baselines: end -->"
BASELINES = {
    "exact": "exact match",
    "tfidf": "3-gram tf-idf",
    "scispacy": "scispaCy candidates",
}


@dataclass(frozen=True)
class Benchmark:
    """A line of the table for each baseline.

    key (str): folder of its evaluations.
    title (str): in the table.
    corpus (str), format (str), kb (str | None), train (str | None): paths inside DATA.
    train_names (bool), label (str | None), abbreviations (str), preset (str | None): as
        `spacy-angel evaluate` has them; a preset (`--preprocessing`) has its own abbreviations.
    """

    key: str
    title: str
    corpus: str
    format: str
    kb: str | None = None
    train: str | None = None
    train_names: bool = False
    label: str | None = None
    abbreviations: str = "scispacy"
    preset: str | None = None

    @property
    def preprocessing(self) -> Preprocessing:
        """RETURNS (Preprocessing): the steps."""
        if self.preset:
            return PUBLISHED[self.preset]
        return Preprocessing(abbreviations=self.abbreviations)  # type: ignore[arg-type]

    def command(self, baseline: str) -> str:
        """RETURNS (str): the line that measures it."""
        parts = [f"spacy-angel evaluate {baseline} DATA/{self.corpus} -o {self.key}-{baseline}"]
        parts.append(f"--format {self.format}")
        parts += [f"--kb DATA/{self.kb}"] if self.kb else []
        parts += [f"--train DATA/{self.train}"] if self.train else []
        parts += ["--train-names"] if self.train_names else []
        parts += [f"--label {self.label}"] if self.label else []
        parts += [
            f"--preprocessing {self.preset}"
            if self.preset
            else f"--abbreviations {self.abbreviations}"
        ]
        return " ".join(parts)


def _ncbi(title: str, key: str, **values: Any) -> Benchmark:
    return Benchmark(
        key,
        title,
        "ncbi-disease/NCBIdevelopset_corpus.txt",
        "pubtator",
        kb="medic/medic_06Jul2012.txt",
        train="ncbi-disease/NCBItrainset_corpus.txt",
        **values,
    )


def _bc5cdr(title: str, key: str, kb: str, label: str) -> Benchmark:
    return Benchmark(
        key,
        title,
        "bc5cdr/CDR_DevelopmentSet.PubTator.txt",
        "pubtator",
        kb=kb,
        train="bc5cdr/CDR_TrainingSet.PubTator.txt",
        label=label,
    )


BENCHMARKS = [
    _ncbi("NCBI-disease dev, MEDIC 2012", "ncbi"),
    _ncbi("NCBI-disease dev, MEDIC 2012 + train mentions", "ncbi-train", train_names=True),
    _ncbi("NCBI-disease dev, MEDIC 2012, Ab3P", "ncbi-ab3p", abbreviations="ab3p"),
    _ncbi(
        "NCBI-disease dev, MEDIC 2012 + train mentions, Ab3P",
        "ncbi-train-ab3p",
        train_names=True,
        abbreviations="ab3p",
    ),
    _ncbi("NCBI-disease dev, MEDIC 2012, all steps", "ncbi-published", preset="ncbi-disease"),
    _ncbi(
        "NCBI-disease dev, MEDIC 2012 + train mentions, all steps",
        "ncbi-train-published",
        train_names=True,
        preset="ncbi-disease",
    ),
    _bc5cdr(
        "BC5CDR dev diseases, CTD 2017",
        "bc5cdr-disease",
        "medic/CTD_diseases_2017-06.tsv.gz",
        "Disease",
    ),
    _bc5cdr(
        "BC5CDR dev chemicals, MeSH 2019",
        "bc5cdr-chemical",
        "mesh/mesh_2019_descriptors.tsv",
        "Chemical",
    ),
    Benchmark(
        "aap", "AskAPatient folds 0–4, preferred terms", "aap", "askapatient", abbreviations="keep"
    ),
    Benchmark(
        "aap-train",
        "AskAPatient folds 0–4, + train phrases",
        "aap",
        "askapatient",
        train_names=True,
        abbreviations="keep",
    ),
]


def measure(benchmark: Benchmark, baseline: str, data: Path, output: Path) -> dict[str, Any]:
    """RETURNS (dict[str, Any]): the metrics, measured unless they are in their folder."""
    folder = output / f"{benchmark.key}-{baseline}"
    if (folder / METRICS).exists():
        return json.loads((folder / METRICS).read_text(encoding="utf8"))
    return evaluate(
        baseline,
        data / benchmark.corpus,
        benchmark.format,
        data / benchmark.kb if benchmark.kb else None,
        folder,
        train=data / benchmark.train if benchmark.train else None,
        train_names=benchmark.train_names,
        labels=[benchmark.label] if benchmark.label else [],
        preprocessing=benchmark.preprocessing,
    )


def table(figures: dict[tuple[str, str], dict[str, Any]]) -> str:
    """RETURNS (str): the table and, by number, the command of each of its lines, in Markdown."""
    lines = [
        "| | benchmark | baseline | mentions | coverage | lenient @1 | lenient @5 | BioSyn @1 "
        "| strict @1 | strict @5 |",
        "|--:|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    commands = []
    titles = {benchmark.key: benchmark for benchmark in BENCHMARKS}
    for number, ((key, baseline), metrics) in enumerate(figures.items(), 1):
        values = [
            _cell(metrics, *path)
            for path in (
                ("coverage",),
                ("lenient", "acc@1"),
                ("lenient", "acc@5"),
                ("biosyn", "acc@1"),
                ("strict", "acc@1"),
                ("strict", "acc@5"),
            )
        ]
        lines.append(
            f"| {number} | {titles[key].title} | {BASELINES[baseline]} | "
            f"{metrics['mentions']:,.0f} | {' | '.join(values)} |"
        )
        commands.append(f"{number:>2}  {titles[key].command(baseline)}")
    return "\n".join([*lines, "", "```", *commands, "```"])


def _cell(metrics: dict[str, Any], *path: str) -> str:
    value, spread = metrics, metrics.get("spread")
    for key in path:
        value, spread = value[key], spread and spread[key]
    return f"{value:.1f}" if spread is None else f"{value:.1f} ± {spread:.1f}"


def main(
    data: Annotated[Path, typer.Argument(help="Folder with the public corpora.")],
    output: Annotated[Path, typer.Argument(help="Folder for the evaluations.")],
    only: Annotated[str, typer.Option(help="Run and show only keys that match this.")] = ".*",
    write: Annotated[bool, typer.Option(help="Write docs/notebook/baselines.md.")] = False,
) -> None:
    """Measure the baselines."""
    figures = {
        (benchmark.key, baseline): measure(benchmark, baseline, data, output)
        for benchmark in BENCHMARKS
        if re.fullmatch(only, benchmark.key)
        for baseline in BASELINES
    }
    text = table(figures)
    print(text)
    if write:
        before, begin, rest = RESULTS.read_text(encoding="utf8").partition(BEGIN)
        _, end, after = rest.partition(END)
        if not begin or not end:
            raise SystemExit(f"{RESULTS} needs the lines {BEGIN} and {END}, the table goes between")
        with replacing(RESULTS) as file:
            file.write(f"{before}{BEGIN}\n{text}\n{END}{after}".encode())


if __name__ == "__main__":
    typer.run(main)
