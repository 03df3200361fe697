"""What a user installs: a wheel of the last commit, in environments with nothing else in them.

    python tools/install_check.py            # the base, then every extra alone
    python tools/install_check.py --turn 7   # the base, and the extra whose turn it is
    python tools/install_check.py --work W --wheel   # the wheel alone; W goes on from there

The tests' environment has every extra: what works only because one of them is there is seen here
alone. uv makes the environments; what `pip config` says of package indexes holds for it, too. Needs
nothing but Python 3.10 to 3.12 and git.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# pip's settings → uv's environment variables.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "constraint": "UV_CONSTRAINT",
    "cert": "SSL_CERT_FILE",
    "default-timeout": "UV_HTTP_TIMEOUT",
}

OWN_PIPELINE = """
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("sentencizer")
ruler = nlp.add_pipe("entity_ruler")
ruler.add_patterns([{"label": "DISEASE", "pattern": "heart attack"}])
nlp.add_pipe("angel_linker")
nlp.to_disk("own")
doc = spacy.load("own")("She had a heart attack.")
assert [(e.text, e.kb_id_) for e in doc.ents] == [("heart attack", "MESH:D009203")], doc.ents
"""
SHIPPED = """
import spacy, spacy_angel
TEXT = "He took aspirin."

def linked(nlp):
    return [(e.text, e.kb_id_) for e in nlp(TEXT).ents] == [("aspirin", "MESH:D001241")]

nlp = spacy.load("en_angel_mini")
nlp.to_disk("mini")
assert all(map(linked, (nlp, spacy.load("./mini"), spacy_angel.load().from_bytes(nlp.to_bytes()))))
(doc,) = nlp.pipe([TEXT], n_process=2)
assert doc.ents[0].kb_id_ == "MESH:D001241"
assert linked(spacy.load("en_angel_bio"))
"""
HELP_OF_ALL = """
import contextlib, io
import typer
from spacy_angel.cli.app import app

def verbs(command, words=()):
    commands = getattr(command, "commands", {})
    if not commands or command.params:
        yield words
    for name, sub in commands.items():
        yield from verbs(sub, (*words, name))

for words in verbs(typer.main.get_command(app)):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        app([*words, "--help"], standalone_mode=False)
    assert "Usage: " in printed.getvalue(), words
    print(*words)
