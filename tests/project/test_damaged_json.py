"""Every JSON file that is opened, damaged in every way that files are: an error that says so, or
what was meant; never a KeyError or a TypeError from the depths."""

import json
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.tiny_annotation import make_pipeline

from spacy_angel.annotation.inputs import plan_inputs
from spacy_angel.annotation.pipeline_folder import folder_fingerprint
from spacy_angel.annotation.relink import _Part, _stored
from spacy_angel.annotation.stored import read_stored
from spacy_angel.errors import AngelError
from spacy_angel.evaluation.files import read_metrics, read_predictions
from spacy_angel.files.download import _state
from spacy_angel.files.json_values import parse_as
from spacy_angel.model.config_file import check_config
from spacy_angel.pipelines.load import open_pipeline
from spacy_angel.training.course.trainer import claim_folder, finished
from spacy_angel.training.data.preferences import read_corrections, read_pairs
from spacy_angel.vocabulary.sources.mappings import Mappings

NO_JSON = [b"", b'{"a": ', b"\xff\xfe{}", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000]
JUNK: list[Any] = [None, True, 3, -1, 1.5, 10**400, "", "x", [], [3], {}, {"a": 3}]


def damaged(content: bytes) -> Iterator[bytes]:
    """No JSON; other values in place of the whole, and of each key at the top; each key left
    out."""
    yield from NO_JSON
    whole = json.loads(content)
    yield from (json.dumps(junk).encode() for junk in JUNK)
    for key in whole if isinstance(whole, dict) else ():
        yield json.dumps({k: v for k, v in whole.items() if k != key}).encode()
        yield from (json.dumps(whole | {key: junk}).encode() for junk in JUNK)


def attack(file: Path, open_it: Callable[[], Any], *, most: int = 1000) -> int:
    """RETURNS (int): in how many cases there was an AngelError; any other error is raised."""
    content = file.read_bytes()
    refused = 0
    try:
        for data in list(damaged(content))[:most]:
            file.write_bytes(data)
            try:
                open_it()
            except AngelError:
                refused += 1
    finally:
        file.write_bytes(content)
    return refused


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_pipeline(tmp_path_factory.mktemp("pipeline"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "at_least"),
    [("meta.json", 4), ("sentencizer.json", 7), ("angel_linker/settings.json", 12)],
)
def test_pipelines_with_damaged_files_are_refused(
    pipeline: Path, tmp_path: Path, name: str, at_least: int
) -> None:
    folder = tmp_path / "pipeline"
    shutil.copytree(pipeline, folder)

    def open_it() -> None:
        folder_fingerprint(folder)
        open_pipeline(folder)

    assert attack(folder / name, open_it, most=15) >= at_least


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["tokenizer_config.json", "tokenizer.json", "angel.json"])
def test_checkpoints_with_damaged_files_are_refused(
    pipeline: Path, tmp_path: Path, name: str
) -> None:
    from spacy_angel.model.checkpoint import open_checkpoint

    folder = tmp_path / "model"
    shutil.copytree(pipeline / "angel_linker/model", folder)
    assert attack(folder / name, lambda: open_checkpoint(folder, only_search=True), most=20) >= 8


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"eos_token_id": -1}, "eos_token_id"),
        ({"eos_token_id": ""}, "eos_token_id"),
        ({"decoder_start_token_id": [3]}, "decoder_start_token_id"),
        ({"activation_function": 3}, "activation_function"),
        ({"decoder_attention_heads": "x"}, "decoder_attention_heads"),
        ({"encoder_attention_heads": 3}, "does not divide d_model = 32"),
        ({"max_position_embeddings": {"a": 3}}, "max_position_embeddings"),
        ({"d_model": 10**400}, "d_model"),
        ({"decoder": {"vocab_size": True}}, "decoder.vocab_size"),
    ],
)
def test_a_config_that_no_model_can_have(tmp_path: Path, changes: dict, named: str) -> None:
    file = tmp_path / "config.json"
    good = {"model_type": "bart", "d_model": 32, "encoder_attention_heads": 4, "own": [1]}
    file.write_text(json.dumps(good))
    check_config(tmp_path)
    file.write_text(json.dumps(good | changes))
    with pytest.raises(AngelError, match=named) as error:
        check_config(tmp_path)
    assert str(tmp_path) in str(error.value)
    assert len(str(error.value)) < 500


def test_config_files_are_json_objects(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"model_type": "bart"}')
    assert attack(file, lambda: check_config(tmp_path)) >= len(NO_JSON)


def test_training_files(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"accuracy": 0.5}')
    found = finished(tmp_path)
    assert found is not None
    assert found.accuracy == 0.5
    assert attack(tmp_path / "result.json", lambda: finished(tmp_path)) >= len(NO_JSON) + 8
    run = {"settings": {"steps": 3, "paths": ["a"]}}
    claim_folder(tmp_path, run)
    claim_folder(tmp_path, run)
    assert attack(tmp_path / "run.json", lambda: claim_folder(tmp_path, run)) >= 20
    with pytest.raises(AngelError, match=r"different: settings\.paths"):
        claim_folder(tmp_path, {"settings": {"steps": 3, "paths": ["b"]}})


