"""Kill an annotation at random moments, fill its disk, and compare what comes out.

A run without interruption gives the output to compare with. Another one gets signals, by turns
SIGKILL for all its processes at once, and SIGKILL, SIGINT, SIGHUP and SIGTERM for the parent alone,
and is started again each time; but for SIGKILL it must leave no temporary file. A third one writes
to a small tmpfs that is full until it has failed. All outputs must be equal, byte for byte; and the
first has every document as often as the inputs have it.

    python benchmarks/annotate_faults.py --pipeline PIPELINE INPUT…
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.annotation.folder import MANIFEST
from spacy_angel.annotation.inputs import plan_inputs, read_input
from spacy_angel.corpora.documents import CorpusReport

# The first for all processes, the others for the parent.
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGHUP, signal.SIGTERM)


def main(
    inputs: Annotated[list[Path], typer.Argument(help="Files to annotate.")],
    pipeline: Annotated[Path, typer.Option(help="Folder of a pipeline with angel_linker.")],
    kills: Annotated[int, typer.Option(help="Times that the run is killed.")] = 20,
    shard_size: Annotated[int, typer.Option(help="Documents of a shard.")] = 100,
    workers: Annotated[int, typer.Option(help="Processes of the killed run.")] = 2,
    seed: Annotated[int, typer.Option(help="Of the moments.")] = 0,
    disk: Annotated[bool, typer.Option(help="Test a full disk (mounts a tmpfs: root).")] = True,
) -> None:
    """Print what was done; exit with 1 where an output differs or a process stays behind."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        command = [*inputs, "--pipeline", pipeline, "--shard-size", shard_size]
        whole = folder / "whole"
        start = time.perf_counter()
        run(command, whole, 1)
        seconds = time.perf_counter() - start
        documents, problems = miscounted(inputs, whole)
        print(
            f"uninterrupted: {seconds:.1f} s, {documents} documents in {len(shards(whole))} shards",
            flush=True,
        )
        killed = folder / "killed"
        per_shard = seconds / len(shards(whole))
        problems += kill_often(
            command, whole, killed, workers, kills, (seconds, per_shard), random.Random(seed)
        )
        if disk:
            problems += full_disk(command, whole, folder / "full")
    print("\n".join(problems) or "all outputs are equal")
    raise typer.Exit(bool(problems))


def run(command: list, output: Path, workers: int) -> subprocess.CompletedProcess[str]:
    """Annotate to the end. RETURNS (CompletedProcess): the ended process."""
    return subprocess.run(
        arguments(command, output, workers), check=True, capture_output=True, text=True
    )


def arguments(command: list, output: Path, workers: int) -> list[str]:
    """RETURNS (list[str]): the call of the command line."""
    options = ["--output", output, "--workers", workers]
    return [sys.executable, "-m", "spacy_angel", "annotate", *map(str, [*command, *options])]


def kill_often(
    command: list,
    expected: Path,
    output: Path,
    workers: int,
    kills: int,
    seconds: tuple[float, float],
    moments: random.Random,
) -> list[str]:
    """Send the signals by turns, then finish. A run that ends before its moment is
    compared, and another one begun.

    One kill in four hits a run anywhere in its first part, most likely while it opens the
    pipeline, the others within the time of two shards after its first one: so a run of enough
    shards is killed all these times before it ends.

    seconds: of a whole run, and of one shard. RETURNS (list[str]): what differs.
    """
    whole, per_shard = seconds
    problems: list[str] = []
    done = since = 0
    while done < kills:
        before = len(shards(output))
        process = subprocess.Popen(
            arguments(command, output, workers),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if moments.random() < 0.25:
            time.sleep(moments.uniform(0, 0.5) * whole)
        else:
            while process.poll() is None and len(shards(output)) <= before:
                time.sleep(0.01)
            time.sleep(moments.uniform(0, 2) * per_shard)
        if process.poll() is not None:
            found = differences(expected, output)
            print(f"ended after {since} kills, {len(found)} differences", flush=True)
            problems += found
            since = 0
            shutil.rmtree(output)
            continue
        number = SIGNALS[done % len(SIGNALS)]
        if done % len(SIGNALS):
            process.send_signal(number)
        else:
            os.killpg(process.pid, number)
        process.wait()
        wait_for_group(process.pid)
        done += 1
        since += 1
        rest = [path.name for path in output.glob(".*")] if number != signal.SIGKILL else []
        problems += [f"{number.name} left {name}" for name in rest]
        print(f"kill {done}, {number.name}: {len(shards(output))} shards", flush=True)
    run(command, output, workers)
    found = differences(expected, output)
    print(f"ended after {since} kills, {len(found)} differences", flush=True)
    return problems + found


def wait_for_group(group: int, limit: float = 20.0) -> None:
    """Wait until no process of a killed run is left. RAISES (RuntimeError): some stay."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise RuntimeError("worker processes outlive their killed parent")


def full_disk(command: list, whole: Path, mount: Path) -> list[str]:
    """Annotate onto a disk too small, make room, go on. RETURNS (list[str]): what differs."""
    needed = sum(path.stat().st_size for path in whole.iterdir())
    mount.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={2 * needed + 2**20}", "tmpfs", mount], check=True
    )
    try:
        filler = mount / "filler"
        filler.write_bytes(bytes(needed + 2**20 + needed // 2))
        output = mount / "output"
        done = subprocess.run(arguments(command, output, 1), capture_output=True, text=True)
        message = done.stderr.strip().splitlines()[-1]
        print(f"full disk: exit {done.returncode}, {len(shards(output))} shards, {message}")
        if done.returncode == 0:
            return ["the disk was not full"]
        filler.unlink()
        run(command, output, 1)
        return differences(whole, output)
    finally:
        subprocess.run(["umount", mount], check=True)


def miscounted(inputs: list[Path], whole: Path) -> tuple[int, list[str]]:
    """RETURNS (tuple[int, list[str]]): number of documents in the inputs, and those that an output
    does not have as often as the inputs do."""
    given = Counter(
        document.doc_id
        for source in plan_inputs(inputs)
        for document in read_input(source, strict=True, report=CorpusReport(), options={})
    )
    found = Counter(
        json.loads(line)["doc_id"]
        for shard in shards(whole)
        for line in shard.read_bytes().splitlines()
    )
    wrong = sorted(i for i in {*given, *found} if given[i] != found[i])
    return given.total(), [f"{i}: given {given[i]} times, found {found[i]}" for i in wrong]


def shards(output: Path) -> list[Path]:
    """RETURNS (list[Path]): the shards in a folder."""
    return sorted(output.glob("[0-9]*-*.*"))


def differences(expected: Path, found: Path) -> list[str]:
    """RETURNS (list[str]): files that are missing, too many, or differ."""
    names = sorted({path.name for folder in (expected, found) for path in folder.iterdir()})
    problems = []
    for name in names:
        a, b = expected / name, found / name
        if not (a.exists() and b.exists()):
            problems.append(f"{found}: {name} is in one output only")
        elif a.read_bytes() != b.read_bytes():
            problems.append(f"{found}: {name} differs")
    if not (found / MANIFEST).exists():
        problems.append(f"{found}: no manifest")
    return problems


if __name__ == "__main__":
    typer.run(main)
