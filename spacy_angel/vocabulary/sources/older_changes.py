"""The record of changes that vocabularies of version 0.1 have, `changes.jsonl`, as rules.

Each line has the command by which a vocabulary was changed. What it changed stands in the
vocabulary already; as rules it also holds after the next release.
"""

import argparse
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel

from ...errors import AngelError
from ...files.atomic import write_text
from ...files.json_values import parse_json
from ..changes.rule_file import added_rows
from ..changes.rules import Rule
from ..kb import RULES, ConceptKB

CHANGES = "changes.jsonl"


class _Record(BaseModel):
    """What is read of a line."""

    command: str
    time: str


def convert_changes(folder: Path) -> None:
    """Put rules in the place of a record of changes; nothing where there is none.

    folder (Path): a vocabulary. What came from files (`kb add FILE`, `--mentions`) is a step of
        the vocabulary, and no rule.
    RAISES (AngelError): the record cannot be read.
    """
    path = folder / CHANGES
    if not path.is_file():
        return
    kb = ConceptKB.from_disk(folder, rules=False)
    rules = []
    # A name may hold what `splitlines` takes for the end of a line too.
    try:
        with open(path, encoding="utf8", newline="\n") as file:
            for line in file:
                record = _Record.model_validate(parse_json(line))
                rules += [
                    replace(rule, date=record.time[:10], reason=record.command)
                    for rule in _rules(record.command, kb)
                ]
    except (ValueError, argparse.ArgumentError, SystemExit) as error:
        raise AngelError(
            f"{path} is not a record of changes by version 0.1: {error}. Remove it."
        ) from error
    if rules:
        write_text(folder / RULES, added_rows(folder / RULES, rules))
    path.unlink()


def _rules(command: str, kb: ConceptKB) -> Iterator[Rule]:
    """The rules of a command; `kb` tells which name is canonical since."""
    given = _parser().parse_args(shlex.split(command)[1:])
    if given.verb == "remove":
        if not given.name:
            yield from (Rule("exclude", concept=one) for one in given.ids)
        for name in given.name:
            yield Rule("not-name", name, concept=given.ids[0])
    elif given.verb == "rename":
        concept, new = given.ids
        is_canonical = concept in kb and kb[concept].canonical_name == new
        yield Rule("canonical" if is_canonical else "name", new, concept=concept)
        for old in given.name:
            yield Rule("not-name", old, concept=concept)
    elif given.concept is not None:
        if given.concept in kb:
            # An update may not have it.
            yield Rule("concept", kb[given.concept].canonical_name, concept=given.concept)
        for name in given.name:
            yield Rule("name", name, concept=given.concept)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(exit_on_error=False, add_help=False)
    parser.add_argument("verb", choices=["add", "remove", "rename"])
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--name", action="append", default=[])
    parser.add_argument("--concept")
    parser.add_argument("--mentions")
    return parser
