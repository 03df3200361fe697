"""Settings of every test; `--slow` also runs those that take minutes."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

# Read by the numeric libraries when they load; tiny models are ten times slower on two threads.
for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# What tests leave in the cache is not the user's.
os.environ["SPACY_ANGEL_CACHE"] = mkdtemp(prefix="spacy-angel-tests-")
# Nothing is downloaded in tests.
os.environ["HF_HUB_OFFLINE"] = "1"

# CI tries the same examples each time, half as many; chance looks for new ones where people run the
# tests.
settings.register_profile(
    "spacy_angel",
    deadline=None,
    derandomize="CI" in os.environ,
    max_examples=50 if "CI" in os.environ else 100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("spacy_angel")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked `slow`")


# Of the slow tests each has its turn in one of so many runs that count them.
SLOW_PARTS = 10


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    turn = os.environ.get("SPACY_ANGEL_SLOW_TURN")
    places: dict[str, int] = {}
    first: set[Path] = set()
    for item in items:
        if not item.get_closest_marker("slow"):
            continue
        name = item.path.name
        # Those of a file, which take about as long, in parts that follow each other.
        place = places[name] = places.get(name, crc32(name.encode())) + 1
        if not config.getoption("--slow"):
            item.add_marker(pytest.mark.skip(reason="slow: run with --slow"))
        elif turn is not None and (place + int(turn)) % SLOW_PARTS:
            item.add_marker(pytest.mark.skip(reason="slow: has its turn in another run"))
        else:
            first.add(item.path)
    # What takes long begins first, so that no core waits for it in the end.
    items.sort(key=lambda item: item.path not in first)


def pytest_unconfigure() -> None:
    shutil.rmtree(os.environ["SPACY_ANGEL_CACHE"], ignore_errors=True)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tiny model that has learned the names of `support.models`."""
    from support.models import make_trained_model

    return str(make_trained_model(tmp_path_factory.mktemp("model") / "tiny"))


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The concepts of `support.tiny_linker`, and a namesake."""
    from support.tiny_linker import NAMESAKE, make_vocabulary

    return make_vocabulary(tmp_path_factory.mktemp("vocabulary") / "kb", NAMESAKE)


@pytest.fixture
def make(model: str, vocabulary: str) -> Callable[..., Any]:
    """A pipeline with mentions by rule and a tiny linker, made with the settings of `add_pipe`."""
    from support.tiny_linker import make_pipeline

    def made(*before: str, **config: Any) -> Any:
        sources = {"model": model, "vocabulary": vocabulary} | config
        return make_pipeline(sources.pop("model"), sources.pop("vocabulary"), *before, **sources)

    return made
