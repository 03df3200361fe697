import pytest

from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.corpora.noise import Noise
from spacy_angel.errors import AngelError
from spacy_angel.evaluation.noise_curve import add_noise_to, curve_point, noise_levels


def test_levels():
    assert noise_levels(["typo", "ocr:3", "typo:2"]) == [
        *(Noise("typo", 1), Noise("typo", 2), Noise("ocr", 3))
    ]
    assert noise_levels([]) == []


@pytest.mark.parametrize("value", ["typo:", "typo:x", "typo:0", ":1", "", "typo:-1", "typo:1:2"])
def test_other_forms_are_named(value):
    with pytest.raises(AngelError, match=r"needs a kind, e.g."):
        noise_levels([value])


def test_unknown_kinds_are_named():
    with pytest.raises(AngelError, match="'tpyo'"):
        noise_levels(["tpyo"])


def test_mentions_that_are_evaluated_and_have_noise_are_counted():
    text = "anemia, gout and aspirin"
    mentions = (
        GoldMention(0, 6, "anemia", "Disease"),
        GoldMention(8, 12, "gout", "Disease"),
        GoldMention(17, 24, "aspirin", "Chemical"),
    )
    documents = [CorpusDocument("1", text, mentions)]
    report = CorpusReport()
    (noisy,) = add_noise_to(documents, Noise("spelling"), 0, (), report)
    assert noisy.text == "anaemia, gout and aspirin"
    assert report.counts["mentions_with_noise"] == 1
    report = CorpusReport()
    list(add_noise_to(documents, Noise("typo"), 0, {"Chemical"}, report))
    assert report.counts["mentions_with_noise"] == 1
    metrics = {
        **{"mentions": 3, "nil": 1, "lenient": {"acc@1": 1.0}, "strict": {"acc@1": 2.0}},
        "kb_id": {"acc@1": 3.0},
        "run": {"corpus_report": report.to_dict()},
    }
    assert curve_point(metrics) == {"lenient": 1, "strict": 2, "kb_id": 3, "changed": 25}
