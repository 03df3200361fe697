import pytest

from spacy_angel import Concept, ConceptKB
from spacy_angel.errors import AngelError
from spacy_angel.linking.settings.short_forms import (
    FILE,
    expand_long_form,
    expand_short_form,
    read_short_forms,
)
from spacy_angel.model.mention import Mention
from spacy_angel.vocabulary.names.concepts import normalize_name

KB = ConceptKB.build(
    [
        Concept("D:1", "Hypertension"),
        Concept("D:2", "Multiple Sclerosis"),
        Concept("D:3", "Myocardial Infarction"),
        Concept("C:1", "Acetaminophen", ("Paracetamol", "Panadol")),
        Concept("G:1", "AF"),
        Concept("D:4", "Atrial Fibrillation"),
        Concept("D:5", "Neoplasms"),
        Concept("C:2", "Infliximab", ("cA2",)),
        Concept("C:3", "Calcium"),
    ]
)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("HTN", "hypertension"),
        ("htn", "htn"),
        ("MS", "multiple sclerosis"),
        ("ms", "ms"),
        ("AF", "AF"),
        ("A-fib", "atrial fibrillation"),
        ("COPD", "COPD"),
        ("AMI", "myocardial infarction"),
        ("Tylenol", "acetaminophen"),
        ("TYLENOL", "acetaminophen"),
        ("Panadol", "Panadol"),
        ("heart attacks", "heart attacks"),
        ("Heart attack", "myocardial infarction"),
        ("hypertension", "hypertension"),
        ("Cancers", "neoplasms"),
        ("hypertensive", "hypertension"),
        # Not the antibody, whose name has the same letters.
        ("Ca2+", "calcium"),
        ("cA2", "cA2"),
    ],
)
def test_a_short_form_is_read_as_a_name_of_the_vocabulary(text, read):
    found = expand_short_form(Mention(text, "a", "b"), KB, lambda t: KB.name_index(t) is not None)
    assert found == Mention(read, "a", "b")


def test_the_list_is_sound():
    lines = [line.split("\t") for line in FILE.read_text("utf8").splitlines()]
    assert {kind for _, kind, _ in lines} == {"short form", "lay word", "brand", "word"}
    assert len(read_short_forms()) == len(lines) > 600
    for _, _, names in lines:
        assert all(name == normalize_name(name) for name in names.split("|"))


def test_the_rest_of_a_document_set_says_what_a_short_form_stands_for(tmp_path):
    file = tmp_path / "long_forms.tsv"
    file.write_text("AF\tshort form\tauricular fibrosis\n")
    assert expand_long_form(Mention("AF", "a", "b"), file) == Mention(
        "auricular fibrosis", "a", "b"
    )
    assert expand_long_form(Mention("af"), file) == Mention("af")


def test_a_faulty_line_is_named(tmp_path):
    file = tmp_path / "long_forms.tsv"
    file.write_text("AF\tshort form\tatrial fibrillation\nMS\tmultiple sclerosis\n")
    with pytest.raises(AngelError, match=r"long_forms.tsv, line 2: .* found 2 cells"):
        read_short_forms(file)
