"""What is said while a run goes on: a bar on a terminal, lines elsewhere."""

import re
from functools import partial
from io import StringIO
from types import SimpleNamespace

import pytest

from spacy_angel.annotation import progress
from spacy_angel.annotation.progress import Progress
from spacy_angel.annotation.records import ShardRecord
from spacy_angel.annotation.shards import BatchDone
from spacy_angel.annotation.workers import SharedProgress


def plan(total: int, skipped: int = 0, **sizes: int) -> SimpleNamespace:
    """sizes (int): bytes of the shards of the first input, `s0`, `s1` …"""
    shards = {(0, int(name[1:])): size for name, size in sizes.items()}
    return SimpleNamespace(total=total, skipped=skipped, sizes=shards)


def whole(shard: int, read: int, mentions: int) -> ShardRecord:
    return ShardRecord(
        input=0,
        shard=shard,
        file="",
        read=read,
        documents=read,
        mentions=mentions,
        linked=0,
        size=0,
        sha256="",
        digest="",
    )


@pytest.fixture
def clock(monkeypatch) -> SimpleNamespace:
    """A clock that tests set, in seconds."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.now)
    return clock


def test_a_log_gets_a_line_every_half_minute(clock, capsys) -> None:
    with Progress(plan(1000, 200, s0=400, s1=400)) as shown:
        for now, documents in ((10.0, 2), (30.0, 2), (40.0, 1), (59.0, 1)):
            clock.now = now
            shown.show(BatchDone(0, 0, documents, 8, 3 * documents))
        clock.now = 60.0
        shown.show(whole(0, 8, 25))
    lines = capsys.readouterr().err.splitlines()
    # After half of a shard: 200 of the 800 bytes in 30 s.
    assert lines[0] == "40 %: 4 documents, 12 mentions, 0.1 documents/s, 01:30 left"
    # What the shard's record says counts, each document once.
    assert lines[1] == "60 %: 8 documents, 25 mentions, 0.1 documents/s, 01:00 left"
    assert len(lines) == 2


def test_the_bar_moves_batch_by_batch(clock, monkeypatch) -> None:
    terminal = StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(progress, "tqdm", partial(progress.tqdm, file=terminal))
    with Progress(plan(100, 20, s0=40, s1=40)) as shown:
        for event in (BatchDone(0, 0, 5, 10, 9), BatchDone(0, 0, 5, 10, 9), whole(0, 10, 18)):
            clock.now += 2
            shown.show(event)
        shown.show(whole(1, 10, 2))
    pattern = r" *(\d+)%\|.*\| (\d+) documents, (\d+) mentions, ([\d.]+) documents/s"
    drawn = (re.match(pattern, line) for line in terminal.getvalue().split("\r"))
    steps = [match.groups() for match in drawn if match]
    # the bar is drawn once more at its end
    assert list(dict.fromkeys(steps)) == [
        ("40", "5", "9", "2.5"),
        ("60", "10", "18", "2.5"),
        ("60", "10", "18", "1.7"),
        ("100", "20", "20", "3.3"),
    ]


def test_workers_tell_in_shared_memory() -> None:
    shared = SharedProgress([0] * 5 * 2)
    first, second = shared.at(0), shared.at(1)
    assert list(shared.news()) == []
    first(BatchDone(0, 0, 4, 10, 7))
    first(BatchDone(0, 0, 4, 10, 7))
    second(BatchDone(0, 1, 3, 3, 5))
    assert list(shared.news()) == [BatchDone(0, 0, 8, 10, 14), BatchDone(0, 1, 3, 3, 5)]
    assert list(shared.news()) == []
    first(BatchDone(0, 0, 2, 10, 1))
    second(BatchDone(0, 2, 1, 3, 1))
    assert list(shared.news()) == [BatchDone(0, 0, 2, 10, 1), BatchDone(0, 2, 1, 3, 1)]
