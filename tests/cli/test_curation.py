"""The commands of curation: what they print, and how they end."""

import pytest
from support.helpers import run

from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

OLD = [
    Concept("M:1", "Coronary Artery Disease", ("CAD",), ("T047",)),
    Concept("M:2", "Myocardial Infarction", ("heart attack",), ("T047",)),
    Concept("M:3", "Influenza A", (), ("T047",)),
]
# The next release: a name more, a concept merged, another gone.
NEW = [
    Concept("M:1", "Coronary Artery Disease", ("CAD", "coronary disease"), ("T047",)),
    Concept("M:4", "Myocardial Ischemia", ("heart attack",), ("T047",), None, ("M:2",)),
]
RULES = """\
action\tstring\tconcept\tauthor\tdate\treason
add\tcoronary disease\tM:1\tjd\t2024-05-31\tused in our notes
prefer\tAMI\tM:2\tjd\t2024-05-31\t
exclude\t\tM:3\tjd\t2024-05-31\ttested, never had
exclude\twas\t\tjd\t2024-05-31\t
"""


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.tsv"
    path.write_text(RULES, "utf8")
    return path


def test_after_an_update_it_is_told_which_rules_still_hold(tmp_path, rules):
    for name, concepts in (("old", OLD), ("new", NEW)):
        ConceptKB.build(concepts, tmp_path / name)
    code, out, err = run("kb", "check", rules, "--kb", tmp_path / "old")
    assert (code, err) == (0, "")
    assert out.split("\n")[:5] == [
        *("     0 in conflict", "     0 obsolete", "     0 discrepant"),
        *("     0 superfluous", "     4 in effect"),
    ]
    code, out, err = run("kb", "check", rules, "--kb", tmp_path / "new")
    assert code == 1
    assert "1 obsolete" in out
    assert "3   discrepant    “AMI” means M:2" in out
    assert "M:2 leads to M:4 (Myocardial Ischemia) now" in out
    assert "the vocabulary has no M:3" in out
    assert "it changes nothing" in out
    assert "“was”" not in out
    assert (
        "“was” is never linked" in run("kb", "check", rules, "--kb", tmp_path / "new", "--all")[1]
    )
