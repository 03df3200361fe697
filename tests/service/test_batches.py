"""The queue: documents together, small ones between the passes of large ones, none lost."""

import threading
from contextlib import nullcontext

import pytest
from service.conftest import until

from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.service import batches
from spacy_angel.service.batches import LinkQueue
from spacy_angel.service.linking import Job


def job(name, length=10):
    return Job(CorpusDocument(name, "x" * length))


class Recorder:
    """Records a pass for each 5,000 characters instead of linking."""

    def __init__(self):
        self.passes = []
        self.may_go_on = threading.Event()
        self.nlp = self
        self.memory_zone = nullcontext

    def link(self, jobs):
        for i, one in enumerate(jobs):
            name = one.document.doc_id
            for _ in range(0, len(one.document.text), 5000):
                self.passes.append(name)
                assert self.may_go_on.wait(60)
                yield i, [name]


@pytest.fixture
def recorder():
    return Recorder()


@pytest.fixture
def queue(recorder, monkeypatch):
    monkeypatch.setattr(batches, "_SLICE", -1)
    queue = LinkQueue(recorder)
    queue.submit(job("first"))
    until(lambda: recorder.passes == ["first"])
    yield queue
    recorder.may_go_on.set()
    queue.close()


def test_small_documents_are_linked_between_the_passes_of_a_large_one(queue, recorder):
    futures = [queue.submit(job("large", 30_000)), queue.submit(job("other", 30_000))]
    small = [f"small{i}" for i in range(25)]
    futures += [queue.submit(job(name, 100)) for name in small]
    recorder.may_go_on.set()
    expected = [["large"] * 6, ["other"] * 6, *([name] for name in small)]
    assert [future.result(60) for future in futures] == expected
    larges = ["large"] * 5 + ["other"] * 6
    assert recorder.passes == ["first", *small[:19], "large", *small[19:], *larges]


def test_what_nobody_waits_for_is_not_linked(queue, recorder):
    large = queue.submit(job("large", 100_000))
    gone, kept = queue.submit(job("gone", 9000)), queue.submit(job("kept", 9000))
    assert gone.cancel()
    recorder.may_go_on.set()
    until(lambda: "large" in recorder.passes)
    large.cancel()
    assert kept.result(60) == ["kept"] * 2
    assert "gone" not in recorder.passes
