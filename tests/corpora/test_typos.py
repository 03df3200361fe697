import random

from spacy_angel.corpora.typos import add_typos, choose_typos


def test_letters_are_changed_or_swapped_and_capitals_stay() -> None:
    made = {add_typos("Gout", 1, random.Random(seed)) for seed in range(1500)}
    assert {"Ogut", "Gotu", "Aout", "Goux"} <= made
    assert not made & {"Gout", "Gou", "gout"}


def test_typos_do_not_overlap() -> None:
    for seed in range(50):
        first, second = choose_typos("myocardial infarction", 2, random.Random(seed))
        assert first[1] <= second[0]
    assert choose_typos("myocardial", 0, random.Random(0)) == []
    assert len(choose_typos("MI 2", 5, random.Random(0))) <= 2
