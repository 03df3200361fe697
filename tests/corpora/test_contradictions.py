"""Where a corpus contradicts itself."""

from spacy_angel.corpora.contradictions import find_contradictions
from spacy_angel.corpora.documents import CorpusDocument, GoldMention


def document(doc_id: str, *mentions: tuple[str, str, str]) -> CorpusDocument:
    text = " ".join(mention for mention, *_ in mentions)
    gold, start = [], 0
    for mention, label, ids in mentions:
        gold.append(GoldMention(start, start + len(mention), mention, label, ids))
        start += len(mention) + 1
    return CorpusDocument(doc_id, text, tuple(gold))


def test_one_string_with_several_identifiers_is_found() -> None:
    found = find_contradictions(
        [
            document("1", ("cold", "D", "M:1"), ("flu", "D", "M:5")),
            document("2", ("Cold", "D", "M:1"), ("cold", "D", "M:2")),
            document("3", ("COLD", "D", ""), ("flu", "D", "M:5"), ("flu", "D", "M:5")),
            document("4", ("grippe", "D", "M:5")),
            document("5", ("grippe", "D", "M:6")),
        ]
    )
    cold, grippe = found
    assert (cold.string, cold.label, cold.in_doubt) == ("cold", "D", 2)
    assert [(r.concept_ids, r.mentions, r.documents) for r in cold.readings] == [
        ("M:1", 2, ("1", "2")),
        ("M:2", 1, ("2",)),
        ("", 1, ("3",)),
    ]
    assert cold.in_one_document == ("2",)
    assert (grippe.string, grippe.in_one_document, grippe.in_doubt) == ("grippe", (), 1)


def test_other_labels_and_another_order_are_no_contradiction() -> None:
    found = find_contradictions(
        [
            document("1", ("cold", "D", "M:1"), ("a or b", "D", "M:1|M:2"), ("+", "D", "M:8")),
            document("2", ("cold", "T", "M:2"), ("a or b", "D", "M:2+M:1"), ("+", "D", "M:9")),
        ]
    )
    assert found == []
