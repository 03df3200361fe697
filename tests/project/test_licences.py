"""`docs/reference/licences.md` has the terms of every file that the build scripts read."""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import NamedTuple

import pytest
from support.helpers import ROOT

from spacy_angel.about import SHIPPED_NAMES
from spacy_angel.linking.settings.loaders import load_vocabulary

PAGE = ROOT / "docs/reference/licences.md"
BUILDING = sorted(
    {
        *(ROOT / "tools").glob("build_*.py"),
        *(
            ROOT / "tools" / f"{name}.py"
            for name in ("genes", "mentioned", "mesh", "supplementary")
        ),
    }
)
DATA_FILE = re.compile(r"\.(?:gz|xz|tsv|txt|obo|PubTator|csv|json)$")
# Corpora in JSON lines are named without their ending.
JSON_LINES = re.compile(r"(?:(?:bc2gm|more/corpora)/)\w+")
WRITTEN = {
    *("*.json", "*.jsonl.gz", "NOTICE.txt", "phenotypes.json", "phenotypes.tsv", "whole_gsc.json"),
    *("everyday.json", "notes.json", "everyday_words.tsv", "abstracts.jsonl"),
    *("everyday_sentences.txt", "sentences.json", "articles.jsonl", "lower_cased.jsonl"),
    *("drugprot.json", "*_*.json", "meta.json"),
}
FORBIDDEN = re.compile(
    r"\b(?:SA|NC|ND|AGPL|GPL)\b|share-?alike|non-?commercial|none", re.IGNORECASE
)


class Row(NamedTuple):
    """A line of a table: source, terms, and patterns of files."""

    source: str
    terms: str
    files: list[str]


def rows(heading: str) -> list[Row]:
    text = PAGE.read_text("utf8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [Row(c[0].strip(), c[2].strip(), re.findall(r"`([^`]+)`", c[3])) for c in cells[2:]]


SHIP, LEARNED = (
    rows("Names and identifiers that ship"),
    rows("What the weights learned from, and what was counted"),
)


def literals(path) -> Iterator[str]:
    """Names of data files in a script, `*` for what is filled in."""
    tree = ast.parse(path.read_text("utf8"))
    inner = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (v.value if isinstance(v, ast.Constant) else "*" for v in node.values)
            text = "".join(map(str, parts))
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner
        ):
            text = node.value.replace("{}", "*")
        else:
            continue
        if (DATA_FILE.search(text) and not re.search(r"\s", text)) or JSON_LINES.fullmatch(text):
            yield PurePosixPath(text).name


def test_every_file_that_is_read_has_its_row_and_every_row_is_read() -> None:
    read = {name for path in BUILDING for name in literals(path)} - WRITTEN
    assert {"mesh_2024_descriptors.tsv.gz", "drugprot_train_part", "*.gene_info.gz"} <= read
    patterns = [pattern for row in (*SHIP, *LEARNED) for pattern in row.files]
    assert len(patterns) == len(set(patterns)) > 40
    assert {name for name in read if not any(fnmatch(name, p) for p in patterns)} == set()
    assert {p for p in patterns if not any(fnmatch(name, p) for name in read)} == set()


def test_every_row_has_its_terms_and_no_vocabulary_is_share_alike_or_non_commercial() -> None:
    assert len(SHIP) > 12
    assert len(LEARNED) > 8
    assert [row.source for row in (*SHIP, *LEARNED) if not row.terms] == []
    assert [row.source for row in SHIP if FORBIDDEN.search(row.terms)] == []
    assert [row.source for row in LEARNED if FORBIDDEN.search(row.terms)] == []


@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_what_ships_names_sources_that_have_a_row(name: str) -> None:
    sources = load_vocabulary(name).meta["sources"]
    assert sources
    assert all(source["licence"] for source in sources)
    page = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(row.source for row in SHIP))
    named = [source["title"].split(",")[0] for source in sources]
    assert [title for title in named if title not in page] == []


@pytest.mark.parametrize("barred", ["drugcentral", "ictv"])
def test_share_alike_tables_are_read_by_no_script(barred: str) -> None:
    assert [path.name for path in BUILDING if barred in path.read_text("utf8").lower()] == []
