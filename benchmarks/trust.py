"""Give hostile inputs to the command line of an installed version, and say what it did.

Documents of the same words, inputs that change, damaged journals and files, lines and identifiers
without end, signals, disks that refuse: most cases are faults that version 0.1 had. Only the
command line is used, which is older than the packages, so the same inputs go to any version that is
installed somewhere.

    python benchmarks/trust.py [--python OTHER/bin/python] [-o FILE.json] [CASE…]

A case is right where the run tells what there is to tell, loses nothing, and needs no more than
SECONDS of CPU and MEGABYTES of memory. The pipeline is the fixture with a tiny model.
"""

import gzip
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

PIPELINE = Path(__file__).parents[1] / "tests/fixtures/pipelines/before_packages"
SECONDS = 60
MEGABYTES = 2000
NOTE = "The patient had a heart attack."


@dataclass
class Run:
    """An ended process.

    code (int): exit status, or the negative number of the signal that ended it.
    said (str): standard error. seconds (float): of CPU. megabytes (float): most memory.
    """

    code: int
    said: str
    seconds: float
    megabytes: float

    @property
    def is_orderly(self) -> bool:
        return (
            self.code >= 0
            and "Traceback" not in self.said
            and self.seconds < SECONDS
            and self.megabytes < MEGABYTES
        )

    def __str__(self) -> str:
        lines = [line for line in self.said.splitlines() if line.strip(" ─│╭╮╰╯")]
        last = lines[-1].strip("│ ")[:160] if lines and self.code else ""
        how = f"exit status {self.code}" if self.code >= 0 else signal.Signals(-self.code).name
        return f"{how}, {self.seconds:.0f} s of CPU, {self.megabytes:,.0f} MB. {last}".strip()


class Version:
    """The command line of one installed version.

    python (Path): its interpreter. folder (Path): for inputs and outputs.
    """

    def __init__(self, python: Path, folder: Path) -> None:
        self._python, self.folder = python, folder

    def start(self, *arguments: str | Path, output: str = "out") -> "subprocess.Popen[bytes]":
        """Begin `annotate`; a limit of CPU holds for it."""
        command = [self._python, "-m", "spacy_angel", "annotate", *arguments]
        command += ["-o", self.folder / output, "--pipeline", PIPELINE]
        with open(self.folder / "said", "wb") as said:
            return subprocess.Popen(
                list(map(str, command)),
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
                preexec_fn=_limit,
            )

    def end(self, process: "subprocess.Popen[bytes]") -> Run:
        """Wait for it. RETURNS (Run): what it did."""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said = (self.folder / "said").read_text("utf8", "replace")
        seconds = used.ru_utime + used.ru_stime
        return Run(process.returncode, said, seconds, used.ru_maxrss / 1000)

    def annotate(self, *arguments: str | Path, output: str = "out") -> Run:
        return self.end(self.start(*arguments, output=output))

    def documents(self, output: str = "out") -> list[str]:
        """RETURNS (list[str]): identifiers of the documents in an output."""
        shards = sorted((self.folder / output).glob("[0-9]*-*.jsonl"))
        lines = [line for shard in shards for line in shard.read_bytes().splitlines()]
        return [json.loads(line)["doc_id"] for line in lines]

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))


def rows(n: int, text: str = NOTE) -> str:
    return "".join(json.dumps({"doc_id": f"d{i}", "text": f"{text} {i}"}) + "\n" for i in range(n))


Verdict = tuple[bool, str]
CASES: dict[str, Callable[[Version], Verdict]] = {}


def case(name: str) -> Callable[[Callable[[Version], Verdict]], Callable[[Version], Verdict]]:
    def keep(function: Callable[[Version], Verdict]) -> Callable[[Version], Verdict]:
        CASES[name] = function
        return function

    return keep


@case("1: two files of the same words")
def same_words(version: Version) -> Verdict:
    run = version.annotate(version.write("ann.txt", NOTE), version.write("bob.txt", NOTE))
    return run.code == 0 and len(version.documents()) == 2, (
        f"{len(version.documents())} of 2 documents, {run}"
    )


def _changed(version: Version, change: Callable[[Path], object]) -> Verdict:
    source = version.write("in.jsonl", rows(4000))
    process = version.start(source, "--shard-size", "20", "--batch-size", "20")
    _wait_for_shard(version, process)
    if process.poll() is not None:
        return False, "ended before its input was changed"
    change(source)
    run = version.end(process)
    return run.code != 0 and "has changed" in run.said, str(run)


def _wait_for_shard(version: Version, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 300
    while not version.documents() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)


