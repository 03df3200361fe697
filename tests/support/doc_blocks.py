"""Read the code blocks of a Markdown page, and run them as a reader would.

Only imports modules of a base installation, since `tools/install_check.py` runs the pages there.
"""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Collection
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

_FENCE = re.compile(
    r"(?:^<!-- (?P<comment>not run|needs): (?P<said>[^\n]+?) -->\n\n?)?"
    r"^```(?P<language>\w+)(?P<header>[^\n]*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_FILES = re.compile(r"^<!-- files: (?P<page>[^\n]+?) -->$", re.MULTILINE)
RUNNABLE = ("python", "bash")


@dataclass(frozen=True)
class Block:
    """A block of code, or a file shown on a page.

    line (int): line number of the opening fence, from 1.
    title (str | None): file name of a fence with `title="notes.txt"`, which makes the block a file.
    reason (str | None): from the comment `<!-- not run: REASON -->` above it.
    needs (frozenset[str]): extras, from the comment `<!-- needs: train, parquet -->` above it.
    output (str | None): expected output, from the block of `text` right below; `...` matches any
        lines.
    """

    language: str
    text: str
    line: int
    title: str | None = None
    reason: str | None = None
    needs: frozenset[str] = frozenset()
    output: str | None = None

    @property
    def runs(self) -> bool:
        """Whether it is a program that is not marked as not run."""
        return self.language in RUNNABLE and self.title is None and self.reason is None


def read_blocks(page: str) -> list[Block]:
    """List the fenced blocks of Markdown, in order."""
    blocks: list[Block] = []
    end = 0
    for fence in _FENCE.finditer(page):
        title = re.search(r'title="([^"]+)"', fence["header"])
        is_output = (
            fence["language"] == "text" and title is None and not page[end : fence.start()].strip()
        )
        if is_output and blocks and blocks[-1].language in RUNNABLE:
            blocks.append(replace(blocks.pop(), output=fence["text"]))
        else:
            line = page.count("\n", 0, fence.start("language")) + 1
            name = None if title is None else title[1]
            comment = {fence["comment"]: fence["said"]}
            needs = frozenset(filter(None, re.split(r", *", comment.get("needs") or "")))
            reason = comment.get("not run")
            blocks.append(Block(fence["language"], fence["text"], line, name, reason, needs))
        end = fence.end()
    return blocks


def run_page(page: Path, folder: Path, extras: Collection[str] | None = None) -> None:
    """Run the blocks of a page in order; Python blocks share their variables.

    page (Path): a Markdown file. With a comment `<!-- files: train.md -->`, the files shown on that
        page are written first.
    folder (Path): working folder.
    extras (Collection[str] | None): blocks that need other extras are skipped; None runs all.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    text = page.read_text("utf8")
    for other in _FILES.findall(text):
        for block in read_blocks((page.parent / other).read_text("utf8")):
            _write_file(block, folder)
    for block in read_blocks(text):
        where = f"{page.name}:{block.line}"
        if block.title is not None:
            _write_file(block, folder)
        elif block.runs and (extras is None or block.needs <= set(extras)):
            if block.language == "python":
                printed = _run_python(block, names, where)
            else:
                printed = _run_bash(block, folder, where)
            if block.output is not None:
                _compare(block.output, printed, where)


def _write_file(block: Block, folder: Path) -> None:
    if block.title is not None:
        file = folder / block.title
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, encoding="utf8")


def _run_python(block: Block, names: dict[str, Any], where: str) -> str:
    printed = StringIO()
    # Padded, so that line numbers in tracebacks match the page.
    code = compile("\n" * block.line + block.text, where, "exec")
    with redirect_stdout(printed):
        exec(code, names)
    return printed.getvalue()


def _run_bash(block: Block, folder: Path, where: str) -> str:
    bin_folder = folder / ".bin"
    bin_folder.mkdir(exist_ok=True)
    for name, command in (("spacy-angel", "-m spacy_angel"), ("python", "")):
        file = bin_folder / name
        file.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n', encoding="utf8")
        file.chmod(0o755)
    paths = [os.environ["PATH"], str(Path(sys.executable).parent)]
    env = os.environ | {
        "PATH": os.pathsep.join([str(bin_folder), *reversed(paths)]),
        # The tables in `--help` are as wide as the terminal.
        "COLUMNS": "100",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{where}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _compare(expected: str, printed: str, where: str) -> None:
    # doctest lets `...` match anything.
    same = doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS)
    assert same, f"{where} prints\n{printed}\nand not\n{expected}"
