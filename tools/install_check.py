"""Check an installation without extras: commands, their messages about missing extras, and pages.

    python tools/install_check.py

Run it with the interpreter of a fresh environment in which the package is installed. Two checks run
at a time, each in its own folder; the exit code is the number of failed checks.
"""

import os
import re
import shlex
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = Path(sys.executable).with_name("spacy-angel")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PIPELINES = """
import spacy, spacy_angel
TEXT = "He took aspirin."

def linked(nlp):
    return [(e.text, e.kb_id_) for e in nlp(TEXT).ents] == [("aspirin", "MESH:D001241")]

assert {"en_angel_mini", "en_angel_bio"} <= {*spacy.util.get_installed_models()}
nlp = spacy.load("en_angel_mini")
nlp.to_disk("mini")
assert all(map(linked, (nlp, spacy.load("./mini"), spacy_angel.load().from_bytes(nlp.to_bytes()))))
(doc,) = nlp.pipe([TEXT], n_process=2)
assert doc.ents[0].kb_id_ == "MESH:D001241"
assert linked(spacy.load("en_angel_bio"))
"""
PAGE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support.doc_blocks import run_page
run_page(Path(sys.argv[2]), Path.cwd(), [])
"""
# Commands that need no extra, run in this order; $tiny is the folder assets/tiny.
COMMANDS = """
info
kb update
kb build $tiny/vocabulary.jsonl -o kb/tiny
kb fetch medic --file $vocabularies/ctd_diseases.tsv -o kb/fetched
info kb/tiny
kb search kb/tiny Hypertension
kb merge kb/tiny kb/fetched -o kb/both
kb add kb/tiny --mentions $tiny/train.txt
kb rename kb/tiny MESH:D006973 "High Blood Pressure"
kb remove kb/tiny MESH:D003922
kb check $tiny/rules.tsv --kb kb/tiny
corpus $tiny/train.txt -o corpus.jsonl --abbreviations scispacy
corpus $tiny/train.txt -o tasks.json --to label_studio
corpus tasks.json -o brat --to brat --option results=predictions
corpus brat -o again.txt --to pubtator
link "She had high blood pressure." --kb kb/tiny
assemble --model en_angel_mini --kb kb/tiny -o pipeline
calibrate pipeline $tiny/dev.txt
corrections pipeline $tiny/dev.txt -o rules.tsv
evaluate pipeline $tiny/dev.txt -o metrics/mine
evaluate exact $tiny/dev.txt --kb kb/tiny -o metrics/exact
compare metrics/exact metrics/mine -o metrics/both
annotate $tiny/dev.txt -o annotated --workers 2
"""
# For each extra, a command that needs it.
EXTRAS = {
    "train": "train --train $tiny/train.txt --dev $tiny/dev.txt --kb MESH -o own",
    "negation": 'link "Denies chest pain." --negation',
    "ab3p": "corpus $tiny/train.txt -o ab3p.jsonl --abbreviations ab3p",
    "parquet": "annotate $tiny/dev.txt -o parquet --to parquet",
    "ray": "annotate $tiny/dev.txt -o ray --ray local --workers 1",
    "serve": "serve --openapi",
    "mcp": "mcp",
}


def run(command: list[str], folder: Path, expected: int = 0) -> str:
    """Run a program on one thread.

    command (list[str]): program and arguments.
    folder (Path): working folder.
    expected (int): expected exit code.
    RETURNS (str): standard error.
    RAISES (AssertionError): the exit code differs.
    """
    own = {"SPACY_ANGEL_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command,
        cwd=folder,
        env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | own,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    failure = f"{shlex.join(command)}\nexit {done.returncode}, expected {expected}\n"
    assert done.returncode == expected, failure + done.stdout[-3000:] + done.stderr[-6000:]
    return done.stderr


def words_of(line: str) -> list[str]:
    """Complete a line of `COMMANDS` or `EXTRAS`.

    line (str): arguments of `spacy-angel`.
    RETURNS (list[str]): the whole command.
    """
    line = line.replace("$tiny", str(ROOT / "assets/tiny"))
    line = line.replace("$vocabularies", str(ROOT / "tests/fixtures/vocabularies"))
    return [str(PROGRAM), *shlex.split(line)]


def check_pipelines(folder: Path) -> None:
    run([sys.executable, "-c", PIPELINES], folder)
    for name in ("en_angel_mini", "en_angel_bio"):
        run([sys.executable, "-m", "spacy", "info", name], folder)


def check_commands(folder: Path) -> None:
    for line in COMMANDS.strip().splitlines():
        run(words_of(line), folder)


def check_missing_extras(folder: Path) -> None:
    for extra, line in EXTRAS.items():
        message = run(words_of(line), folder, expected=1)
        lines = message.strip().splitlines()
        assert len(lines) == 1, f"{line}: expected one line\n{message}"
        assert f"pip install 'spacy-angel[{extra}]'" in lines[0], f"{line}\n{message}"


def check_page(page: Path, folder: Path) -> None:
    run([sys.executable, "-c", PAGE, str(ROOT / "tests"), str(page)], folder)


def main() -> int:
    """Run all checks.

    RETURNS (int): number of failed checks.
    """
    checks = {
        "commands": check_commands,
        "pipelines": check_pipelines,
        "missing extras": check_missing_extras,
    }
    for page in PAGES:
        if re.search(r"^```(python|bash)$", page.read_text("utf8"), re.MULTILINE):
            checks[str(page.relative_to(ROOT))] = partial(check_page, page)

    def holds(name: str) -> bool:
        begin = perf_counter()
        with TemporaryDirectory() as folder:
            try:
                checks[name](Path(folder))
            except AssertionError as error:
                print(f"FAILED {name}\n{textwrap.indent(str(error), '    ')}", flush=True)
                return False
        print(f"ok {perf_counter() - begin:6.1f} s  {name}", flush=True)
        return True

    with ThreadPoolExecutor(2) as pool:
        return sum(not held for held in pool.map(holds, checks))


if __name__ == "__main__":
    sys.exit(main())