@case("2: an input is appended to")
def appended(version: Version) -> Verdict:
    def append(source: Path) -> None:
        with open(source, "a") as file:
            file.write(rows(1))

    return _changed(version, append)


@case("2: an input is rewritten in place")
def rewritten(version: Version) -> Verdict:
    def rewrite(source: Path) -> None:
        with open(source, "r+b") as file:
            file.write(rows(1, NOTE.replace("patient", "woman's")).encode())

    return _changed(version, rewrite)


def _damaged_journal(version: Version, old: bytes, new: bytes) -> Verdict:
    source = version.write("in.jsonl", rows(25))
    version.annotate(source, "--shard-size", "10")
    [journal] = (version.folder / "out").glob("*journal.jsonl")
    before = version.documents()
    content = journal.read_bytes()
    assert old in content
    journal.write_bytes(content.replace(old, new, 1))
    run = version.annotate(source, "--shard-size", "10")
    told = "damaged" in run.said
    right = run.is_orderly and run.code == 0 and told and version.documents() == before
    return right, f"{run} {'Said to be damaged.' if told else ''}".strip()


@case("3: one bit of the journal's first line")
def journal_bit(version: Version) -> Verdict:
    return _damaged_journal(version, b'"kind"', b'"kine"')


@case("3: a record of the journal lacks a key")
def journal_key(version: Version) -> Verdict:
    return _damaged_journal(version, b'"failures"', b'"xailures"')