"""
PAGE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support.doc_blocks import run_page
run_page(Path(sys.argv[2]), Path.cwd(), sys.argv[3:])
"""
# One run of each verb that needs no extra, in this order; $tiny are the documents of assets/tiny.
VERBS = """
info
kb list
kb update
kb build $tiny/vocabulary.jsonl -o kb/tiny
kb fetch medic --file $vocabularies/ctd_diseases.tsv -o kb/fetched
kb info kb/tiny
kb search kb/tiny Hypertension
kb explain kb/tiny Hypertension
kb merge kb/tiny kb/fetched -o kb/both
kb diff kb/tiny kb/both
kb export kb/tiny -o names.tsv
kb add kb/tiny --mentions $tiny/train.txt
kb rename kb/tiny MESH:D006973 "High Blood Pressure"
kb undo kb/tiny
kb remove kb/tiny MESH:D003922
kb package kb/tiny -o wheels --name tiny --licence $checkout/LICENSE
kb check $tiny/rules.tsv --kb kb/tiny
corpus $tiny/train.txt -o corpus.jsonl --abbreviations scispacy
corpus $tiny/train.txt -o tasks.json --to label_studio
corpus tasks.json -o brat --to brat --option results=predictions
corpus brat -o again.txt --to pubtator
contradictions $tiny/train.txt
long-forms $tiny/train.txt -o forms.tsv
link "She had high blood pressure." --kb kb/tiny
assemble --model en_angel_mini --kb kb/tiny -o pipeline
calibrate pipeline $tiny/dev.txt
corrections pipeline $tiny/dev.txt -o rules.tsv
evaluate pipeline $tiny/dev.txt -o metrics/mine
evaluate exact $tiny/dev.txt --kb kb/tiny -o metrics/exact
evaluate tfidf $tiny/dev.txt --kb kb/tiny -o metrics/tfidf
evaluate scispacy $tiny/dev.txt --kb kb/tiny -o metrics/scispacy
evaluate scispacy-hnsw $tiny/dev.txt --kb kb/tiny -o metrics/hnsw
compare metrics/exact metrics/tfidf -o metrics/both
annotate $tiny/dev.txt -o annotated --workers 2
relink annotated --kb kb/tiny
train configs
"""
# Verbs that need an extra: with it, each is one run of what the extra promises; without it, each
# ends with one line that says how to install it.
_TINY = (
    "tiny/tiny --data.kb=kb/tiny '--data.train=[\"$tiny/train.txt\"]' "
    "'--data.dev=[\"$tiny/dev.txt\"]'"
)
VERBS_OF = {
    "train": f"""
train pretrain {_TINY} -o pretrain
train positive {_TINY} --start pretrain/negative/model -o positive
train mine {_TINY} --start positive/model -o pairs.jsonl
train negative {_TINY} --start positive/model --negative.rounds=1 --pairs pairs.jsonl -o negative
train average positive/model negative/model -o mean
""",
    "negation": 'link "Denies chest pain." --negation',
    "ab3p": "corpus $tiny/train.txt -o ab3p.jsonl --abbreviations ab3p",
    "inception": "corpus $tiny/train.txt -o cas --to uima_xmi",
    "parquet": "annotate $tiny/dev.txt -o parquet --to parquet",
    "ray": "annotate $tiny/dev.txt -o ray --ray local --workers 1",
    "serve": "serve --openapi",
    # Ends with its standard input, which is empty.
    "mcp": "mcp",
}
# What comes before and behind them with the extra.
BEFORE = "kb build $tiny/vocabulary.jsonl -o kb/tiny"
AFTER = {
    "train": """
assemble --model mean --kb kb/tiny -o pipeline --storage float32
evaluate pipeline $tiny/dev.txt -o figures
"""
}
# Verbs whose error without the extra is looked at as well, but which take long with it.
ONLY_WITHOUT = {
    "train": """
train --train $tiny/train.txt --dev $tiny/dev.txt --kb kb/tiny -o own
train recogniser recogniser -o recogniser
"""
}
# Packages of an extra whose import alone is tried, or whose metadata alone is read.
IMPORTS_OF = {
    "train": ("trl", "datasets", "accelerate", "confection", "pyarrow"),
    "negation": ("negspacy.negation",),
    "ab3p": ("pyab3p",),
    "inception": ("cassis",),
    "parquet": ("pyarrow.parquet",),
    "ray": ("ray.data",),
    "serve": ("fastapi", "uvicorn", "prometheus_client"),
    "mcp": ("mcp", "uvicorn"),
    "docs": ("mkdocs", "material", "mkdocstrings"),
}
METADATA_ONLY = {"deepspeed": "deepspeed"}


Check = tuple[str, Callable[[], object]]
"""Its name, and a function that raises `Failed`."""


@dataclass(frozen=True)
class Environment:
    """An environment with the wheel in it.

    folder (Path): of the environment.
    work (Path): where its commands run; nothing of the checkout is importable there.
    extra (str | None): what was installed beside the base.
    """

    folder: Path
    work: Path
    extra: str | None

    @property
    def python(self) -> str:
        """RETURNS (str): its interpreter."""
        return str(self.folder / "bin/python")

    @property
    def program(self) -> str:
        """RETURNS (str): its command line."""
        return str(self.folder / "bin/spacy-angel")


class Failed(Exception):
    """A check did not hold; the text says which, and what was printed."""


