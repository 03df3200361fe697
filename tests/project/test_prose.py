"""The words of the manual: the field's, short sentences, plain quotation marks, spelling.

Code is left out, tables where sentences are counted, what the project's file says of itself, and
the notebook, which is a diary, but for its quotation marks.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.helpers import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Not to be said → the field's word.
WORDS = {
    r"(?:links?|linked|linking) to nothing": "gets `NIL`",
    r"none is right": "`NIL`",
    r"\bmend(?:s|ed|ing)?\b": "repair, correct",
    r"\bobey(?:s|ed)?\b": "override, exact match",
    r"slips? of the pen|\bslips?\b": "typo",
    r"(?:by|of) letters\b|letters (?:alone|near)|near by letters": "string similarity",
    r"\bblanks?\b(?! lines?\b)": "space",
    r"\bthe same words mentions\b": "equal words",
    r"\bstands? in\b": "is in",
    r"\btells?\b|\btold\b": "says, shows, prints",
    r"\b(?:fit(?:s|ted)?|calibrated) (?:the )?limits\b|limits of links": "thresholds",
    r"\bevidence\b": "features, ranker",
    r"\bas meant\b": "normalise",
    r"\bsparing\b|\bspares\b": "caching, leave out",
    r"\bhonest\b": "calibrated",
    r"\bown names?\b": "alias, canonical name",
    r"\brespell": "spelling correction",
    r"\bkinds of mentions\b": "entity types",
    r"[«»]": 'plain quotation marks, "',
}
# Pages that speak of the words themselves.
SPEAK_OF_THEM: dict[str, set[str]] = {}
MOST_WORDS = 30


def prose(text: str) -> Iterator[tuple[int, str]]:
    """text (str): a page. YIELDS (tuple[int, str]): number of its first line, and a paragraph, list
    item or table row without code, links' addresses and what project.yml says."""

    def without(match: re.Match[str]) -> str:
        return "\n" * match[0].count("\n")

    text = re.sub(r"^```.*?^ *```", without, text, flags=re.DOTALL | re.MULTILINE)
    project = r"^<!-- project: begin -->.*?<!-- project: end -->"
    text = re.sub(project, without, text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^  ```.*?^  ```", without, text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^    \S.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"<!--.*?-->", without, text, flags=re.DOTALL)
    text = re.sub(r"`[^`\n]*(?:\n[^`\n]*)?`", lambda m: "X" + "\n" * m[0].count("\n"), text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    number, lines = 1, text.split("\n")
    block: list[str] = []
    for i, line in enumerate([*lines, ""], 1):
        begins = re.match(r"\s*(?:[*|#]|\d+\. )", line) is not None
        if (begins or not line.strip()) and block:
            yield number, " ".join(block)
            block = []
        if line.strip():
            number = number if block else i
            block.append(line.strip())


def banned(page: str, text: str) -> list[str]:
    """page (str): its name. text (str): of it. RETURNS (list[str]): a line a fault."""
    only = {r"[«»]"} if page.startswith("docs/notebook/") else set(WORDS)
    only -= SPEAK_OF_THEM.get(page, set())
    return [
        f"{page}:{line}: {found[0]!r}: say {WORDS[pattern]}"
        for line, paragraph in prose(text)
        for pattern in only
        for found in re.finditer(pattern, paragraph)
    ]


def long_sentences(page: str, text: str) -> list[str]:
    """page (str), text (str), RETURNS (list[str]): as `banned`."""
    return [
        f"{page}:{line}: {len(words)} words: {' '.join(words[:8])} …"
        for line, paragraph in prose(text)
        if not paragraph.startswith(("|", "#"))
        for sentence in re.split(r"(?<=[.!?])\s+", paragraph)
        if len(words := sentence.split()) > MOST_WORDS
    ]


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_the_fields_words(page: Path) -> None:
    assert banned(_name(page), page.read_text("utf8")) == []


@pytest.mark.parametrize("page", [p for p in PAGES if "notebook" not in p.parts], ids=_name)
def test_short_sentences(page: Path) -> None:
    assert long_sentences(_name(page), page.read_text("utf8")) == []


def test_spelling() -> None:
    command = [sys.executable, "-m", "codespell_lib", "README.md", "CONTRIBUTING.md", "docs"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
