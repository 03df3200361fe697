"""What the start costs: CPU time of `spacy-angel --help` and of one linked sentence, on one core.

    python benchmarks/start.py

Prints one JSON line a command: `cpu_s` (user and system time, the least of several runs),
`peak_mib`, and the modules whose own import cost most, in seconds (`python -X importtime`).
"""

import json
import os
import re
import subprocess
import sys
from typing import Annotated

import typer

SENTENCE = "She had a heart attack and was given acetylsalicylic acid."
COMMANDS = {"help": ["--help"], "link": ["link", SENTENCE]}
_IMPORT = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s*(\S+)")


def main(
    runs: Annotated[int, typer.Option(help="Runs of each command; the least counts.")] = 3,
    modules: Annotated[int, typer.Option(help="Modules to name.")] = 8,
) -> None:
    """Measure the start of the command line."""
    for name, arguments in COMMANDS.items():
        figures = [measure(arguments) for _ in range(runs)]
        least = min(figures, key=lambda figure: figure["cpu_s"])
        print(json.dumps({"command": name, **least, "imports_s": costliest(arguments, modules)}))


def measure(arguments: list[str]) -> dict[str, float]:
    """arguments (list[str]): of spacy-angel. RETURNS (dict[str, float]): `cpu_s`, `peak_mib`."""
    process = subprocess.Popen(_command([], arguments), stdout=subprocess.DEVNULL, env=_one_core())
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"spacy-angel {' '.join(arguments)} ended with status {status}")
    unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, KiB elsewhere
    return {
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_mib": round(usage.ru_maxrss / unit, 0),
    }


def costliest(arguments: list[str], n: int) -> dict[str, float]:
    """arguments (list[str]): of spacy-angel. n (int): modules to name.
    RETURNS (dict[str, float]): top-level package → seconds of its own modules, dearest first."""
    done = subprocess.run(
        _command(["-X", "importtime"], arguments), capture_output=True, text=True, env=_one_core()
    )
    seconds: dict[str, float] = {}
    for line in done.stderr.splitlines():
        if match := _IMPORT.match(line):
            package = match[2].partition(".")[0]
            seconds[package] = seconds.get(package, 0.0) + int(match[1]) / 1e6
    dearest = sorted(seconds.items(), key=lambda item: -item[1])[:n]
    return {package: round(value, 2) for package, value in dearest}


def _command(flags: list[str], arguments: list[str]) -> list[str]:
    return [sys.executable, *flags, "-m", "spacy_angel", *arguments]


def _one_core() -> dict[str, str]:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    return {**os.environ, "OMP_NUM_THREADS": "1"}


if __name__ == "__main__":
    typer.run(main)
