"""Messages: each has its code, each is used, none is written twice."""

import re
from collections import Counter

import pytest
from support.helpers import ROOT

from spacy_angel.errors import Errors, Warnings

SOURCE = (ROOT / "spacy_angel/errors.py").read_text("utf8")
CODES = re.findall(r"^    ([EW]\d{3}) = ", SOURCE, re.MULTILINE)
USES = [
    found
    for folder in ("spacy_angel", "scripts", "tools", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
    for found in re.findall(r"\b(Errors|Warnings)\.([EW]\d{3})\b", path.read_text("utf8"))
]


def test_a_message_begins_with_its_code() -> None:
    assert Errors.E135.format(name="x", steps="y").startswith("[E135] x cannot be fetched")
    assert Warnings.W102.format(what="trie", error="full").startswith("[W102] ")


def test_no_code_stands_twice() -> None:
    assert [code for code, n in Counter(CODES).items() if n > 1] == []


@pytest.mark.parametrize("kind", [Errors, Warnings])
def test_every_code_is_used_and_every_use_has_a_message(kind: type) -> None:
    used = {code for name, code in USES if name == kind.__name__}
    assert used == {code for code in vars(kind) if not code.startswith("_")}
