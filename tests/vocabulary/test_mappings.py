"""SSSOM tables: which mappings are taken, what becomes of them in a vocabulary."""

import gzip

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.sources.build import build_vocabulary

TABLE = """\
# curie_map:
#   chebi: http://purl.obolibrary.org/obo/CHEBI_
#   mesh: http://identifiers.org/mesh/
# license: https://creativecommons.org/publicdomain/zero/1.0/
subject_id\tsubject_label\tpredicate_id\tpredicate_modifier\tobject_id\tmapping_justification
MONDO:0005015\tdiabetes\tskos:exactMatch\t\tmesh:D003920\tsemapv:ManualMappingCuration
MONDO:0005015\tdiabetes\towl:equivalentClass\t\tDOID:9351\tsemapv:ManualMappingCuration
MONDO:0005147\ttype 1\tskos:broadMatch\t\tmesh:D003920\tsemapv:ManualMappingCuration
MONDO:0005148\ttype 2\tskos:exactMatch\tNot\tmesh:D003922\tsemapv:ManualMappingCuration
chebi:15365\t"aspirin, ""ASA\"""\tskos:exactMatch\t\tmesh:D001241\tsemapv:LexicalMatching
MONDO:0000001\tdisease\tskos:exactMatch\t\thttps://snark.example/1\tsemapv:LexicalMatching
http://purl.obolibrary.org/obo/GO_0000010\tx\thttp://www.w3.org/2004/02/skos/core#exactMatch\t\tEC:2.5\t
"""


def test_exact_matches_are_further_identifiers_and_join_concepts(tmp_path):
    mondo, mesh = tmp_path / "mondo.tsv", tmp_path / "mesh.tsv"
    mondo.write_text("MONDO:0005015\tdiabetes\tsugar\nMONDO:0005148\ttype 2\t\nGO:0000010\tx\t\n")
    mesh.write_text("MESH:D003920\tDiabetes Mellitus\t\nMESH:D001241\tAspirin\t\n")
    packed = tmp_path / "a.sssom.tsv.gz"
    packed.write_bytes(gzip.compress(TABLE.encode()))
    kb = build_vocabulary([mondo, mesh], tmp_path / "kb", mappings=[packed])
    assert {c.concept_id: c.alternate_ids for c in kb} == {
        "MONDO:0005015": ("MESH:D003920", "DOID:9351"),
        "MONDO:0005148": (),
        "GO:0000010": ("EC:2.5",),
        # The prefix as OBO spells it.
        "MESH:D001241": ("CHEBI:15365",),
    }
    assert kb["MESH:D003920"].names == ("diabetes", "sugar", "Diabetes Mellitus")
    record = kb.meta["sources"][-1]
    assert (record["format"], len(record["sha256"])) == ("sssom", 64)
    assert record["skipped"] == {
        "mappings that are no exact matches": 2,
        "mappings without identifiers": 1,
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\nMONDO:1\tmesh:D1\n", "line 1: expected a line with the columns subject_id"),
        ("", "line 1: expected a line"),
        ("#a: 1\nsubject_id\tpredicate_id\tobject_id\nMONDO:1\tmesh:D1\n", "line 3: expected 3"),
    ],
)
def test_what_is_no_such_table_is_told(tmp_path, text, message):
    file, own = tmp_path / "a.sssom.tsv", tmp_path / "own.tsv"
    file.write_text(text)
    own.write_text("MY:1\tone\n")
    with pytest.raises(AngelError, match=message):
        build_vocabulary([own], None, mappings=[file])
