"""Every code block of README.md and docs/ that can run runs, and prints what stands below it.

Here those with a block that needs an extra, each a process or several; `make install-check` runs
all others, where no extra is installed.
"""

from pathlib import Path

import pytest
from support.doc_blocks import read_blocks, run_page
from support.helpers import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


RUN = [
    page
    for page in PAGES
    if any(block.runs and block.needs for block in read_blocks(page.read_text("utf8")))
]


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=_name)
def test_the_blocks_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page, tmp_path)


def test_the_generated_passages_are_current() -> None:
    from document import passages, with_passage

    found = passages()
    assert [name for _, name, _ in found] == [
        *("given", "text"),
        *("settings", "matcher", "consistency", "recogniser", "variants"),
        *("features", "labels"),
        *("vocabulary options", "corpora", "corpus options", "every corpus"),
        *("commands", "project"),
    ]
    assert "| `train-negative` | Mine pairs of right and wrong names " in found[-1][2]
    for page, name, passage in found:
        text = page.read_text("utf8")
        assert with_passage(text, name, passage) == text, "run: python tools/document.py"


def test_examples_of_settings_are_such() -> None:
    from reference import EXAMPLES

    from spacy_angel.linking.settings.linker_settings import LinkerSettings

    assert list(EXAMPLES) == list(LinkerSettings().to_dict())
    for name, value in EXAMPLES.items():
        given = LinkerSettings.from_dict({name: value}).to_dict()
        shown = given[name]
        assert shown == ({**shown, **value} if isinstance(value, dict) else value)


def test_files_of_another_page_are_there(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text(
        '```text title="a.txt"\nx\n```\n\n```bash\nfalse\n```\n', "utf8"
    )
    page = tmp_path / "page.md"
    page.write_text("```bash\ncat a.txt\n```\n\n```text\nx\n```\n", "utf8")
    (tmp_path / "work").mkdir()
    with pytest.raises(AssertionError, match=r"page\.md:1: exit 1"):
        run_page(page, tmp_path / "work")
    page.write_text(f"<!-- files: other.md -->\n{page.read_text('utf8')}", "utf8")
    run_page(page, tmp_path / "work")


def test_a_block_that_prints_something_else_fails(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```bash\nprintf 'a\\nb\\nc\\n'\n```\n\n```text\na\n...\nc\n```\n", "utf8")
    run_page(page, tmp_path)
    page.write_text("Words.\n\n```python\nprint(1)\n```\n\n```text\n2\n```\n", "utf8")
    with pytest.raises(AssertionError, match=r"page\.md:3 prints\n1"):
        run_page(page, tmp_path)
    page.write_text("```bash\nfalse\n```\n", "utf8")
    with pytest.raises(AssertionError, match=r"page\.md:1: exit 1"):
        run_page(page, tmp_path)
