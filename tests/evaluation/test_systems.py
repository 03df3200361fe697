import pytest

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.evaluation.counts import Answer, Ranking
from spacy_angel.evaluation.systems import (
    DocumentAnswers,
    answer_documents,
    baseline_system,
)
from spacy_angel.model.mention import Mention
from spacy_angel.vocabulary.names.identifiers import split_ids


def document(doc_id="1"):
    text = "Breast and ovarian cancer, renal hamartomas and gout. Malaise."
    mentions = [
        ("Breast and ovarian cancer", "D1|D2"),
        ("renal hamartomas", "D3+D4"),
        ("gout", "D5"),
        ("Malaise", ""),
    ]
    return CorpusDocument(
        doc_id,
        text,
        tuple(
            GoldMention(text.index(m), text.index(m) + len(m), m, "Disease", ids)
            for m, ids in mentions
        ),
    )


ANSWERS = {"breast cancer": "D1", "ovarian cancer": "D2", "renal hamartomas": "D3+D4", "gout": "D5"}


def perfect(documents):
    """Knows every mention and every part."""
    for doc in documents:
        answers = []
        for mention in doc.mentions:
            ids = split_ids(ANSWERS.get(mention.text.lower(), mention.concept_ids))
            ranking = Ranking(
                tuple(ids),
                tuple((i,) for i in ids),
                (0.0,) * len(ids),
                tuple((i, 1.0) for i in ids),
            )
            answers.append(Answer(Mention(mention.text), ranking))
        yield DocumentAnswers(answers)


def empty(documents):
    """Finds nothing."""
    for doc in documents:
        yield DocumentAnswers([Answer(Mention(m.text), found=False) for m in doc.mentions])


def parts_of(answered, number):
    return [text for text, _ in answered.mentions[number].parts]


def test_parts_of_a_composite_stand_in_its_place():
    asked = []

    def spy(documents):
        for doc in documents:
            asked.append((doc.text, [m.text for m in doc.mentions]))
            assert all(doc.text[m.start : m.end] == m.text for m in doc.mentions)
            yield from perfect([doc])

    (answered,) = answer_documents([document()], spy, lambda i: i)
    assert [text for text, _ in asked[1:]] == [
        "Breast cancer, renal hamartomas and gout. Malaise.",
        "ovarian cancer, renal hamartomas and gout. Malaise.",
    ]
    assert [mentions for _, mentions in asked[1:]] == [["Breast cancer"], ["ovarian cancer"]]
    assert parts_of(answered, 0) == ["Breast cancer", "ovarian cancer"]
    assert parts_of(answered, 1) == []


def test_parts_that_the_corpus_spells_out_come_first():
    text = "renal failure/crisis"
    mention = GoldMention(0, 20, text, "", "D1|D2", ("renal failure", "renal crisis"))
    (answered,) = answer_documents([CorpusDocument("1", text, (mention,))], perfect, lambda i: i)
    assert parts_of(answered, 0) == ["renal failure", "renal crisis"]


def test_alternate_identifiers_of_one_concept_are_no_composite():
    mention = GoldMention(0, 11, "nose or ear", "", "D1|OMIM:1")
    resolve = {"D1": "D1", "OMIM:1": "D1"}.get
    (answered,) = answer_documents(
        [CorpusDocument("1", "nose or ear", (mention,))], perfect, resolve
    )
    assert answered.mentions[0].gold == ("D1",)
    assert parts_of(answered, 0) == []


def test_known_and_unknown_identifiers():
    (answered,) = answer_documents([document()], empty, {"D1": "X1"}.get)
    assert (answered.mentions[0].gold, answered.mentions[0].known) == (
        ("X1", "D2"),
        (True, False),
    )
    assert (answered.mentions[3].gold, answered.mentions[3].known) == ((), ())


def nothing(mentions, k):
    return [Ranking()] * len(mentions)


@pytest.mark.parametrize("split_composites", [True, False])
def test_documents_stream_through(split_composites):
    """What is read ahead is a batch, whatever the corpus holds."""
    taken = 0

    def corpus():
        nonlocal taken
        while True:
            taken += 1
            yield document(str(taken))

    stream = answer_documents(
        corpus(), baseline_system(nothing), lambda i: i, split_composites=split_composites
    )
    for seen in range(1, 400):
        assert next(stream).mentions[0].doc_id == str(seen)
        assert taken - seen < 70
