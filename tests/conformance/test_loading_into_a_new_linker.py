"""`from_disk` and `from_bytes` into a pipeline with the default config bring the settings."""

from collections.abc import Callable
from pathlib import Path

from spacy import Language
from support.tiny_linker import pipeline


def test_disk_and_bytes(make: Callable[..., Language], tmp_path: Path) -> None:
    nlp = make(threshold=0.3, num_beams=2)
    nlp.to_disk(tmp_path / "saved")
    read, filled, alone = (pipeline() for _ in range(3))
    for other in (read, filled, alone):
        other.add_pipe("angel_linker")
    read.from_disk(tmp_path / "saved")
    filled.from_bytes(nlp.to_bytes())
    alone.get_pipe("angel_linker").from_disk(tmp_path / "saved/angel_linker")
    for other in (read, filled, alone):
        assert other.get_pipe("angel_linker").settings == nlp.get_pipe("angel_linker").settings
        assert other.config["components"]["angel_linker"]["decision"]["threshold"] == 0.3
    given = pipeline()
    given.add_pipe("angel_linker", config={"decision": {"threshold": 0.6}})
    given.from_disk(tmp_path / "saved")
    settings = given.get_pipe("angel_linker").settings
    assert (settings.decision.threshold, settings.candidates.num_beams) == (0.6, 2)
