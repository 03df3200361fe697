"""JSON files that are damaged in every way that files are give an AngelError or what was meant."""

import json
import shutil

import pytest
from support.tiny_annotation import make_pipeline

from spacy_angel.annotation.pipeline_folder import folder_fingerprint
from spacy_angel.errors import AngelError
from spacy_angel.model.checkpoint import open_checkpoint
from spacy_angel.pipelines.load import open_pipeline

NO_JSON = [b"", b'{"a": ', b"\xff\xfe{}", b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000]
JUNK = [None, True, 3, -1, 1.5, 10**400, "", "x", [], [3], {}, {"a": 3}]


def damaged(content):
    """Yield what is no JSON, other values in place of the whole and of each key, and the object
    without each key."""
    yield from NO_JSON
    whole = json.loads(content)
    yield from (json.dumps(junk).encode() for junk in JUNK)
    for key in whole:
        yield json.dumps({k: v for k, v in whole.items() if k != key}).encode()
        yield from (json.dumps(whole | {key: junk}).encode() for junk in JUNK)


def open_whole(folder):
    folder_fingerprint(folder)
    open_pipeline(folder)


def open_model(folder):
    open_checkpoint(folder / "angel_linker/model", only_search=True)


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    return make_pipeline(tmp_path_factory.mktemp("pipeline"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "open_it", "n", "at_least"),
    [
        ("meta.json", open_whole, 15, 4),
        ("sentencizer.json", open_whole, 15, 7),
        ("angel_linker/model/config.json", open_model, 20, 8),
        ("angel_linker/model/tokenizer.json", open_model, 20, 8),
        ("angel_linker/model/angel.json", open_model, 20, 8),
    ],
)
def test_damaged_files_are_refused(pipeline, tmp_path, name, open_it, n, at_least):
    folder = tmp_path / "pipeline"
    shutil.copytree(pipeline, folder)
    content = (folder / name).read_bytes()
    refused = 0
    for data in list(damaged(content))[:n]:
        (folder / name).write_bytes(data)
        try:
            open_it(folder)
        except AngelError:
            refused += 1
    assert refused >= at_least
