"""Gold mentions as training data."""

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.training.data.corpus import label_mentions
from spacy_angel.vocabulary.names.identifiers import split_ids


def test_mentions_are_cut_out_of_their_sentence() -> None:
    golds = (
        GoldMention(0, 3, "MLD", "Disease", "D2|D1"),
        GoldMention(10, 13, "ALD", "Disease", "D9"),
    )
    document = CorpusDocument("1", "MLD and no ALD.", golds, title_end=15)
    known = {"D1": "M:1", "D2": "M:2"}
    [only], unknown = label_mentions([document], known.get, split_ids)
    assert (only.mention.text, only.mention.right.strip()) == ("MLD", "and no ALD.")
    assert only.concept_ids == ("M:1", "M:2")
    assert unknown == 1
