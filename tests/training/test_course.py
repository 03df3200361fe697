"""Both stages on a corpus of one's own, with the table before and after."""

from pathlib import Path

import pytest
import spacy
import torch
from support.helpers import ROOT
from support.tiny_training import CONCEPTS, tiny_backbone
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.formats.pubtator import write_pubtator
from spacy_angel.errors import AngelError
from spacy_angel.training.course.both_stages import Standing, guard_set, run_course, table
from spacy_angel.training.course.config import load_config
from spacy_angel.training.settings.config_tables import DevelopmentSettings
from spacy_angel.vocabulary.kb import ConceptKB

SENTENCES = [
    ("A man with renal pain came.", "renal pain", "T:1"),
    ("She died of a cardiac arrest.", "cardiac arrest", "T:2"),
    ("His weak heart gave out.", "weak heart", "T:3"),
    ("With a bad headache in bed.", "bad headache", "T:4"),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    torch.set_num_threads(1)
    documents = []
    for number, (text, mention, concept_id) in enumerate(SENTENCES, start=1):
        at = text.index(mention)
        gold = GoldMention(at, at + len(mention), mention, "Disease", concept_id)
        documents.append(CorpusDocument(str(number), text, (gold,), title_end=len(text)))
    write_pubtator(documents, tmp_path / "corpus.txt")
    ConceptKB.build(CONCEPTS, tmp_path / "kb")
    tiny_backbone().save(tmp_path / "start")
    return tmp_path / "corpus.txt"


def quick_settings(**more: object) -> dict[str, object]:
    quick = {"steps": 60, "learning_rate": 3e-3, "precision": "float32", "batch_size": 4}
    settings = {f"positive.optimizer.{name}": value for name, value in quick.items()}
    settings |= {"positive.optimizer.dropout": 0.0, "positive.examples.substitutes": 0.0}
    return {
        **settings,
        "negative.pairs.folds": 1,
        "negative.optimizer.precision": "float32",
        **more,
    }


@pytest.mark.slow
def test_a_course_learns_the_corpus_and_says_what_it_changed(corpus, tmp_path):
    settings = quick_settings(**{"negative.pairs.rule": "tfidf", "negative.optimizer.steps": 2})
    config = load_config(ROOT / "configs/own.cfg", settings)
    arguments = {"train": [corpus], "dev": [corpus], "kb": tmp_path / "kb"}
    course = run_course(config, tmp_path / "out", **arguments, start=tmp_path / "start")
    assert [s.stage for s in course.standings] == ["before", "positive-only", "negative-aware"]
    before, positive, negative = course.standings
    assert before.development[0] < 4
    assert positive.development == (4, 4, 4)
    assert course.best is (negative if negative.development[0] == 4 else positive)
    assert (tmp_path / "out/table.md").read_text() == table(course.standings, course.best)
    again = run_course(config, tmp_path / "out", **arguments, start=tmp_path / "start")
    assert again.standings == course.standings


@pytest.mark.slow
def test_without_a_wrong_name_there_is_no_second_stage(corpus, tmp_path):
    settings = quick_settings(**{"negative.pairs.top_k": 1})
    config = load_config(ROOT / "configs/own.cfg", settings)
    arguments = {"train": [corpus], "dev": [corpus], "kb": tmp_path / "kb"}
    course = run_course(config, tmp_path / "out", **arguments, start=tmp_path / "start")
    # Every mention is known by heart after the first stage: nothing stands above a right name.
    assert [s.stage for s in course.standings] == ["before", "positive-only"]
    assert course.best.stage == "positive-only"


def test_the_table_marks_the_model_that_is_best():
    before = Standing("before", "start", (3, 8, 10), (40, 60, 100))
    after = Standing("positive-only", "out", (7, 9, 10), (38, 61, 100))
    assert table([before, after], after).splitlines()[:4] == [
        "| model | development acc@1 (n = 10) | among the beams | guard acc@1 (n = 100) |",
        "|---|---|---|---|",
        "| before | 30.0 | 80.0 | 40.0 |",
        "| positive-only (in the pipeline) | 70.0 | 90.0 | 38.0 |",
    ]


def test_the_guard_asks_for_synonyms_that_the_vocabulary_does_not_show():
    guard = guard_set(DevelopmentSettings())
    assert len(guard.mentions) == 300
    assert guard.kb.n_names <= len(guard.kb)
    shown = {guard.kb.name(i) for i in range(guard.kb.n_names)}
    assert shown.isdisjoint(labelled.mention.text.lower() for labelled in guard.mentions)


def test_a_vocabulary_that_is_not_there(corpus, tmp_path):
    config = load_config(ROOT / "configs/own.cfg")
    arguments = {"train": [corpus], "dev": [corpus], "kb": tmp_path / "none"}
    with pytest.raises(AngelError, match="none"):
        run_course(config, tmp_path / "out", **arguments)


@pytest.mark.slow
def test_the_command_ends_in_a_pipeline_that_links(corpus, tmp_path):
    settings = [f"--set={name}={value}" for name, value in quick_settings().items()]
    files = ["--train", corpus, "--dev", corpus, "--kb", tmp_path / "kb", "-o", tmp_path / "out"]
    arguments = ["train", *files, "--start", tmp_path / "start", *settings]
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == 0, done.output
    assert "| negative-aware (in the pipeline) | 100.0 | 100.0 |" in done.stdout
    _, _, shipped, trained, *_ = lines = (tmp_path / "out/table.md").read_text().splitlines()
    assert shipped.startswith("| en_angel_mini as it ships | ")
    assert trained.startswith("| trained | 100.0 | ")
    assert all(line in done.stdout for line in lines)
    nlp = spacy.load(tmp_path / "out/pipeline")
    assert nlp.pipe_names[-1] == "angel_linker"
    assert len(nlp.get_pipe("angel_linker").kb) == len(CONCEPTS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kb", "kb"], "--train --dev --output is missing"),
        (["--kb", "kb", "configs"], "--kb stand before the command 'configs'"),
    ],
)
def test_what_the_command_needs(arguments, message):
    refused = CliRunner().invoke(app, ["train", *arguments])
    assert refused.exit_code == 1
    assert message in refused.stderr
