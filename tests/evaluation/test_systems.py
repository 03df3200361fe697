from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.evaluation.counts import Answer
from spacy_angel.evaluation.systems import DocumentAnswers, answer_documents

TEXT = "Breast and ovarian cancer, renal hamartomas and gout. Malaise."
GOLD = {
    "Breast and ovarian cancer": "D1|D2",
    "renal hamartomas": "D3+D4",
    "gout": "D5",
    "Malaise": "",
}


def document(doc_id="1"):
    places = [(TEXT.index(name), name, ids) for name, ids in GOLD.items()]
    mentions = (GoldMention(at, at + len(name), name, "", ids) for at, name, ids in places)
    return CorpusDocument(doc_id, TEXT, tuple(mentions))


def answer(documents):
    for doc in documents:
        yield DocumentAnswers([Answer() for _ in doc.mentions])


def parts_of(answered, number):
    return [text for text, _ in answered.mentions[number].parts]


def test_parts_of_a_composite_stand_in_its_place():
    asked = []

    def spy(documents):
        for doc in documents:
            asked.append((doc.text, [m.text for m in doc.mentions]))
            assert all(doc.text[m.start : m.end] == m.text for m in doc.mentions)
            yield from answer([doc])

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
    (answered,) = answer_documents([CorpusDocument("1", text, (mention,))], answer, lambda i: i)
    assert parts_of(answered, 0) == ["renal failure", "renal crisis"]


def test_alternate_identifiers_of_one_concept_are_no_composite():
    mention = GoldMention(0, 11, "nose or ear", "", "D1|OMIM:1")
    resolve = {"D1": "D1", "OMIM:1": "D1"}.get
    corpus = [CorpusDocument("1", "nose or ear", (mention,))]
    (answered,) = answer_documents(corpus, answer, resolve)
    assert answered.mentions[0].gold == ("D1",)
    assert parts_of(answered, 0) == []