def run(command: list[str], where: Path, env: dict[str, str] | None = None, expect: int = 0) -> Any:
    """command (list[str]): a program and its arguments. where (Path): working folder. env
    (dict[str, str] | None): variables. expect (int): exit code.
    RETURNS (Any): the finished process. RAISES (Failed): it ended with another code."""
    # What a checkout or an active environment leaves in the variables is not a user's. A program's
    # first start leaves its bytecode for all others: without, each compiles torch and spaCy anew.
    foreign = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
    own = {k: v for k, v in os.environ.items() if k not in foreign}
    done = subprocess.run(
        command,
        cwd=where,
        env=own | (env or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode != expect:
        raise Failed(
            f"{shlex.join(command)}\nexit {done.returncode}, expected {expect}\n"
            f"{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
        )
    return done


class Workshop:
    """Builds the wheel and the environments.

    folder (Path): everything is made in it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkout = folder / "checkout"
        self._uv = folder / "tools/bin/uv"
        self._env: dict[str, str] = {}

    def build(self) -> Path:
        """Clone the last commit and make a wheel of it, by way of the source distribution; an
        earlier run's is taken as it is.

        RETURNS (Path): the wheel.
        """
        python = str(self.folder / "tools/bin/python")
        there = [*(self.folder / "dist").glob("*.whl")]
        if not there:
            run(["git", "clone", "--quiet", str(ROOT), str(self.checkout)], self.folder)
            run([sys.executable, "-m", "venv", str(self.folder / "tools")], self.folder)
            pinned = ["-c", str(self.checkout / "constraints.txt"), "uv", "build"]
            run([python, "-m", "pip", "install", "--quiet", *pinned], self.folder)
        self._env = uv_settings(run([python, "-m", "pip", "config", "list"], self.folder).stdout)
        self._env["PATH"] = f"{self._uv.parent}:{os.environ['PATH']}"
        self._env["UV_CACHE_DIR"] = str(self.folder / "cache")
        if there:
            return there[0]
        self._run([python, "-m", "build", "--installer", "uv", "-o", "dist", str(self.checkout)])
        settings = "".join(f"export {k}={shlex.quote(v)}\n" for k, v in self._env.items())
        (self.folder / "uv.sh").write_text(settings, encoding="utf8")
        (wheel,) = (self.folder / "dist").glob("*.whl")
        return wheel

    def environment(self, extra: str | None = None) -> Environment:
        """extra (str | None): beside the base. RETURNS (Environment): as it will be."""
        name = extra or "base"
        return Environment(self.folder / "environments" / name, self.folder / "work" / name, extra)

    def install(self, made: Environment, wheel: Path) -> None:
        """Make an environment by the lines of the README's section Install.

        made (Environment): which. wheel (Path): stands in the place of `.`.
        """
        made.work.mkdir(parents=True)
        self._run([str(self._uv), "venv", "--quiet", "-p", sys.executable, str(made.folder)])
        target = str(wheel) if made.extra is None else f"{wheel}[{made.extra}]"
        lines = install_lines((self.checkout / "README.md").read_text("utf8"), target)
        script = 'pip() { uv pip "$@" --quiet; }\n' + lines
        command = ["bash", "-euo", "pipefail", "-c", script]
        run(command, self.checkout, self._env | {"VIRTUAL_ENV": str(made.folder)})

    def _run(self, command: list[str]) -> None:
        run(command, self.folder, self._env)


def uv_settings(config: str) -> dict[str, str]:
    """config (str): what `pip config list` prints. RETURNS (dict[str, str]): variables with which
    uv finds the same packages."""
    found = {"UV_INDEX_STRATEGY": "unsafe-best-match"}
    for line in config.splitlines():
        key, _, value = line.partition("=")
        name = UV_NAMES.get(key.rpartition(".")[2])
        if name is not None:
            found[name] = " ".join(value.strip("'\"").split())
    return found


def install_lines(readme: str, target: str) -> str:
    """readme (str): its text. target (str): in the place of `.`.
    RETURNS (str): the commands of the section Install."""
    section = re.search(r"^## Install$.*?^```bash\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    lines = "" if section is None else section[1]
    made, n = re.subn(r"(?<= )\.(?=\s|$)", lambda _: shlex.quote(target), lines, flags=re.M)
    if n != 1 or "torch==" not in lines:
        raise Failed(f"README.md's section Install does not install torch and `.` once:\n{lines}")
    return made


def lines_of(verbs: str, checkout: Path) -> list[list[str]]:
    """verbs (str): a command a line. checkout (Path): whose files they name.
    RETURNS (list[list[str]]): the words of each."""
    files = {
        "$tiny": checkout / "assets/tiny",
        "$vocabularies": checkout / "tests/fixtures/vocabularies",
        "$checkout": checkout,
    }
    for name, path in files.items():
        verbs = verbs.replace(name, str(path))
    return [shlex.split(line) for line in verbs.splitlines() if line.strip()]


def beside_another(made: Environment) -> dict[str, str]:
    """RETURNS (dict[str, str]): variables of a program: a cache, and one thread, since two programs
    run at a time and their threads would wait for each other."""
    return {"SPACY_ANGEL_CACHE": str(made.work / "cache"), "OMP_NUM_THREADS": "1"}


def check_verbs(made: Environment, verbs: str, checkout: Path) -> None:
    """Run a command after the other. RAISES (Failed): one does not end well."""
    for words in lines_of(verbs, checkout):
        run([made.program, *words], made.work, beside_another(made))


def check_every_verb(made: Environment) -> None:
    """RAISES (Failed): a verb has no help, or stands in none of the tables above."""
    printed = run([made.python, "-c", HELP_OF_ALL], made.work).stdout.splitlines()
    tables = [VERBS, *VERBS_OF.values(), *ONLY_WITHOUT.values()]
    lines = [line for table in tables for line in table.splitlines()]
    if missing := [v for v in printed if v and not any(f"{x} ".startswith(v + " ") for x in lines)]:
        raise Failed(f"No run of these verbs is known to tools/install_check.py: {missing}")


def check_without(made: Environment, extra: str, checkout: Path) -> None:
    """RAISES (Failed): a verb that needs the extra ends otherwise than with a line about it."""
    # What an earlier line would have written.
    (made.work / "pairs.jsonl").touch()
    for words in lines_of(VERBS_OF[extra] + "\n" + ONLY_WITHOUT.get(extra, ""), checkout):
        done = run([made.program, *words], made.work, expect=1)
        lines = done.stderr.splitlines()
        if len(lines) != 1 or f"pip install 'spacy-angel[{extra}]'" not in lines[0]:
            raise Failed(f"{shlex.join(words)}: expected one line, came\n{done.stderr[-3000:]}")


def check_page(made: Environment, page: Path, checkout: Path) -> None:
    """Run the blocks of a page that need nothing else than what is installed."""
    folder = made.work / "pages" / page.relative_to(checkout).with_suffix("")
    folder.mkdir(parents=True)
    extras = [] if made.extra is None else [made.extra]
    command = [made.python, "-c", PAGE, str(checkout / "tests"), str(page), *extras]
    run(command, folder, beside_another(made) | {"HF_HUB_OFFLINE": "1"})


def base_checks(made: Environment, checkout: Path) -> list[Check]:
    """RETURNS (list[Check]): what holds without an extra; without the first none can hold."""
    pages = [checkout / "README.md", checkout / "CONTRIBUTING.md"]
    pages += sorted((checkout / "docs").rglob("*.md"))
    return [
        ("own pipeline", lambda: run([made.python, "-c", OWN_PIPELINE], made.work)),
        ("shipped pipelines", lambda: run([made.python, "-c", SHIPPED], made.work)),
        ("verbs", lambda: check_verbs(made, VERBS, checkout)),
        ("help of every verb", lambda: check_every_verb(made)),
        *((f"without {x}", lambda x=x: check_without(made, x, checkout)) for x in VERBS_OF),
        *(
            (str(page.relative_to(checkout)), lambda page=page: check_page(made, page, checkout))
            for page in pages
            if re.search(r"^```(python|bash)$", page.read_text("utf8"), re.MULTILINE)
        ),
    ]


def extra_checks(workshop: Workshop, wheel: Path, extra: str) -> list[Check]:
    """RETURNS (list[Check]): what holds with one extra, one after the other."""
    made, checkout = workshop.environment(extra), workshop.checkout
    imports = "; ".join(f"import {name}" for name in IMPORTS_OF[extra])
    checks: list[Check] = [
        (f"{extra}: installed", lambda: workshop.install(made, wheel)),
        (f"{extra}: import", lambda: run([made.python, "-c", imports], made.work)),
        (f"{extra}: own pipeline", lambda: run([made.python, "-c", OWN_PIPELINE], made.work)),
    ]
    if extra == "docs":
        build = [made.python, "-m", "mkdocs", "build", "--strict", "-q", "-d", "../site"]
        checks.append(("docs: site", lambda: run(build, checkout, {"NO_MKDOCS_2_WARNING": "1"})))
    else:
        verbs = "\n".join([BEFORE, VERBS_OF[extra], AFTER.get(extra, "")])
        checks.append((f"{extra}: verbs", lambda: check_verbs(made, verbs, checkout)))
    return checks


def carry_out(chains: Iterable[list[Check]]) -> int:
    """chains (Iterable[list[Check]]): two at a time; in each, one check after the other, until one
    does not hold. RETURNS (int): how many did not hold, which are printed."""

    def holds(check: Check) -> bool:
        name, function = check
        begin = perf_counter()
        try:
            function()
        except Failed as error:
            print(f"FAILED {name}\n{textwrap.indent(str(error), '    ')}", flush=True)
            return False
        print(f"ok {perf_counter() - begin:6.1f} s  {name}", flush=True)
        return True

    with ThreadPoolExecutor(2) as pool:
        return sum(not held for held in pool.map(lambda chain: all(map(holds, chain)), chains))


def check_metadata(wheel: Path) -> None:
    """RAISES (Failed): the wheel does not name the requirements of an extra that is only read."""
    import zipfile

    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if re.fullmatch(r"spacy_angel-[^/]*/METADATA", n))
        metadata = archive.read(name).decode()
    for extra, package in METADATA_ONLY.items():
        if not re.search(rf'^Requires-Dist: {package}\S*; extra == "{extra}"', metadata, re.M):
            raise Failed(f"The wheel's metadata has no {package} for the extra {extra}")
    declared = set(re.findall(r"^Provides-Extra: (\S+)", metadata, re.M)) - {"test"}
    if declared != {*IMPORTS_OF, *METADATA_ONLY}:
        raise Failed(f"tools/install_check.py knows other extras than setup.cfg: {declared}")


def main() -> int:
    """RETURNS (int): the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turn", type=int, help="only the extra whose turn it is: a run's number")
    parser.add_argument("--extra", action="append", help="only these extras; none: --extra ''")
    parser.add_argument(
        "--work",
        type=Path,
        help="a new folder for what is made, which stays: the "
        "wheel in dist, the environments, and uv.sh, which has uv find the packages as here",
    )
    parser.add_argument("--wheel", action="store_true", help="only make the wheel, see --work")
    given = parser.parse_args()
    extras = list(IMPORTS_OF)
    if given.turn is not None:
        extras = [extras[given.turn % len(extras)]]
    if given.extra is not None:
        extras = list(filter(None, given.extra))
    with TemporaryDirectory(prefix="spacy-angel-install-") as temporary:
        folder = (given.work or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        workshop = Workshop(folder)
        try:
            wheel = workshop.build()
            check_metadata(wheel)
            if given.wheel:
                return 0
            base = workshop.environment()
            checkout = workshop.checkout
            first, *others = base_checks(base, checkout)
            failed = carry_out([[("installed", lambda: workshop.install(base, wheel)), first]])
            if not failed:
                # The longest come first.
                chains = [extra_checks(workshop, wheel, extra) for extra in extras]
                failed = carry_out([*chains, *([check] for check in others)])
        except Failed as error:
            print(f"FAILED\n{error}")
            return 1
    print(f"{failed} checks failed" if failed else f"All held, with {extras} alone")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
