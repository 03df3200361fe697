"""Gold mentions as training data."""

from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.model.mention import Mention
from spacy_angel.training.data.corpus import (
    LabelledMention,
    distinct_mentions,
    label_mentions,
    split_by_text,
)
from spacy_angel.vocabulary.names.concepts import normalize_name
from spacy_angel.vocabulary.names.identifiers import split_ids


def labelled(text: str, *concept_ids: str) -> LabelledMention:
    return LabelledMention(Mention(text), concept_ids or ("D1",))


def test_mentions_are_cut_out_of_their_sentence() -> None:
    golds = (
        GoldMention(0, 3, "MLD", "Disease", "D2|D1"),
        GoldMention(10, 13, "ALD", "Disease", "D9"),
    )
    document = CorpusDocument("1", "MLD and no ALD.", golds, title_end=15)
    known = {"D1": "M:1", "D2": "M:2"}
    found = label_mentions([document], known.get, split_ids)
    [only] = found.mentions
    assert (only.mention.text, only.mention.right.strip()) == ("MLD", "and no ALD.")
    assert only.concept_ids == ("M:1", "M:2")
    assert found.unknown == 1


def test_a_string_with_the_same_label_counts_once() -> None:
    mentions = [labelled("A"), labelled("a"), labelled("a", "D2"), labelled("b")]
    assert distinct_mentions(mentions) == [mentions[0], mentions[2], mentions[3]]


def test_strings_are_dealt_out_by_turns() -> None:
    a, b, a_again, c = labelled("A"), labelled("b"), labelled("a", "D2"), labelled("c")
    assert split_by_text([a, b, a_again, c], 2) == [[a, a_again, c], [b]]
    assert split_by_text([a, b], 3) == [[a], [b], []]


@given(st.lists(st.sampled_from("aAbBcdefg-")), st.integers(1, 4))
def test_no_string_is_in_two_parts(texts: list[str], n: int) -> None:
    mentions = [labelled(text) for text in texts]
    parts = split_by_text(mentions, n)
    assert sorted(map(id, mentions)) == sorted(id(found) for part in parts for found in part)
    strings = [{normalize_name(found.mention.text) for found in part} for part in parts]
    assert sum(map(len, strings)) == len(set().union(*strings))
    assert max(map(len, strings)) - min(map(len, strings)) <= 1
