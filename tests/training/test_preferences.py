import json
from types import SimpleNamespace

import pytest
from support.tiny_training import CONCEPTS, GOLD, PAIRS

from spacy_angel.model.mention import Mention
from spacy_angel.training.data import preferences
from spacy_angel.training.data.batches import PreferencePair
from spacy_angel.training.data.development import LabelledMention
from spacy_angel.training.data.preferences import mine_pairs, rank_pairs, read_pairs, write_pairs
from spacy_angel.training.settings.config_tables import PairSettings
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.lookup.tfidf import TrigramTfidf


@pytest.fixture
def kb():
    return ConceptKB.build(CONCEPTS)


@pytest.mark.parametrize(
    ("right", "above", "every"),
    [
        ([0, 0, 1, 0, 1], [(2, 0), (2, 1), (4, 0), (4, 1), (4, 3)], 6),
        ([1, 0, 1, 0, 0], [(0, 1), (2, 1)], 6),
        ([1, 1, 0, 0, 1], [(0, 2), (4, 2), (4, 3)], 6),
        ([1, 1], [], 0),
        ([], [], 0),
    ],
)
def test_pairs_of_ranks(right, above, every):
    assert rank_pairs(right) == above
    assert rank_pairs(right, "errors") == [pair for pair in above if pair[0] != 0]
    assert set(rank_pairs(right, "all")) >= set(above)
    assert len(rank_pairs(right, "all")) == every


def test_mining_pairs_what_is_predicted(kb, monkeypatch):
    predicted = {
        "renal pain": ["heart attack", "kidney colic"],
        "cardiac arrest": ["heart attack", "migraine"],
        "weak heart": ["migraine", "heart attack"],
        "bad headache": ["migraine"],
    }
    monkeypatch.setattr(
        preferences,
        "predict",
        lambda mentions, *_, **__: [list(map(kb.name_index, predicted[m.text])) for m in mentions],
    )
    tfidf = TrigramTfidf([kb.name(i) for i in range(kb.n_names)])
    found = mine_pairs(GOLD, SimpleNamespace(), kb, tfidf, PairSettings(without_right="positive"))
    assert [(p.mention.text, p.chosen, p.rejected) for p in found] == [
        ("renal pain", "kidney colic", "heart attack"),
        ("cardiac arrest", "heart attack", "migraine"),
        ("weak heart", "heart failure", "migraine"),
        ("weak heart", "heart failure", "heart attack"),
    ]
    twice = [*GOLD, LabelledMention(Mention("Renal PAIN", "again"), ("T:1",))]
    monkeypatch.setitem(predicted, "Renal PAIN", predicted["renal pain"])
    counts = [
        len(mine_pairs(twice, SimpleNamespace(), kb, tfidf, PairSettings(distinct=distinct)))
        for distinct in (False, True)
    ]
    assert counts == [3, 2]


def test_pair_files_can_be_read_by_people_and_by_us(tmp_path):
    path = tmp_path / "pairs.jsonl"
    pairs = [*PAIRS, PreferencePair(Mention("é", "", ""), "ö", "ü")]
    write_pairs(path, pairs)
    assert read_pairs(path) == pairs
    assert json.loads(path.read_text("utf8").splitlines()[0]) == {
        "mention": {"text": "renal pain", "left": "a case of", "right": "at night"},
        "chosen": "renal colic",
        "rejected": "heart attack",
    }
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.jsonl"]