def test_pairs_and_corrections(tmp_path: Path) -> None:
    file = tmp_path / "pairs.jsonl"
    pair = {"mention": "MLD", "left": "", "right": "", "chosen": "a", "rejected": "b"}
    # Ends of lines for Python, but not for JSON.
    pair["left"] = "one\u2028two\x85three"
    file.write_text(json.dumps(pair, ensure_ascii=False) + "\n", encoding="utf8")
    assert read_pairs(file)[0].mention.left == pair["left"]
    assert attack(file, lambda: read_pairs(file)) > 60
    correction = {"mention": "MLD", "left": "", "chosen_id": "D1", "rejected_ids": ["D2"]}
    file.write_text(json.dumps(correction), encoding="utf8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(read_corrections(file))) == 1
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        attack(file, lambda: list(read_corrections(file)))
    assert len(told) > 40


@pytest.mark.parametrize("name", ["candidates", "score", "name", "start", "label"])
def test_annotated_sets(tmp_path: Path, name: str) -> None:
    file = tmp_path / "a.jsonl"
    candidate = {"concept_id": "D1", "name": "flu", "score": 0.5}
    mention = {"start": 0, "end": 3, "text": "flu", "label": "D", "concept_id": "D1"}
    mention |= {"name": "flu", "score": 0.5, "candidates": [candidate]}
    good = {"doc_id": "1", "text": "flu", "mentions": [mention]}
    file.write_text(json.dumps(good))
    [source] = plan_inputs([file])
    [document] = read_stored(source)
    assert document.mentions[0].candidates[0].name == "flu"
    for junk in (*JUNK, [["x"]], [{"concept_id": 3}]):
        file.write_text(json.dumps(good | {"mentions": [mention | {name: junk}]}))
        with suppress(AngelError):
            list(read_stored(source))
    assert attack(file, lambda: list(read_stored(source))) >= 20


def test_parts_of_relink_are_made_again(tmp_path: Path) -> None:
    part = tmp_path / "part.json"
    part.write_text('{"changes": "x", "counts": {"mentions": 3}}')
    assert _stored(part) == _Part(changes="x", counts={"mentions": 3})
    assert attack(part, lambda: _stored(part)) == 0
    part.write_text('{"changes": "x"}')
    assert _stored(part) is None
    assert _stored(tmp_path / "none.json") is None


def test_the_state_of_a_download_is_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text('{"address": "a", "etag": "b"}')
    assert _state(file) == {"address": "a", "etag": "b"}
    assert attack(file, lambda: _state(file)) == 0
    file.write_text('{"address": "a", "etag": 3}')
    assert _state(file) == {}


def test_evaluations(tmp_path: Path) -> None:
    metrics = {"run": {"pipeline": "p"}, "mentions": 3, "strict": {}, "lenient": {}, "kb_id": {}}
    (tmp_path / "metrics.json").write_text(json.dumps(metrics))
    assert attack(tmp_path / "metrics.json", lambda: read_metrics(tmp_path)) > 40
    prediction = {"doc_id": "1", "start": 0, "mention": "m", "label": "L", "annotated": "D1"}
    prediction |= {"strict_rank": 1, "lenient_rank": 1, "kb_ids": ["D1"]}
    prediction["gold"] = [{"id": "D1", "name": "flu", "known": True}]
    file = tmp_path / "predictions.jsonl"
    file.write_text(json.dumps(prediction))
    assert len(list(read_predictions(tmp_path))) == 1
    assert attack(file, lambda: list(read_predictions(tmp_path))) > 60


@pytest.mark.parametrize(
    "head",
    [
        "mapping_set_title: 2023-13-45",
        "mapping_set_title: " + "9" * 5000,
        "curie_map: 3",
        "curie_map: {a: [b]}",
        "a: &a [x, x]\nb: &b [*a, *a]\nmapping_set_title: *b",
        "{",
    ],
)
def test_metadata_of_mappings(tmp_path: Path, head: str) -> None:
    file = tmp_path / "m.sssom.tsv"
    table = "subject_id\tpredicate_id\tobject_id\nA:1\tskos:exactMatch\tB:2\n"
    file.write_text("".join(f"# {line}\n" for line in head.split("\n")) + table)
    with pytest.raises(AngelError, match=r"m\.sssom\.tsv"):
        Mappings(file)
    file.write_text("# mapping_set_title: 2023-01-01\n# license: 4.0\n" + table)
    assert Mappings(file).report.title == "2023-01-01"


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(ValueError, match=r"^b: Input should be a valid integer.*\(got 'x'\)$"):
        parse_as('{"a": 1, "b": "x"}', dict[str, int])
    with pytest.raises(ValueError, match=r"^the whole: Input should be a valid dictionary"):
        parse_as("[]", dict[str, int])
    with pytest.raises(ValueError, match=r"; …$") as error:
        parse_as(json.dumps({str(i): "x" * 1000 for i in range(9)}), dict[str, int])
    assert len(str(error.value)) < 1000
