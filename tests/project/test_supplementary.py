"""Which supplementary records ship, under which names, and which brands."""

import gzip
import json
import sys
from pathlib import Path

import pytest
from support.helpers import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from supplementary import brands, old_identifiers, supplementary

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.vocabulary.names.concepts import Concept

DESCRIPTORS = [
    Concept("MESH:D000001", "Snarkine", ("snark oil",), ("D",)),
    Concept("MESH:D000002", "Fever, Tulgey", ("tulgey fever",), ("C",)),
    Concept("MESH:D000003", "Wabe", (), ("A",)),
]
HEAD = "subject_id\tsubject_label\tpredicate_id\tobject_id\tobject_label\n"
# Twenty rare diseases of one thousand make all of it diseases.
RARE = "".join(f"MONDO:{i}\trare {i}\tskos:exactMatch\tmesh:C5350{i:02d}\t\n" for i in range(20))
ORDO = {
    "graphs": [
        {
            "nodes": [
                {
                    "id": "http://www.orpha.net/ORDO/Orphanet_7",
                    "lbl": "Jubjub syndrome",
                    "meta": {"synonyms": [{"val": "Bird's disease"}]},
                }
            ]
        }
    ]
}
FILES = {
    "chemical/mesh_supplementary_names_partial.tsv.gz": (
        "C000011\tboojumab\nC000012\tmimsy protein, human\nC000013\tfrumious acid\n"
        "C000014\ttoveol\nC000015\tSnark Oil\nC535077\tBandersnatch disease\n"
    ),
    "chemical/pubchem_mesh_map.tsv.gz": "7\tC000016\n8\tC000013\n",
    "chemical/clulab_PubChem.tsv.gz": (
        "1,2,3-Momerath\t7\nMomerathine\t7\nMOME\t7\nwith\t7\nfrumious acids\t8\nbander acid\t8\n"
    ),
    "chemical/drugbank_vocabulary_CC0.csv.gz": (
        "DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key\n"
        "DB1,,Boojumab,,,boojumab | Boojumabum | anti-boojum antibody,\n"
        "DB2,,Snarkine,,,Oil of snark,\n"
    ),
    "chemical/rxnorm_prescribable_2025-10_ingredients_brands_noA.tsv.gz": (
        "1\tIN\tboojumab\n2\tBN\tVorpal\n3\tBN\tSnicker\n4\tIN\tSnarkine\n"
        "5\tPIN\tboojumab citrate\n6\tBN\tPercocet\n7\tBN\tSnarkine\n"
    ),
    "chemical/rxnorm_brand_to_ingredient_noA.tsv.gz": "2\t1\n2\t5\n3\t1\n3\t4\n6\t1\n7\t1\n",
    "disease/mondo_mesh.sssom.tsv.gz": HEAD
    + RARE
    + "MONDO:99\ttulgey\tskos:broadMatch\tmesh:C000014\t\n"
    + "MONDO:98\ttulgey disorder\tskos:exactMatch\tmesh:D000002\t\n",
    "disease/mondo_orphanet.sssom.tsv.gz": HEAD
    + "MONDO:7\trare 7\tskos:exactMatch\tOrphanet:7\t\n",
    "disease/mondo_ncit.sssom.tsv.gz": HEAD,
    "disease/mondo_doid.sssom.tsv.gz": HEAD + "MONDO:98\t\tskos:exactMatch\tDOID:1\t\n",
    "disease/mondo_2026_labels.tsv.gz": "MONDO:0\tmanxome fever\n",
    "disease/ordo-2_6-2018-07-12.json.gz": json.dumps(ORDO),
    "disease/ncit-disease-2018-06-08.json.gz": json.dumps({"graphs": [{"nodes": []}]}),
}
ACTING = (
    "id\tname\tpharmacological_actions\n"
    "C000018\tgyrimble\tHypnotics\nC000019\tmome protein, human\tToxins\n"
    "C000011\tBoojumab\tHypnotics\nD000001\tSnarkine\tHypnotics\n"
)
DOID = "format-version: 1.2\n\n[Term]\nid: DOID:1\nname: tulgey wood disease\n"


