import pytest

from spacy_angel.linking.ranking.context import content_words, context_overlap, words_around
from spacy_angel.model.mention import Mention


def said(names: list[str], around: set[str], mention: str) -> float:
    return context_overlap(content_words(names), around, mention)


def test_words_around_are_those_of_both_sides():
    mention = Mention("TS", "Thymidylate synthases, and", "type II inhibitors.")
    assert words_around(mention) == {"thymidylate", "synthase", "and", "type", "inhibitor"}


def test_a_name_in_other_words_counts_by_how_rare_its_words_are():
    around = {"zzthymidylate", "with"}
    # A word that no abstract has weighs 1, the one that most abstracts have 0.
    assert said(["zzthymidylate zzsynthase"], around, "ts") == pytest.approx(1 / 2)
    assert said(["with zzthymidylate"], around, "ts") == pytest.approx(1.0)
    assert said(["with"], around, "ts") == 0.0
    assert said(["zzother"], around, "ts") == 0.0
    assert said([], around, "ts") == 0.0


def test_the_best_name_counts():
    around = {"zzthymidylate", "zzsynthase"}
    names = ["zzother zzthymidylate", "zzthymidylate zzsynthase", "zztyms"]
    assert said(names, around, "ts") == pytest.approx(1.0)


def test_the_mention_says_nothing_of_itself():
    around = {"zzsynthase", "zzthymidylate"}
    assert said(["zzsynthase"], around, "zzsynthases") == 0.0
    assert said(["zzsynthase zzother"], around, "zzsynthase") == 0.0
    assert said(["zzsynthase zzthymidylate"], around, "zzsynthase") == pytest.approx(1.0)


def test_the_first_names_are_looked_at():
    assert content_words(["zzfirst of ii", *["x"] * 47, "zzlast"]) == [
        frozenset({"zzfirst"}),
        *[frozenset()] * 47,
    ]
