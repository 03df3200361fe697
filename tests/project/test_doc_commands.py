"""Commands in README.md and docs/ that are too long to be run: names, options and files exist."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from support.helpers import ROOT

from spacy_angel.cli.app import app

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FILE = re.compile(r"(?:scripts|benchmarks|tools|configs|tests)/[\w/.-]*\w")


def commands(page: Path) -> Iterator[tuple[int, list[str]]]:
    """page (Path): Markdown. YIELDS (tuple[int, list[str]]): line number, and the words behind
    `spacy-angel` of every command, in blocks of either kind and between backquotes."""
    text = re.sub(r" *\\\n *", lambda broken: " " * len(broken[0]), page.read_text("utf8"))
    for found in re.finditer(
        r"(?:(?<=`)|^ *(?:\d+ +)?)spacy-angel ([a-z][^`\n]+)", text, re.MULTILINE
    ):
        # A quote that is left open belongs to the prose around.
        try:
            words = shlex.split(found[1], comments=True)
        except ValueError:
            continue
        yield text.count("\n", 0, found.start()) + 1, words


def fault(words: list[str]) -> str | None:
    """words (list[str]): of a command. RETURNS (str | None): the first that the command line does
    not know."""
    command = typer.main.get_command(app)
    words = words.copy()
    # A group may be a command itself: what follows are its options then.
    while getattr(command, "commands", None) and words and not words[0].startswith("-"):
        word = words.pop(0)
        if "|" in word or word.isupper():
            return None  # several commands, or any
        if word not in command.commands:
            return word
        command = command.commands[word]
    known = {"--help", *(name for option in command.params for name in option.opts)}
    known |= {name for option in command.params for name in option.secondary_opts}
    free = command.context_settings.get("ignore_unknown_options", False)
    options = (word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word))
    return next((o for o in options if o not in known and not (free and "." in o)), None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_their_options_exist(page: Path) -> None:
    faults = [(line, words, fault(words)) for line, words in commands(page)]
    assert [entry for entry in faults if entry[2]] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_of_the_checkout_exist(page: Path) -> None:
    names = set(FILE.findall(page.read_text("utf8")))
    assert sorted(name for name in names if not (ROOT / name).exists()) == []
