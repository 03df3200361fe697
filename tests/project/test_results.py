"""The commands of docs/results.md and docs/notebook, on data in small: those that measure and build
as they stand; those that train with one update a stage, from a model of a few weights."""

import gzip
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
import spacy
import torch
from spacy.cli import app as spacy_app
from support.doc_blocks import read_blocks
from support.helpers import ROOT
from support.scripts import app_of
from transformers import BertConfig, BertModel, BertTokenizerFast
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.corpora.formats.askapatient import askapatient_concepts
from spacy_angel.vocabulary.kb import ConceptKB

# In this order, since one command reads what another writes.
PAGES = (
    *("results", "notebook/baselines", "notebook/training", "notebook/as_published"),
    *("notebook/own_corpus", "notebook/recognition", "notebook/speed", "notebook/vocabulary"),
    *("notebook/noise", "notebook/robustness", "notebook/ranker", "notebook/version_0_1"),
    *("notebook/six_types", "notebook/curation", "notebook/rules"),
)
PAGE = "\n".join((ROOT / f"docs/{name}.md").read_text("utf8") for name in PAGES)
FIXTURES = ROOT / "tests/fixtures"
FILES = {
    "ncbi-disease/NCBItrainset_corpus.txt": "corpora/NCBItrainset_corpus.txt",
    "ncbi-disease/NCBIdevelopset_corpus.txt": "corpora/NCBItrainset_corpus.txt",
    "bc5cdr/CDR_TrainingSet.PubTator.txt": "corpora/CDR_sample.PubTator.txt",
    "bc5cdr/CDR_DevelopmentSet.PubTator.txt": "corpora/CDR_sample.PubTator.txt",
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
TREE_NUMBERS = "mesh_id\tmesh_name\tmesh_tree_number\nD003676\tDeferoxamine\tD02.442\n" + "".join(
    f"D000{i}\tDeferoxamine {i}\tD02.442.{i}\n" for i in KINDS
)
ASKAPATIENT = "".join(f"{i}\tPoor memory {i}\tforgot {i}\n" for i in KINDS)
# Models, pipelines and figures that a training run leaves.
TRAINED = re.compile(r"\b(training|PIPELINES|negative|positive|ships)\b")
COMMAND = re.compile(r"^ *(?:\d+ +)?(spacy-angel [^\n]+|[A-Z]+=[^\n]+)$", re.MULTILINE)
SCRIPT = re.compile(r"^    python (scripts/[^\n]+|-m spacy [^\n]+)$", re.MULTILINE)

# What makes a stage one update.
ONE_UPDATE = [
    *(
        f"{stage}.optimizer.{setting}"
        for stage in ("pretrain.positive", "pretrain.negative", "positive", "negative")
        for setting in ("steps=1", "warmup_steps=0", "batch_size=4", "precision=float32")
    ),
    "positive.examples.passes=1",
    "development.sample=4",
    # Of a model that has learnt nothing, the paper's rule may find no pair.
    "negative.pairs.rule=all",
    "negative.pairs.without_right=positive",
]
# Given where a command does not say it itself.
DATA = {
    "data.kb": "KB",
    "data.train": '["composites.json", "bc5cdr.json"]',
    "data.dev": '["composites.json"]',
    "backbone.name": "MINILM",
}
# Of what the page has from elsewhere, what takes its place here.
STAND_INS = {
    **dict.fromkeys(
        (
            *("A", "AC", "B/model", "C/model", "E_negative/model"),
            *("training/mini/ncbi/negative/model", "training/mini/pretrained/ncbi/negative/model"),
        ),
        "pretrain/negative/model",
    ),
    **dict.fromkeys(
        (
            *("training/mini/ncbi/pipeline", "training/mini/ncbi/pipeline-positive"),
            "PIPELINES/fold-0/pipeline",
        ),
        "pretrained",
    ),
    **dict.fromkeys(("corpus/ncbi/kb", "KB12+", "MEDIC2012"), "KB12"),
    "CTD2017": "KB",
    "bc5cdr_diseases.json": "bc5cdr.json",
    "composites_only.json": "composites.json",
    "all_pairs.jsonl": "pairs.jsonl",
    "training/mini/ncbi/pairs.jsonl": "pairs.jsonl",
    "FOLD/pairs.jsonl": "FOLD/pairs-1.jsonl",
    **{
        f"FOLD/{name}.txt": "DATA/aap/AskAPatient.fold-0.train.txt"
        for name in ("train", "dev", "half-0", "half-1")
    },
    **dict.fromkeys(("train.txt", "dev.txt"), "DATA/bc5cdr/CDR_TrainingSet.PubTator.txt"),
}


def commands() -> Iterator[list[str]]:
    """YIELDS (list[str]): the words behind `spacy-angel` of each command in the order of the page,
    with what its shell variables hold; one of them stands below its first use."""
    lines = [shlex.split(line, comments=True) for line in COMMAND.findall(PAGE)]
    pairs = [words[0].partition("=") for words in lines if words[0] != "spacy-angel"]
    variables = {name: value for name, _, value in pairs}
    assert len(variables) == len(pairs), "a variable has two values"
    for line in COMMAND.findall(PAGE):
        for name, value in variables.items():
            line = re.sub(rf"\${name}\b", lambda _, value=value: value, line)
        words = shlex.split(line, comments=True)
        if words[0] == "spacy-angel":
            yield words[1:]


def is_of_training(words: Sequence[str]) -> bool:
    return words[0] in ("train", "assemble") or any(map(TRAINED.search, words[1:]))


RUN = [words for words in commands() if not is_of_training(words)]
TRAINING = [words for words in commands() if is_of_training(words)]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """RETURNS (Path): the working directory, with the folder DATA of the page in small."""
    for name, source in FILES.items():
        (tmp_path / "DATA" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(FIXTURES / source, tmp_path / "DATA" / name)
    for folder in ("aap", "medic", "mesh"):
        (tmp_path / "DATA" / folder).mkdir()
    (tmp_path / "DATA/medic/medic_06Jul2012.txt").write_text(MEDIC)
    ctd = tmp_path / "DATA/medic/CTD_diseases_2017-06.tsv.gz"
    ctd.write_bytes(gzip.compress(CTD.encode()))
    for part in ("train", "validation", "test"):
        (tmp_path / f"DATA/aap/AskAPatient.fold-0.{part}.txt").write_text(ASKAPATIENT)
    (tmp_path / "DATA/mesh/mesh_2019_descriptors.tsv").write_text(DESCRIPTORS)
    (tmp_path / "DATA/mesh/mesh_2015_tree_numbers.tsv").write_text(TREE_NUMBERS)
    # Parts of BioRED, which the page describes.
    for name in ("BIORED_24", "BIORED_185"):
        shutil.copy(FIXTURES / "corpora/CDR_sample.PubTator.txt", tmp_path / name)
    # What awk makes of the two MeSH files.
    (tmp_path / "chemicals.tsv").write_text(DESCRIPTORS.splitlines(keepends=True)[0])
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(words: Sequence[str]) -> None:
    """Run a command; what it says that it writes is there afterwards."""
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, f"spacy-angel {shlex.join(words)}\n{done.output}\n{done.exception}"
    for output in outputs(words):
        assert output.exists(), words


def outputs(words: Sequence[str]) -> list[Path]:
    return [Path(value) for option, value in pairwise(words) if option in ("-o", "--output")]


def make_encoder(folder: Path) -> None:
    """folder (Path): gets a BERT of a few weights, which reads letters."""
    torch.manual_seed(0)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789-.,"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{x}" for x in letters)]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf8")
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=128,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)