@case("4: a cut .gz is fetched anew")
def cut_gzip(version: Version) -> Verdict:
    texts = (f"{os.urandom(60).hex()} {i}" for i in range(200))
    whole = gzip.compress("".join(rows(1, text) for text in texts).encode())
    source = version.write("in.jsonl.gz", whole[: len(whole) * 3 // 4])
    first = version.annotate(source, "--shard-size", "20")
    source.write_bytes(whole)
    run = version.annotate(source, "--shard-size", "20")
    right = first.code != 0 and run.code == 0 and len(version.documents()) == 200
    return right, f"{len(version.documents())} of 200 documents, {run}"


@case("4: a .gz of one byte")
def one_byte(version: Version) -> Verdict:
    run = version.annotate(version.write("in.txt.gz", b"\x1f"))
    return run.is_orderly and run.code != 0, str(run)


def _one_bad(version: Version, bad: str) -> Verdict:
    source = version.write("in.jsonl", bad + "\n" + rows(2))
    run = version.annotate(source)
    found = len(version.documents())
    return run.is_orderly and run.code != 0 and found == 2, f"{found} of 2 documents, {run}"


for _name, _value in {"a number": "5", "true": "true"}.items():
    CASES[f"5: JSONL mentions that is {_name}"] = partial(
        _one_bad, bad=f'{{"doc_id": "x", "text": "heart attack", "mentions": {_value}}}'
    )
CASES["5: deeply nested JSON in a JSONL file"] = lambda version: _one_bad(
    version, '{"text": "x", "more": ' + "[" * 100_000 + "]" * 100_000 + "}"
)


def _infon(version: Version, value: str) -> Verdict:
    """A BioC file whose infon is read as JSON."""
    passage = {"offset": 0, "infons": {}, "text": "heart attack", "annotations": []}
    document = {"id": "1", "infons": {"preprocessing_steps": value}, "passages": [passage]}
    content = json.dumps({"documents": [document]})
    run = version.annotate(version.write("in.json", content), "--format", "bioc_json")
    return run.is_orderly and run.code != 0, str(run)


CASES["5: deeply nested JSON in BioC"] = lambda version: _infon(
    version, "[" * 100_000 + "]" * 100_000
)
CASES["5: an integer of 5,000 digits in BioC"] = lambda version: _infon(version, "9" * 5000)
_XML = "<collection><document><id>%s</id>%s</document></collection>"
_TEXT = "<passage><offset>0</offset><text>heart attack</text></passage>"


@case("5: BioC XML passages nested 5,000 deep")
def deep_xml(version: Version) -> Verdict:
    content = _XML % ("1", "<passage>" * 5000 + _TEXT + "</passage>" * 5000)
    run = version.annotate(version.write("in.xml", content))
    return run.is_orderly and run.code != 0, str(run)


def _long(version: Version, name: str, content: str, format: str) -> Verdict:
    run = version.annotate(version.write(name, content), "--format", format)
    return run.is_orderly, str(run)


_LETTERS = "heart attack " * 4_600_000
_BLANKS = "1" + " " * 80_000 + "1"
CASES |= {
    "6: a JSONL line of 60 MB": lambda version: _long(
        version, "in.jsonl", json.dumps({"text": _LETTERS}) + "\n", "jsonl"
    ),
    "6: a line of text of 60 MB": lambda version: _long(
        version, "in.txt", _LETTERS + "\n", "lines"
    ),
    "6: a PubTator line of 60 MB": lambda version: _long(
        version, "in.txt", f"1|t|{_LETTERS}\n1|a|x\n\n", "pubtator"
    ),
    "6: a PubTator identifier with 80,000 blanks": lambda version: _long(
        version,
        "in.txt",
        f"1|t|heart attack\n1|a|x\n1\t0\t12\theart attack\tDisease\t{_BLANKS}\n",
        "pubtator",
    ),
    "6: a BioC identifier with 80,000 blanks": lambda version: _long(
        version,
        "in.xml",
        _XML
        % (
            "1",
            _TEXT.replace(
                "</passage>",
                f'<annotation id="1"><infon key="identifier">{_BLANKS}</infon>'
                '<infon key="type">Disease</infon><location offset="0" length="12"/>'
                "<text>heart attack</text></annotation></passage>",
            ),
        ),
        "bioc_xml",
    ),
}


@case("6: 1.5 MB that unpack to 1.5 GB of text")
def unpacks(version: Version) -> Verdict:
    path = version.folder / "in.txt.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(1500):
            file.write(b" " * 1_000_000)
    run = version.annotate(path)
    return run.is_orderly and run.code != 0, str(run)


def _signalled(version: Version, number: signal.Signals) -> Verdict:
    source = version.write("in.jsonl", rows(8000))
    left: set[str] = set()
    for attempt in range(5):
        output = f"out{attempt}"
        arguments = (source, "--shard-size", "400", "--batch-size", "20", "--workers", "2")
        process = version.start(*arguments, output=output)
        folder = version.folder / output
        end = time.monotonic() + 300
        # In the middle of a shard, or of its writing.
        while process.poll() is None and time.monotonic() < end:
            if len(list(folder.glob("[0-9]*-*.jsonl"))) > attempt:
                break
            time.sleep(0.002)
        process.send_signal(number)
        version.end(process)
        _wait_for_group(process.pid)
        left |= {path.name for path in folder.glob(".*") if "journal" not in path.name}
    return not left, f"{len(left)} temporary files left by 5 runs"


def _wait_for_group(group: int) -> None:
    end = time.monotonic() + 30
    with suppress(ProcessLookupError):
        while time.monotonic() < end:
            os.killpg(group, 0)
            time.sleep(0.1)


for _number in (signal.SIGINT, signal.SIGHUP):
    CASES[f"7: {_number.name} to the parent of two workers"] = partial(_signalled, number=_number)


@contextmanager
def _read_only(folder: Path) -> Iterator[None]:
    """Mount a folder over itself so that it can only be read; needs root."""
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def _on_read_only(version: Version, n_more: int) -> Run:
    source = version.write("in.jsonl", rows(5))
    version.annotate(source)
    with _read_only(version.folder / "out"):
        more = [version.write("more.jsonl", rows(n_more))] if n_more else []
        return version.annotate(source, *more)


@case("7: a finished folder on a read-only file system")
def finished_read_only(version: Version) -> Verdict:
    run = _on_read_only(version, 0)
    return run.is_orderly and run.code == 0, str(run)


@case("7: a file-system error says what to do")
def read_only(version: Version) -> Verdict:
    run = _on_read_only(version, 3)
    has_advice = re.search("only be read|writable|write", run.said) and "[Errno" not in run.said
    return run.is_orderly and run.code != 0 and bool(has_advice), str(run)


def main(
    cases: Annotated[list[str] | None, typer.Argument(help="Beginnings of cases.")] = None,
    python: Annotated[Path, typer.Option(help="Interpreter of the version.")] = Path(
        sys.executable
    ),
    output: Annotated[Path | None, typer.Option("-o", help="JSON with all of it.")] = None,
) -> None:
    """Print a line a case; exit with 1 where one is not right."""
    results = {}
    for name, function in CASES.items():
        if cases and not any(map(name.startswith, cases)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            right, what = function(Version(python, Path(folder)))
        results[name] = {"right": right, "what": what}
        print(f"{'right' if right else 'WRONG'} | {name} | {what}", flush=True)
    if output is not None:
        output.write_text(json.dumps(results, indent=1, ensure_ascii=False), "utf8")
    raise typer.Exit(not all(result["right"] for result in results.values()))


if __name__ == "__main__":
    typer.run(main)
