"""SSSOM tables: which mappings are taken, what becomes of them in a vocabulary."""

import gzip

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.build import build_vocabulary
from spacy_angel.vocabulary.sources.mappings import Mappings

TABLE = """\
# curie_map:
#   MONDO: http://purl.obolibrary.org/obo/MONDO_
#   chebi: http://purl.obolibrary.org/obo/CHEBI_
#   mesh: http://identifiers.org/mesh/
# license: https://creativecommons.org/publicdomain/zero/1.0/
# mapping_set_id: https://snark.example/mappings
subject_id\tsubject_label\tpredicate_id\tpredicate_modifier\tobject_id\tmapping_justification
MONDO:0005015\tdiabetes\tskos:exactMatch\t\tmesh:D003920\tsemapv:ManualMappingCuration
MONDO:0005015\tdiabetes\towl:equivalentClass\t\tDOID:9351\tsemapv:ManualMappingCuration
MONDO:0005147\ttype 1\tskos:broadMatch\t\tmesh:D003920\tsemapv:ManualMappingCuration
MONDO:0005148\ttype 2\tskos:exactMatch\tNot\tmesh:D003922\tsemapv:ManualMappingCuration
chebi:15365\t"aspirin, ""ASA\"""\tskos:exactMatch\t\tmesh:D001241\tsemapv:LexicalMatching
MONDO:0000001\tdisease\tskos:exactMatch\t\thttps://snark.example/1\tsemapv:LexicalMatching
"""


def write(path, text=TABLE):
    path.write_text(text, "utf8")
    return path


def ids(mappings, *concepts):
    return {c.concept_id: c.alternate_ids for c in mappings.added_to(concepts)}


def test_only_what_is_the_same_is_taken_and_the_rest_is_counted(tmp_path):
    mappings = Mappings(write(tmp_path / "a.sssom.tsv"))
    report = mappings.report
    assert report.mappings == 3
    assert report.skipped == {"skos:broadMatch": 1, "denied": 1, "no identifier": 1}
    assert report.licence == "https://creativecommons.org/publicdomain/zero/1.0/"
    assert ids(
        mappings,
        Concept("MESH:D003920", "Diabetes Mellitus"),
        Concept("MONDO:0005015", "diabetes mellitus", alternate_ids=("DOID:9351", "MONDO:9")),
        # By an alternate identifier, and with a prefix that the table writes in another way.
        Concept("X:1", "Aspirin", alternate_ids=("CHEBI:15365",)),
        Concept("MESH:D001241", "Aspirin"),
        Concept("MONDO:0005148", "type 2 diabetes"),
    ) == {
        "MESH:D003920": ("MONDO:0005015",),
        "MONDO:0005015": ("DOID:9351", "MONDO:9", "MESH:D003920"),
        "X:1": ("CHEBI:15365", "MESH:D001241"),
        "MESH:D001241": ("CHEBI:15365",),
        "MONDO:0005148": (),
    }
    assert (report.mapped_concepts, report.added_ids) == (4, 4)


def test_other_ways_of_writing_metadata_and_identifiers(tmp_path):
    text = """#curie_map:
#  GO: "http://purl.obolibrary.org/obo/GO_"
#mapping_set_description: Mappings of GO: EC, RHEA
#mapping_date: 2024-06-31
#license: CC-BY
subject_id\tpredicate_id\tobject_id
http://purl.obolibrary.org/obo/GO_0000010\thttp://www.w3.org/2004/02/skos/core#exactMatch\tEC:2.5.1.30
"""
    mappings = Mappings(write(tmp_path / "go.sssom.tsv", text))
    assert ids(mappings, Concept("GO:0000010", "x")) == {"GO:0000010": ("EC:2.5.1.30",)}
    assert mappings.report.licence == "CC-BY"


def test_a_mapping_joins_the_concepts_of_two_files(tmp_path):
    mondo = write(tmp_path / "mondo.tsv", "MONDO:0005015\tdiabetes\tsugar\n")
    mesh = write(tmp_path / "mesh.tsv", "MESH:D003920\tDiabetes Mellitus\t\n")
    packed = tmp_path / "a.sssom.tsv.gz"
    packed.write_bytes(gzip.compress(TABLE.encode()))
    kb = build_vocabulary([mondo, mesh], tmp_path / "kb", mappings=[packed])
    (concept,) = kb
    assert concept.concept_id == "MONDO:0005015"
    assert concept.names == ("diabetes", "sugar", "Diabetes Mellitus")
    assert kb.resolve("DOID:9351") == "MONDO:0005015"
    record = kb.meta["sources"][-1]
    assert (record["format"], record["mappings"], record["mapped_concepts"]) == ("sssom", 3, 2)
    assert record["skipped"]["skos:broadMatch"] == 1
    assert len(record["sha256"]) == 64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\nMONDO:1\tmesh:D1\n", "line 1: expected a line with the columns subject_id"),
        ("", "line 1: expected a line"),
        ("#a: 1\nsubject_id\tpredicate_id\tobject_id\nMONDO:1\tmesh:D1\n", "line 3: expected 3"),
    ],
)
def test_what_is_no_such_table_is_told(tmp_path, text, message):
    with pytest.raises(AngelError, match=message):
        Mappings(write(tmp_path / "a.sssom.tsv", text))