@pytest.fixture(scope="module")
def vocab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "vocab"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(gzip.compress(text.encode()))
    acting = folder.parent / "more/vocab/mesh_2024_pharm_action_substances.tsv.gz"
    acting.parent.mkdir(parents=True)
    acting.write_bytes(gzip.compress(ACTING.encode()))
    (folder.parent / "doid").mkdir()
    (folder.parent / "doid/doid.obo").write_text(DOID, "utf8")
    return folder


def abstract(text: str, concept_id: str, label: str = "Chemical") -> CorpusDocument:
    return CorpusDocument("1", text, (GoldMention(0, len(text), text, label, concept_id),))


def test_drugs_diseases_and_what_texts_speak_of(vocab: Path) -> None:
    annotated = [
        abstract("momerathine", "MESH:C000016"),
        abstract("galumph", "MESH:C000017", "Gene"),
    ]
    texts = ["A bath in Frumious-Acid; snark oil."]
    found = {c.concept_id: c for c in supplementary(DESCRIPTORS, vocab, annotated, texts)}
    rare = {f"MESH:C5350{i:02d}" for i in range(20)} | {"MESH:C535077"}
    others = {"MESH:C000011", "MESH:C000013", "MESH:C000016", "MESH:C000018"}
    assert {*found} == rare | others | {"MESH:D000001", "MESH:D000002"}
    # A drug with DrugBank's names, but for those two letters away; a name that a text has.
    assert found["MESH:C000011"].names == ("boojumab", "anti-boojum antibody")
    assert found["MESH:C000013"].names == ("frumious acid", "bander acid")
    # With a pharmacological action, and no protein.
    assert found["MESH:C000018"].names == ("gyrimble",)
    # No structure, no abbreviation, no common word; what texts say.
    assert found["MESH:C000016"].names == ("Momerathine",)
    assert {found[i].types for i in others} == {("D",)}
    assert {found[i].types for i in rare} == {("C",)}
    assert found["MESH:C535000"].names == ("manxome fever",)
    assert found["MESH:C535007"].names == ("rare 7", "Jubjub syndrome", "Bird's disease")
    # Numbered among them.
    assert found["MESH:C535077"].names == ("Bandersnatch disease",)
    # Further names of descriptors, and the record that has a name of one.
    assert found["MESH:D000001"] == Concept(
        "MESH:D000001", "Snarkine", ("Oil of snark",), ("D",), alternate_ids=("MESH:C000015",)
    )
    assert found["MESH:D000002"].aliases == ("tulgey disorder", "tulgey wood disease")


def test_a_name_of_two_records_is_that_of_which_texts_say_it(vocab: Path) -> None:
    both = abstract("bander acid", "MESH:C000016"), abstract("bander acid", "MESH:C000016")
    found = {c.concept_id: c for c in supplementary(DESCRIPTORS, vocab, both, ["frumious acid"])}
    # Another vocabulary's word is before that of texts.
    assert found["MESH:C000013"].names == ("frumious acid", "bander acid")
    assert found["MESH:C000016"].names == ("Momerathine",)


def test_brands_of_one_ingredient(vocab: Path) -> None:
    concepts = [*DESCRIPTORS, Concept("MESH:C000011", "boojumab", (), ("D",))]
    # Not of two ingredients, nor of one beside what the table lacks, nor another drug's name.
    assert [*brands(concepts, vocab / "chemical")] == [
        Concept("MESH:C000011", "boojumab", ("Vorpal",))
    ]


def test_records_that_have_become_descriptors(vocab: Path) -> None:
    documents = [
        abstract("snark oil", "MESH:C000099"),
        abstract("the oil", "MESH:C000099"),
        abstract("snarkine", "MESH:C000011"),
        abstract("tulgey fever", "MESH:C000098", "Disease"),
    ]
    found = [*old_identifiers(DESCRIPTORS, vocab, documents)]
    # C000011 is a record still, and a disease's name says nothing.
    assert [(c.concept_id, c.alternate_ids) for c in found] == [("MESH:D000001", ("MESH:C000099",))]
