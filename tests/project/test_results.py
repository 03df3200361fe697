"""The commands of docs/results.md: those that measure and build run here on a few documents in the
true formats; those that train, or need what training makes, are read by the command line and their
configs with all overrides, and not run."""

import gzip
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from support.helpers import ROOT
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.training.config import load_config, parse_overrides

FIXTURES = ROOT / "tests/fixtures"
FILES = {
    "ncbi-disease/NCBItrainset_corpus.txt": "corpora/NCBItrainset_corpus.txt",
    "ncbi-disease/NCBIdevelopset_corpus.txt": "corpora/NCBItrainset_corpus.txt",
    "bc5cdr/CDR_TrainingSet.PubTator.txt": "corpora/CDR_sample.PubTator.txt",
    "bc5cdr/CDR_DevelopmentSet.PubTator.txt": "corpora/CDR_sample.PubTator.txt",
    "mesh/mesh_2015_tree_numbers.tsv": "vocabularies/tree_numbers.tsv",
}
# Vocabularies in which some of the mentions have a concept, and enough names share their letters
# for scispaCy's generator.
KINDS = range(101, 115)
MEDIC = "D061325||Hereditary Breast and Ovarian Cancer Syndrome|HBOC\n" + "".join(
    f"D000{i}||Hereditary Cancer {i}\n" for i in KINDS
)
CTD_FIELDS = (
    *("DiseaseName", "DiseaseID", "AltDiseaseIDs", "Definition", "ParentIDs"),
    *("TreeNumbers", "ParentTreeNumbers", "Synonyms", "SlimMappings"),
)
CTD = (
    "# Fields:\n# "
    + "\t".join(CTD_FIELDS)
    + "\n"
    + "".join(
        f"Toxicity{name}\tMESH:{id_}\t\t\t\tC25\t\t\t\n"
        for name, id_ in [("", "D064420"), *((f" {i}", f"D000{i}") for i in KINDS)]
    )
)
DESCRIPTORS = "D003676\tDeferoxamine\tDesferrioxamine\n" + "".join(
    f"D000{i}\tDeferoxamine {i}\t\n" for i in KINDS
)
ASKAPATIENT = "".join(f"{i}\tPoor memory {i}\tforgot {i}\n" for i in KINDS)
# Models, pipelines and figures that a training run leaves.
TRAINED = re.compile(r"\b(training|PIPELINES|negative|positive|ships)\b")
COMMAND = re.compile(r"^ *(?:\d+ +)?(spacy-angel [^\n]+|[A-Z]+=[^\n]+)$", re.MULTILINE)


def commands() -> Iterator[list[str]]:
    """YIELDS (list[str]): the words behind `spacy-angel` of each command in the order of the page,
    with what the shell variables before it hold."""
    variables: dict[str, str] = {}
    for line in COMMAND.findall((ROOT / "docs/results.md").read_text("utf8")):
        for name, value in variables.items():
            line = re.sub(rf"\${name}\b", lambda _, value=value: value, line)
        words = shlex.split(line, comments=True)
        name, is_variable, value = words[0].partition("=")
        if is_variable:
            variables[name] = value
        else:
            yield words[1:]


TRAINING = [words for words in commands() if words[0] in ("train", "assemble")]
RUN = [
    words
    for words in commands()
    if words not in TRAINING and not any(map(TRAINED.search, words[1:]))
]
READ = [words for words in commands() if words not in RUN]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """RETURNS (Path): the working directory, with the folder DATA of the page in small."""
    for name, source in FILES.items():
        (tmp_path / "DATA" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(FIXTURES / source, tmp_path / "DATA" / name)
    for folder in ("aap", "medic"):
        (tmp_path / "DATA" / folder).mkdir()
    (tmp_path / "DATA/medic/medic_06Jul2012.txt").write_text(MEDIC)
    ctd = tmp_path / "DATA/medic/CTD_diseases_2017-06.tsv.gz"
    ctd.write_bytes(gzip.compress(CTD.encode()))
    for part in ("train", "validation", "test"):
        (tmp_path / f"DATA/aap/AskAPatient.fold-0.{part}.txt").write_text(ASKAPATIENT)
    (tmp_path / "DATA/mesh/mesh_2019_descriptors.tsv").write_text(DESCRIPTORS)
    # What awk makes of the two MeSH files.
    (tmp_path / "chemicals.tsv").write_text(DESCRIPTORS.splitlines(keepends=True)[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_run_and_what_is_read() -> None:
    assert len(RUN) >= 40
    assert {words[0] for words in RUN} == {"evaluate", "compare", "kb", "corpus", "link"}
    assert {words[0] for words in READ} == {"train", "assemble", "evaluate", "compare"}


@pytest.mark.slow
def test_commands_that_measure_and_build_run(data: Path) -> None:
    names = {"SYSTEM": "tfidf", "BEFORE": "ncbi-train"}
    for words in RUN:
        done = CliRunner().invoke(app, [names.get(word, word) for word in words])
        assert done.exit_code == 0, f"spacy-angel {shlex.join(words)}\n{done.output}"
        for option in ("-o", "--output"):
            if option in words:
                assert Path(words[words.index(option) + 1]).exists(), words


@pytest.mark.parametrize("words", READ, ids=shlex.join)
def test_commands_that_train_are_read(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # What commands before it leave.
    for word in words[2:]:
        if word.endswith((".jsonl", ".txt")):
            (tmp_path / word).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / word).touch()
        elif re.fullmatch(r"\w+(/model)?", word):
            (tmp_path / word).mkdir(parents=True, exist_ok=True)
    command = typer.main.get_command(app)
    names = []
    # `train` with both stages is a group without one of its commands.
    while words[len(names)] in getattr(command, "commands", ()):
        names.append(words[len(names)])
        command = command.commands[names[-1]]
    with command.make_context(names[-1], words[len(names) :]) as context:
        if "config" in context.params and names != ["train"]:
            config = ROOT / context.params["config"]
            overrides = parse_overrides(context.args)
            settings = load_config(config, overrides)
            assert settings.data.kb == overrides.get("data.kb", settings.data.kb)
        else:
            assert context.args == []
