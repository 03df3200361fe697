"""Clinical corpora → labels of the recogniser (`tools/build_clinical_corpora.py`)."""

import gzip
import json
from pathlib import Path

import pytest
from build_clinical_corpora import from_json_lines, labels_of

NAMES = {
    "DISEASE": frozenset({"snark fever"}),
    "PHENOTYPE": frozenset({"snark fever"}),
    "CHEMICAL": frozenset({"boojumol"}),
    "SPECIES": frozenset({"snark"}),
}


@pytest.mark.parametrize(
    ("kind", "text", "labels"),
    [
        # A name of the vocabulary, in the plural as well; it may also be of the species in it.
        ("Condition", "Snark fevers", ["DISEASE", "SPECIES?", "PHENOTYPE"]),
        ("Condition", "pregnant", ["DISEASE?", "PHENOTYPE?"]),
        ("Drug", "boojumol", ["CHEMICAL", "GENE?", "SPECIES?"]),
        ("Measurement", "ALT", ["CHEMICAL?", "GENE?"]),
        ("Qualifier", "severe", []),
    ],
)
def test_what_the_vocabulary_has_is_a_mention_and_what_else_is_marked_open(kind, text, labels):
    assert [*labels_of(kind, text, NAMES, whole=True)] == labels


def test_a_mention_with_a_gap_is_open_from_its_first_to_its_last_character(tmp_path: Path) -> None:
    path = tmp_path / "chia.jsonl.gz"
    # The parts of a mention do not always stand in the order of the text.
    mentions = [["Condition", None, [[12, 17], [0, 5]]]]
    record = {"id": "NCT1_inc", "text": "snark or bad fever", "mentions": mentions}
    path.write_bytes(gzip.compress(json.dumps(record).encode()))
    (document,) = from_json_lines("chia", path, NAMES)
    assert document.doc_id == "chia:NCT1_inc"
    assert {(m.start, m.end, m.label) for m in document.mentions} == {
        (0, 17, "DISEASE?"),
        (0, 17, "SPECIES?"),
        (0, 17, "PHENOTYPE?"),
    }
