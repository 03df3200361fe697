import pytest

from spacy_angel.corpora.documents import GoldMention
from spacy_angel.evaluation.analyses import analyze, name_similarities
from spacy_angel.evaluation.counts import Answer, MentionResult, Ranking, count_result
from spacy_angel.model.mention import Mention
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.lookup.tfidf import TrigramTfidf
from spacy_angel.vocabulary.names.concepts import Concept


def result(text, *gold, name=None, concept=None, label="Disease"):
    """The best name belongs to one concept, the first concept is another."""
    ids = (((name,),) if name else ()), (((concept, 0.9),) if concept else ())
    ranking = Ranking(("name",) * len(ids[0]), ids[0], (0.0,) * len(ids[0]), ids[1])
    mention = GoldMention(0, len(text), text, label)
    return MentionResult("doc", mention, gold, (True,) * len(gold), Answer(Mention(text), ranking))


def test_similarity_is_to_the_nearest_name_of_a_gold_concept():
    names = {"D1": ("heart attack", "myocardial infarction", "MI"), "D2": ("heart failure",)}
    kb = ConceptKB.build(Concept(one, name, tuple(more)) for one, (name, *more) in names.items())
    tfidf = TrigramTfidf().fit(kb.name(i) for i in range(kb.n_names))
    results = [
        result("Heart-attack", "D1"),
        result("heart failures", "D1", "D2"),
        result("zzz", "D1"),
        result("x y", "D7"),
    ]
    nearest = tfidf.pairwise(["heart failures"], ["heart failure"])[0]
    assert name_similarities(results, kb, tfidf) == pytest.approx([1, nearest, 0, 0])


def test_groups_written_out():
    outcomes = [
        count_result(result("m", "D1", name="D1", concept="D1"), 1.0),
        count_result(result("m", "D1", name="D9", concept="D9"), 0.19),
        count_result(result("m", "D1", name="D1", concept="D9", label="Gene"), 0.8),
        count_result(result("m"), 0.9),  # no identifier: does not count
    ]
    groups = analyze(outcomes)
    low, _, middle, _, high = groups["similarity"]
    expected = {"name": "0.0-0.2", "mentions": 1, "errors": 1, "lenient": 0, "strict": 0}
    assert low == expected
    # Figure 4 counts errors leniently: the third is right by its name.
    expected = {"name": "0.8-1.0", "mentions": 2, "errors": 0, "lenient": 100, "strict": 50}
    assert high == expected
    assert middle["strict"] is None
    assert [(g["name"], g["mentions"]) for g in groups["type"]] == [("DISEASE", 2), ("GENE", 1)]
