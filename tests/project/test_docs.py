"""Every code block of README.md and docs/ that can run runs, and prints what stands below it.

Here those with a block that needs an extra, each a process or several; `make install-check` runs
all others, where no extra is installed.
"""

import re
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
        *("shipped", "shipped", "given", "text"),
        *("settings", "matcher", "consistency", "recogniser", "variants"),
        *("features", "labels"),
        *("vocabularies", "vocabulary options", "corpora", "corpus options", "every corpus"),
        *("commands", "python", "project"),
    ]
    assert '| `mode` | `"beam" \\| "exact"` | `"beam"` |' in found[4][2]
    assert "| `train-negative` | Mine pairs of right and wrong names " in found[-1][2]
    for page, name, passage in found:
        text = page.read_text("utf8")
        assert with_passage(text, name, passage) == text, "run: python tools/document.py"


def test_figures_of_the_readme_and_the_cards_are_those_of_the_results() -> None:
    results = (ROOT / "docs/results.md").read_text("utf8")
    readme = (ROOT / "README.md").read_text("utf8")
    table = readme.partition("## How well, how fast")[2].partition("*Given*")[0]
    figures = re.findall(r"\d[\d,]*(?:\.\d+)?", re.sub(r"`[^`]*`|3-gram|BC5CDR", "", table))
    assert len(figures) == 10
    cells = [cell.strip(" *") for line in results.splitlines() for cell in line.split("|")]
    assert [figure for figure in figures if figure not in cells] == []
    for name in ("mini", "bio"):
        card = (ROOT / f"docs/model_card_{name}.md").read_text("utf8")
        pipeline = readme.partition(f"| [`en_angel_{name}`]")[2].partition("\n")[0]
        concepts, size = re.findall(r"(\d+,\d+) concepts \| (\d+\.\d) MB", pipeline)[0]
        assert f"| vocabulary | {concepts} concepts" in card
        assert f"| in all |  | {size} |" in card
        written = card.partition("## Figures")[2].partition("## Limits")[0]
        percents = re.findall(r"\d+\.\d", written)
        assert [figure for figure in percents if figure not in results] == []


def test_pages_are_as_long_as_one_reads() -> None:
    assert len((ROOT / "docs/results.md").read_text("utf8").splitlines()) <= 200
    for page in (ROOT / "docs/how_to").glob("*.md"):
        most = 190 if page.name == "troubleshooting.md" else 110  # which is looked up by symptom
        assert len(page.read_text("utf8").splitlines()) <= most, page.name


def test_examples_of_settings_are_such() -> None:
    from reference import EXAMPLES

    from spacy_angel.linking.settings.linker_settings import LinkerSettings

    assert list(EXAMPLES) == list(LinkerSettings().to_dict())
    for name, value in EXAMPLES.items():
        given = LinkerSettings.from_dict({name: value}).to_dict()
        shown = given[name]
        assert shown == ({**shown, **value} if isinstance(value, dict) else value)


def test_every_command_and_every_option_of_a_format_is_in_the_reference() -> None:
    from reference import cli_reference, options_table

    from spacy_angel.corpora.registry import FORMATS as corpora
    from spacy_angel.vocabulary.sources.formats.registry import FORMATS as vocabularies

    text = cli_reference()
    assert "## `spacy-angel kb build`" in text
    assert "| `--output`, `-o` | path | required | Folder to write. |" in text
    for formats in (vocabularies, corpora):
        table = options_table(formats)
        for name, format in formats.items():
            for option in format.options:
                row = re.search(
                    rf"^\| `{name}` \| `{option}` \| .* \| (.+) \|$", table, re.MULTILINE
                )
                assert row is not None, (name, option)
                assert len(row[1]) > 10


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
