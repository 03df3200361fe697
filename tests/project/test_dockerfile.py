"""What the Dockerfile names is there: files, extras, options, the port and the address that is
asked for its health. It is not built here."""

import json
import re
import shlex
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import typer

from spacy_angel.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "Dockerfile").read_text("utf8")
# A line that ends with \ goes on; comments may stand between.
STEPS = [
    line.split(maxsplit=1)
    for line in re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", TEXT, flags=re.M)).splitlines()
    if line
]
CONFIG = ConfigParser()
CONFIG.read(ROOT / "setup.cfg", "utf8")


def steps(name: str) -> list[str]:
    return [rest for step, rest in STEPS if step == name]


def parameters(words: list[str]) -> dict[str, Any]:
    """RETURNS (dict[str, Any]): what the command line reads of a command, which does not run."""
    assert words[0] == "spacy-angel"
    command = typer.main.get_command(app).commands[words[1]]
    return command.make_context(words[1], words[2:]).params


def test_every_step_is_one_that_docker_knows():
    names = {step for step, _ in STEPS}
    assert names == {
        *("FROM", "RUN", "COPY", "USER", "ENV", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK"),
        "ENTRYPOINT",
    }
    assert STEPS[0][0] == "FROM"
    version = re.fullmatch(r"python:(3\.\d+)-slim", STEPS[0][1])[1]
    classifiers = CONFIG["metadata"]["classifiers"]
    assert f"Python :: {version}\n" in f"{classifiers}\n"


def test_what_is_copied_is_there_and_is_sent():
    (copied,) = steps("COPY")
    *sources, folder = copied.split()
    assert sources == ["constraints.txt", "dist/*.whl"]
    assert folder.endswith("/")
    assert (ROOT / sources[0]).is_file()
    ignored = (ROOT / ".dockerignore").read_text("utf8").splitlines()
    assert [line for line in ignored if not line.startswith("#")] == [
        "*",
        *(f"!{s}" for s in sources),
    ]
    # The wheel's name, and the only version of torch.
    assert CONFIG["metadata"]["name"].replace("-", "_") == "spacy_angel"
    assert "ls spacy_angel-*.whl" in TEXT
    constraints = (ROOT / sources[0]).read_text("utf8")
    assert "grep '^torch==' constraints.txt" in TEXT
    assert len(re.findall(r"^torch==", constraints, re.M)) == 1


def test_extras_are_those_of_the_package():
    (extras,) = re.findall(r"\$wheel\[(.*?)\]", TEXT)
    assert set(extras.split(",")) <= set(CONFIG["options.extras_require"])
    assert "serve" in extras


def test_commands_and_options_are_those_of_the_command_line():
    runs = " && ".join(steps("RUN")).split("&&")
    own = [shlex.split(run.partition(">")[0]) for run in runs if "spacy-angel " in run]
    assert [words[1] for words in own] == ["link", "serve"]
    assert parameters(own[0])["text"] == "She had a heart attack."
    assert parameters(own[1])["openapi"] is True
    (entry,) = steps("ENTRYPOINT")
    read = parameters(json.loads(entry))
    # Any address of the container, so that a secret is needed.
    assert read["host"] == "0.0.0.0"
    assert str(read["token_file"]) == "/run/secrets/token"


def test_it_runs_as_a_user_without_rights_that_was_made():
    (user,) = steps("USER")
    assert f"useradd --create-home {user}" in TEXT
    after = [step for step, _ in STEPS][[step for step, _ in STEPS].index("USER") :]
    assert "ENTRYPOINT" in after


def test_its_health_is_asked_where_it_listens_and_without_the_secret():
    pytest.importorskip("fastapi", reason="needs the extra serve")
    from spacy_angel.service.app import OPEN_PATHS

    (check,) = steps("HEALTHCHECK")
    python, flag, code = json.loads(check[check.index("[") :])
    assert (python, flag) == ("python", "-c")
    compile(code, "HEALTHCHECK", "exec")
    port, path = re.search(r"127\.0\.0\.1:(\d+)(/\w+)'", code).groups()
    assert path in OPEN_PATHS
    serve = typer.main.get_command(app).commands["serve"]
    (default,) = [option.default for option in serve.params if option.name == "port"]
    assert steps("EXPOSE") == [port] == [str(default)]
    assert steps("STOPSIGNAL") == ["SIGTERM"]
