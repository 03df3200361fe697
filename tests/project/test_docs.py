"""All code blocks of README.md and docs/ that can run do run, and print the output below them.

This test runs pages with blocks that need an extra, in a process for each; `make install-check`
runs all others, without extras.
"""

import pytest
from support.doc_blocks import read_blocks, run_page
from support.helpers import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


RUN = [
    page
    for page in PAGES
    if any(block.runs and block.needs for block in read_blocks(page.read_text("utf8")))
]


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(page, tmp_path)


def test_the_generated_passages_are_current():
    from document import passages, with_passage

    found = passages()
    assert [name for _, name, _ in found] == [
        *("given", "text"),
        *("settings", "matcher", "consistency", "recogniser", "variants"),
        *("features", "labels"),
        *("vocabulary options", "corpora", "corpus options", "every corpus"),
        *("commands", "project"),
    ]
    assert "| `train-negative` | Mine pairs of correct and wrong names " in found[-1][2]
    for page, name, passage in found:
        text = page.read_text("utf8")
        assert with_passage(text, name, passage) == text, "run: python tools/document.py"