def in_small(words: list[str]) -> list[str]:
    """words (list[str]): of a command that trains. RETURNS (list[str]): with one update a stage,
    and with the data and models of this test where it does not name its own."""
    if words[:2] == ["train", "--train"]:
        settings = [part for setting in ONE_UPDATE for part in ("--set", setting)]
        return [*words, "--start", "A", "--ner", "training/ner/model", *settings]
    if words[:2] == ["train", "average"] or words[0] != "train":
        return words
    own = [f"--{name}={value}" for name, value in DATA.items() if f"--{name}" not in words]
    return [*words, *own, *(f"--{setting}" for setting in ONE_UPDATE)]


def put_stand_ins(folder: Path) -> None:
    for name, source in STAND_INS.items():
        if (folder / source).exists() and not (folder / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            copy = shutil.copytree if (folder / source).is_dir() else shutil.copy
            copy(folder / source, folder / name)


def test_every_page_of_the_notebook_is_read() -> None:
    pages = {f"notebook/{page.stem}" for page in (ROOT / "docs/notebook").glob("*.md")}
    assert pages - {"notebook/index"} == {*PAGES} - {"results"}


def test_every_command_is_of_one_kind_or_the_other() -> None:
    assert len(RUN) >= 40
    assert {words[0] for words in RUN} == {"evaluate", "compare", "kb", "corpus", "link"}
    assert len(TRAINING) >= 20
    assert {words[0] for words in TRAINING} == {"train", "assemble", "evaluate", "compare"}
    assert {words[1] for words in TRAINING if words[0] == "train"} == {
        *("pretrain", "positive", "mine", "negative", "average", "--train"),
    }


@pytest.mark.slow
def test_commands_that_measure_and_build_run(data: Path) -> None:
    names = {"SYSTEM": "tfidf", "BEFORE": "ncbi-train"}
    for words in RUN:
        run([names.get(word, word) for word in words])


@pytest.mark.slow
def test_commands_that_train_run(data: Path) -> None:
    make_encoder(data / "MINILM")
    for folder in ("training/ner/model", "training/ner/diseases_chemicals/model-best"):
        nlp = spacy.blank("en")
        nlp.add_pipe("entity_ruler")
        (data / folder).mkdir(parents=True)
        nlp.to_disk(data / folder)
    (corpus,) = (words for words in RUN if words[0] == "corpus")
    for words in RUN[: RUN.index(corpus) + 1]:
        if words[0] in ("kb", "corpus"):
            run(words)
    steps = ["--preprocessing", "bc5cdr", "--kb", "KB"]
    run(["corpus", "DATA/bc5cdr/CDR_TrainingSet.PubTator.txt", "-o", "bc5cdr.json", *steps])
    terms = sorted((data / "DATA/aap").iterdir())
    ConceptKB.build(askapatient_concepts(terms), data / "FOLD/kb")
    # The others begin with what these two make.
    first = [words for words in TRAINING if words[1] == "pretrain" or words[0] == "assemble"]
    first.sort(key=lambda words: words[0] == "assemble")
    done = set()
    for words in [*first, *(words for words in TRAINING if words not in first)]:
        put_stand_ins(data)
        # A few folders bear the name of another command's further up the page.
        for output in outputs(words):
            shutil.rmtree(output, ignore_errors=True)
        run(in_small(words))
        done.add(words[1] if words[0] == "train" else words[0])
    assert done >= {"pretrain", "positive", "mine", "negative", "average", "assemble", "--train"}
    assert "negative-aware" in (data / "OUT/table.md").read_text()
    assert (data / "OUT/pipeline/config.cfg").is_file()


@pytest.mark.slow
def test_scripts_of_the_recogniser_run(data: Path) -> None:
    lines = [shlex.split(line) for line in SCRIPT.findall(PAGE)]
    assert [words[:2] for words in lines if words[0] == "-m"] == [["-m", "spacy"]] * 2
    few = {"2500": "3"}
    one_update = ["--training.max_steps", "1", "--training.eval_frequency", "1"]
    for words in lines:
        if words[0] == "-m":
            more = one_update if words[2] == "train" else []
            done = CliRunner().invoke(spacy_app, [*words[2:], *more])
        else:
            done = CliRunner().invoke(app_of(words[0]), [few.get(word, word) for word in words[1:]])
        assert done.exit_code == 0, f"{words}\n{done.output}\n{done.exception}"
    assert (data / "training/ner/model-best/config.cfg").is_file()


@pytest.mark.slow
def test_the_lower_cased_baseline_runs(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = [b for b in read_blocks(PAGE) if b.text.startswith("# lower_cased.py")]
    exec(compile(block.text, "lower_cased.py", "exec"), {})
    printed = capsys.readouterr().out.split()
    assert printed[::2] == ["False", "True"]
    assert all(0 < float(accuracy) <= 100 for accuracy in printed[1::2])
    assert (data / "lower-cased-True/fold-0/metrics.json").is_file()
