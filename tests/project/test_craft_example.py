"""The page on CRAFT, from its distribution to the figures, on two invented articles."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from support.doc_blocks import run_page
from support.helpers import ROOT

PAGE = ROOT / "docs/how_to/adapt.md"
# Of training all stages, and as little as can be of each.
QUICK = " ".join(
    f"--set={setting}"
    for setting in (
        "positive.optimizer.epochs=1",
        "negative.optimizer.epochs=1",
    )
)


@pytest.mark.slow
def test_the_page_runs_from_the_distribution_to_the_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    craft = shutil.copytree(ROOT / "tests/fixtures/corpora/craft", tmp_path / "CRAFT")
    folder = craft / "concept-annotation/CL/CL"
    with zipfile.ZipFile(folder / "CL.obo.zip", "w") as packed:
        packed.write(folder / "CL.obo", "CL.obo")
    text = PAGE.read_text("utf8")
    comment = "<!-- not run: needs CRAFT -->\n"
    assert text.count(comment) == text.count("```bash") == 4
    assert text.count(" -o mine\n") == 1
    page = tmp_path / "page.md"
    page.write_text(text.replace(comment, "").replace(" -o mine\n", f" -o mine {QUICK}\n"), "utf8")
    monkeypatch.setenv("CRAFT", str(craft))
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    run_page(page, work)
    for name in ("shipped", "calibrated", "trained"):
        figures = json.loads((work / f"metrics/{name}/metrics.json").read_text("utf8"))
        assert (figures["mentions"], figures["coverage"]) == (6, 100)
        assert figures["strict"]["acc@1"] > 50
    assert "| en_angel_mini as it ships | " in (work / "mine/table.md").read_text("utf8")
