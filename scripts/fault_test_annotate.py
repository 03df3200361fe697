"""Kill an annotation with SIGKILL at random moments, fill its disk, and compare what comes out.

A run without interruption gives the output to compare with. Another one is killed, all its
processes at once, again and again, and started again each time; a third one writes to a small
tmpfs that is full until it has failed. All outputs must be equal, byte for byte, but for the
journal, which tells of the order of events.

    python scripts/fault_test_annotate.py --pipeline PIPELINE INPUT…
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.annotation.manifest import JOURNAL, MANIFEST


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
        print(f"uninterrupted: {seconds:.1f} s, {len(shards(whole))} shards")
        killed = folder / "killed"
        kill_often(command, killed, workers, kills, seconds, random.Random(seed))
        problems = differences(whole, killed)
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
    command: list, output: Path, workers: int, kills: int, seconds: float, moments: random.Random
) -> None:
    """Kill the parent alone in every other round, and all processes in the others; then finish.

    One kill in four hits a run anywhere in its first part, most likely while it opens the
    pipeline, the others at a random moment after its first shard.
    """
    done = ended = 0
    while done < kills:
        before = len(shards(output))
        process = subprocess.Popen(
            arguments(command, output, workers),
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if moments.random() < 0.25:
            time.sleep(moments.uniform(0, 0.5) * seconds)
        else:
            while process.poll() is None and len(shards(output)) <= before:
                time.sleep(0.01)
            time.sleep(moments.uniform(0, 0.5))
        if process.poll() is not None:
            # It was done: begin again, so that each kill hits a run that works.
            shutil.rmtree(output)
            ended += 1
            continue
        if done % 2:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
        wait_for_group(process.pid)
        done += 1
        print(f"kill {done}: {len(shards(output))} shards on the disk", flush=True)
    print(f"{kills} kills; {ended} times the run had ended before its moment and was begun anew")
    run(command, output, workers)


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


def shards(output: Path) -> list[Path]:
    """RETURNS (list[Path]): the shards in a folder."""
    return sorted(output.glob("[0-9]*-*.*"))


def differences(expected: Path, found: Path) -> list[str]:
    """RETURNS (list[str]): files that are missing, too many, or differ."""
    names = sorted({path.name for folder in (expected, found) for path in folder.iterdir()})
    problems = []
    for name in names:
        a, b = expected / name, found / name
        if name == JOURNAL:
            continue
        if not (a.exists() and b.exists()):
            problems.append(f"{found}: {name} is in one output only")
        elif a.read_bytes() != b.read_bytes():
            problems.append(f"{found}: {name} differs")
    if not (found / MANIFEST).exists():
        problems.append(f"{found}: no manifest")
    return problems


if __name__ == "__main__":
    typer.run(main)
