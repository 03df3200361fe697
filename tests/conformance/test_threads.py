"""A web service calls one `nlp` from many threads: they get what one thread gets."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.tiny_linker import TEXT, make_pipeline

from spacy_angel.vocabulary.names.concepts import Concept

pytestmark = pytest.mark.filterwarnings("ignore:.*W036")
THREADS = 8
DEFINED = "{long} ({short}) and heart attack {i}. {short} with migraine, then aspirin."
TEXTS = [TEXT] + [
    DEFINED.format(long=long, short=short, i=i)
    for i in range(6)
    for long, short in (
        ("Chronic kidney disease", "CKD"),
        ("Sick headache", "SH"),
        ("Spinal muscular atrophy", "SMA"),
        ("Heart failure", "HF"),
    )
]


def seen(doc):
    links = [
        (e.start, e.end, e.label_, e.kb_id_, [(c, round(p, 3)) for c, p in e._.kb_ents])
        for e in doc.ents
    ]
    return links, sorted((a.start, str(a._.long_form)) for a in doc._.abbreviations)


def in_threads(function, items, n=THREADS):
    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(function, items))


@pytest.fixture
def nlp(model, tiny_vocabulary):
    return make_pipeline(model, tiny_vocabulary, "angel_abbreviations", rerank=True)


def test_eight_threads_give_what_one_gives(nlp):
    alone = [seen(nlp(text)) for text in TEXTS]
    assert len({repr(links) for links in alone}) > 4
    for _ in range(3):
        assert in_threads(lambda text: seen(nlp(text)), TEXTS) == alone


def test_the_first_texts_may_come_all_at_once(nlp, model, tiny_vocabulary):
    """Model, vocabulary, trie and indices are opened and compiled at first use: once."""
    config = {"rerank": True, "rewrite": True}
    fresh = make_pipeline(model, tiny_vocabulary, "angel_abbreviations", **config)
    linker = fresh.get_pipe("angel_linker")
    kbs = in_threads(lambda text: (seen(fresh(text)), id(linker.kb)), TEXTS[:THREADS])
    assert len({kb for _, kb in kbs}) == 1
    assert [links for links, _ in kbs] == [seen(fresh(text)) for text in TEXTS[:THREADS]]


def test_one_thread_adds_names_while_others_link(nlp):
    nlp.add_pipe("angel_matcher", before="angel_linker")
    kb = nlp.get_pipe("angel_linker").kb
    expected = [ent.kb_id_ for ent in nlp(TEXT).ents]
    stop = threading.Event()

    def add():
        for i in itertools.count():
            if stop.is_set():
                return i
            kb.add(Concept(f"MY:{i}", f"zzyx{i}", (f"kwarq {i}",), ("T047",)))
            stop.wait(0.005)
            if i % 3 == 0:
                kb.remove(f"MY:{i}")

    with ThreadPoolExecutor(1) as pool:
        adding = pool.submit(add)
        try:
            found = in_threads(lambda _: [e.kb_id_ for e in nlp(TEXT).ents], range(40), 4)
        finally:
            stop.set()
    assert adding.result() > 1
    assert found == [expected] * 40
    assert [c.concept_id for c in kb.find("zzyx1")] == ["MY:1"]
