"""Requests through one thread: together, in turn, none lost."""

import threading
import time

import pytest

from spacy_angel.corpora.documents import CorpusDocument
from spacy_angel.service.batches import LinkQueue
from spacy_angel.service.limits import Refused
from spacy_angel.service.linking import Failure, Job, Linked


def jobs(*names, length=10):
    return [Job(CorpusDocument(name, "x" * length)) for name in names]


def many(n, name="large"):
    return jobs(*(f"{name}{i}" for i in range(n)))


class Recorder:
    """Links nothing, but writes down each batch; waits where it is told to."""

    def __init__(self, seconds=0.0):
        self.batches = []
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.seconds = seconds

    def __call__(self, batch):
        self.batches.append([job.document.doc_id for job in batch])
        self.goes_on.wait(30)
        time.sleep(self.seconds * len(batch))
        return [Linked((), html=job.document.doc_id) for job in batch]


@pytest.fixture
def recorder():
    return Recorder()


@pytest.fixture
def queue(recorder):
    queue = LinkQueue(recorder, max_waiting=40)
    yield queue
    recorder.goes_on.set()
    queue.close()


def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def told(future):
    return [result.html for result in future.result(30)]


def test_what_waits_is_linked_together_and_answered_in_order(queue, recorder):
    recorder.goes_on.clear()
    first = queue.submit(jobs("a"))
    until(lambda: recorder.batches)
    others = [queue.submit(jobs(f"{i}", f"{i}'")) for i in range(8)]
    assert queue.n_waiting == 9
    recorder.goes_on.set()
    assert told(first) == ["a"]
    assert [told(other) for other in others] == [[f"{i}", f"{i}'"] for i in range(8)]
    assert recorder.batches[0] == ["a"]
    assert sorted(recorder.batches[1]) == [f"{i}" for i in range(8)]
    until(lambda: queue.n_waiting == 0)
    assert queue.submit([]).result(0) == []


def test_a_small_request_beside_a_large_one_waits_for_one_batch(queue, recorder):
    recorder.goes_on.clear()
    large = queue.submit(many(500))
    until(lambda: recorder.batches)
    small = queue.submit(jobs("small"))
    recorder.goes_on.set()
    assert told(small) == ["small"]
    assert told(large) == [f"large{i}" for i in range(500)]
    assert "small" in recorder.batches[1]
    assert max(map(len, recorder.batches)) == 8


def test_a_document_that_is_larger_than_a_batch_goes_alone(queue, recorder):
    recorder.goes_on.clear()
    queue.submit(jobs("a"))
    until(lambda: recorder.batches)
    huge, other = queue.submit(jobs("huge", length=10**9 // 1000)), queue.submit(jobs("b"))
    recorder.goes_on.set()
    assert told(huge) + told(other) == ["huge", "b"]
    assert recorder.batches[1:] == [["huge"], ["b"]]


def test_only_so_many_wait(queue, recorder):
    recorder.goes_on.clear()
    waiting = [queue.submit(jobs("a")) for _ in range(40)]
    with pytest.raises(Refused) as refused:
        queue.submit(jobs("one too many"))
    assert refused.value.status == 429
    recorder.goes_on.set()
    assert [told(one) for one in waiting] == [["a"]] * 40
    until(lambda: queue.n_waiting == 0)
    assert told(queue.submit(jobs("again"))) == ["again"]


def test_the_rest_of_a_request_is_not_linked_when_who_asked_has_gone(queue, recorder):
    recorder.goes_on.clear()
    large = queue.submit(many(500))
    until(lambda: recorder.batches)
    other = queue.submit(jobs("other"))
    assert large.cancel()
    recorder.goes_on.set()
    assert told(other) == ["other"]
    until(lambda: queue.n_waiting == 0)
    assert recorder.batches[1:] == [["other"]]


def test_closing_answers_what_waits_and_takes_no_more(recorder):
    queue = LinkQueue(recorder, max_waiting=100)
    recorder.goes_on.clear()
    waiting = [queue.submit(many(70, str(i))) for i in range(3)]
    closing = threading.Thread(target=queue.close)
    closing.start()
    until(lambda: queue._is_closed)
    with pytest.raises(Refused) as refused:
        queue.submit(jobs("late"))
    assert refused.value.status == 503
    recorder.goes_on.set()
    closing.join(30)
    assert [len(one.result(0)) for one in waiting] == [70] * 3


def test_a_fault_in_linking_is_an_answer_and_not_the_end():
    def fails(batch):
        if batch[0].document.doc_id == "bad":
            raise MemoryError
        return [Linked(())] * len(batch)

    queue = LinkQueue(fails, max_waiting=4)
    assert queue.submit(jobs("bad")).result(30) == [Failure("MemoryError")]
    assert queue.submit(jobs("good")).result(30) == [Linked(())]
    queue.close()
