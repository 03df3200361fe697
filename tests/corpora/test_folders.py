"""Names of files, one for each document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.corpora.formats.folders import FileNames


@pytest.mark.parametrize(
    ("doc_id", "expected"),
    [
        ("25763772", "25763772"),
        ("notes.txt:3", "notes.txt%3A3"),
        ("a/b", "a%2Fb"),
        ("../x", "%2E.%2Fx"),
        (".hidden", "%2Ehidden"),
        ("é", "%C3%A9"),
        ("", "document"),
    ],
)
def test_a_name_is_the_identifier_or_stands_for_it(doc_id: str, expected: str) -> None:
    assert FileNames().of(doc_id) == expected


def test_no_name_is_given_twice() -> None:
    names = FileNames()
    assert [names.of(each) for each in ("a", "A", "a", "a-2")] == ["a", "A-2", "a-3", "a-2-2"]


@given(ids=st.lists(st.text(st.characters(codec="utf-8"), max_size=200), max_size=8))
def test_every_name_can_stand_in_a_folder(ids: list[str]) -> None:
    names = FileNames()
    given_names = [names.of(each) for each in ids]
    assert len({name.lower() for name in given_names}) == len(ids)
    assert all(name.isascii() and "/" not in name and len(name) < 200 for name in given_names)
    assert not any(name.startswith(".") for name in given_names)
