"""What the check of an installation is made of; `make install-check` runs it."""

from pathlib import Path

import pytest
from install_check import Failed, install_lines, lines_of, uv_settings
from support.helpers import ROOT


def test_the_lines_of_the_readme_with_a_wheel_in_the_place_of_the_checkout() -> None:
    lines = install_lines((ROOT / "README.md").read_text("utf8"), "dist/a b.whl[train]")
    first, second = lines.splitlines()
    assert first == """pip install -c constraints.txt "$(grep '^torch==' constraints.txt)\""""
    assert second.startswith("pip install -c constraints.txt 'dist/a b.whl[train]' ")


@pytest.mark.parametrize("block", ["pip install .", "pip install torch==2 spacy-angel", ""])
def test_a_readme_that_installs_something_else_is_told(block: str) -> None:
    with pytest.raises(Failed, match="section Install"):
        install_lines(f"## Install\n\n```bash\n{block}\n```\n", "x.whl")


def test_what_pip_is_told_of_packages_holds_for_uv() -> None:
    config = (
        ":env:.find-links='/wheels'\n"
        "global.extra-index-url='file:///a file:///b'\n"
        "global.index-url='https://example.org/simple'\n"
        "install.no-cache-dir='true'\n"
    )
    assert uv_settings(config) == {
        "UV_FIND_LINKS": "/wheels",
        "UV_INDEX": "file:///a file:///b",
        "UV_DEFAULT_INDEX": "https://example.org/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_a_command_a_line() -> None:
    verbs = '\ninfo\ntrain x --data.train=\'["$tiny/train.txt"]\' -o "a b"\n'
    assert lines_of(verbs, Path("/c")) == [
        ["info"],
        ["train", "x", '--data.train=["/c/assets/tiny/train.txt"]', "-o", "a b"],
    ]
