"""A service does not grow with what it is sent: labels, words and texts without end."""

import gc

import pytest
from support.tiny_linker import make_pipeline

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.service.linking import Job, PipelineLinker

_PLAIN = (str, tuple, frozenset, dict)


@pytest.fixture(scope="module")
def link(model, vocabulary):
    made = make_pipeline(model, vocabulary, rerank=True, types_by_label={"DISEASE": ["T047"]})
    pipeline = PipelineLinker(made, made.get_pipe("angel_linker"))

    def link(*jobs):
        with made.memory_zone():
            return [mention for _, mentions in pipeline.link(jobs) for mention in mentions]

    return link


def kept(mark):
    """RETURNS (set[str]): all texts in memory that begin with a mark."""
    gc.collect()
    found, seen, objects = set(), set(), gc.get_objects()
    while objects:
        one = objects.pop()
        if type(one) is str:
            if one.startswith(mark) and one != mark:
                found.add(one)
        elif id(one) not in seen:
            seen.add(id(one))
            # What holds nothing but texts and numbers is none of the collector's own objects.
            objects += [o for o in gc.get_referents(one) if type(o) in _PLAIN]
    return found


def test_of_labels_that_callers_make_up_only_the_last_ones_are_kept(link):
    for n in range(6):
        mentions = [GoldMention(0, 3, "abc", f"made up {n} {i}") for i in range(1000)]
        linked = link(Job(CorpusDocument("1", "abc", tuple(mentions)), given=True))
        assert {mention.label for mention in linked} == {m.label for m in mentions}
        del mentions, linked
    # 4,096 in the tables of labels, and 200 that were told.
    assert 1000 <= len(kept("made up ")) <= 4300


def test_of_long_words_and_mentions_nothing_is_kept(link):
    for n in range(3):
        word = f"zqx{n}" + "ab" * 400
        text = f"{word} heart attack {word} aspirin {'y ' * 300}{word}"
        mention = GoldMention(0, len(text), text, "DISEASE")
        some = GoldMention(0, len(word), word, "DISEASE")
        assert link(Job(CorpusDocument("1", text)), Job(CorpusDocument("2", text)))
        assert link(Job(CorpusDocument("3", text, (mention, some)), given=True, explain=True))
        del word, text, mention, some
    assert kept("zqx") == set()
