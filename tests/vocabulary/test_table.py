"""Tables of concepts: CSV, TSV, Excel and Parquet."""

import warnings

import pytest
from support.helpers import ROOT

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.build import build_vocabulary
from spacy_angel.vocabulary.sources.formats.records import VocabularyReport
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

FIXTURE = ROOT / "tests/fixtures/vocabularies/table.csv"
CALCIMYCIN = Concept("MESH:D000001", "Calcimycin", ("A-23187",), ("Chemical",))


def read(path, text, format=None, **options):
    path.write_text(text, encoding="utf8")
    report = VocabularyReport()
    return list(read_vocabulary(path, format, report=report, **options)), report


def test_columns_are_guessed_and_told():
    report = VocabularyReport()
    list(read_vocabulary(FIXTURE, report=report))
    assert report.columns == {
        "id": "Code",
        "name": "Preferred name",
        "synonyms": "Synonyms",
        "type": "Semantic type",
        "definition": "Definition",
    }


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("id;name;alias;type\nD000001;Calcimycin;A-23187;Chemical\n", None),
        ("id\tname\tsynonyms\ttype\r\nD000001\tCalcimycin\tA-23187\tChemical\r\n", None),
        ("type\taliases\tlabel\tconceptId\nChemical\tA-23187\tCalcimycin\tD000001\n", None),
        ("\ufeff\nID,Term,Alt Label,Category,Owner\n\nD000001,Calcimycin,A-23187,Chemical,", None),
        ("id,name,type\nD000001,Calcimycin|A-23187,Chemical\n", None),
        (
            "Key,What,Or,And,Kind\nD000001,Calcimycin,A-23187,,Chemical\n",
            "id=Key,name=What,synonyms=Or,synonyms=And,type=Kind",
        ),
        ("x\tD000001\tCalcimycin\tA-23187\tChemical\n", "id=2,name=3,synonyms=4,type=5"),
        ("id,name,x,y\nD000001,Calcimycin,A-23187,Chemical\n", "id=1,name=2,synonyms=3,type=4"),
        ("# ID\tName\tSynonyms\tTypes\nD000001\tCalcimycin\tA-23187\tChemical\n", None),
    ],
)
@pytest.mark.filterwarnings("ignore:.*the file may be cut")
def test_columns_and_separators(text, columns, tmp_path):
    options = {} if columns is None else {"columns": columns}
    concepts, _ = read(tmp_path / "table", text, "table", **options)
    assert concepts == [CALCIMYCIN]


# How tools write terms with their synonyms, a synonym a row.
GILDA = """norm_text\ttext\tdb\tid\tentry_name\tstatus\tsource\torganism
mek\tMEK\tFPLX\tMEK\tMEK\tassertion\tfamplex\t
map2k1\tMAP2K1\tHGNC\t6840\tMAP2K1\tname\thgnc\t9606
mek1\tMEK1\tHGNC\t6840\tMAP2K1\tsynonym\thgnc\t9606
"""
SSSLM = """text\tcurie\tname\tpredicate\ttype
nitric oxide\tchebi:16480\tnitric oxide\trdfs:label\t
nitrogen monoxide\tchebi:16480\tnitric oxide\toboInOwl:hasExactSynonym\t
NO\tchebi:16480\tnitric oxide\toboInOwl:hasRelatedSynonym\t
"""
MEDCAT = """cui,name,ontologies,name_status,type_ids
C0027051,heart attack,MTH,A,T047
C0015967,fever,MTH,P,T184
C0027051,myocardial infarction,MTH,P,T047
"""
OMOP_SYNONYMS = """concept_id\tconcept_synonym_name\tlanguage_concept_id
4329847\tHeart attack\t4180186
4329847\tCardiac infarction\t4180186
"""


@pytest.mark.parametrize(
    ("text", "concept", "unused"),
    [
        (GILDA, Concept("HGNC:6840", "MAP2K1", ("MEK1",)), "norm_text, status, source, organism"),
        (
            SSSLM,
            Concept(
                "chebi:16480",
                "nitric oxide",
                ("nitrogen monoxide", "NO"),
                scopes=(("nitrogen monoxide", "EXACT"), ("NO", "RELATED")),
            ),
            None,
        ),
        (
            MEDCAT,
            Concept("UMLS:C0027051", "myocardial infarction", ("heart attack",), ("T047",)),
            "ontologies",
        ),
        (
            OMOP_SYNONYMS,
            Concept("4329847", "Heart attack", ("Cardiac infarction",)),
            "language_concept_id",
        ),
    ],
)
def test_a_synonym_a_row(text, concept, unused, tmp_path):
    (tmp_path / "terms").write_text(text)
    kb = build_vocabulary([tmp_path / "terms"], None)
    assert kb[concept.concept_id] == concept
    columns = kb.meta["sources"][0]["columns"]
    assert unused is None or columns["not used"] == unused


def test_rows_of_one_identifier_are_one_concept(tmp_path):
    (tmp_path / "t.tsv").write_text("D000001\tone\tuno\nD000001\teins\nD2\ttwo\nD000001\tun\n")
    kb = build_vocabulary([tmp_path / "t.tsv"], None)
    assert kb["MESH:D000001"] == Concept("MESH:D000001", "one", ("uno", "eins", "un"))
    (source,) = kb.meta["sources"]
    assert (source["concepts"], source["names"], source["merged"]) == (2, 5, 2)


def test_another_separator_parents_and_further_identifiers(tmp_path):
    text = "id,name,synonyms,alternate ids,parent\nX:1,one,uno; eins,X:2;X:3,X:4\n"
    concepts, _ = read(tmp_path / "table", text, separator=";")
    assert concepts == [Concept("X:1", "one", ("uno", "eins"), (), None, ("X:2", "X:3"), ("X:4",))]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('id\tname\ttype\nX:1\t"one\ntwo"\ty\n', "one two"),
        ('id\tname\ttype\nX:1\t"a\tb"\ty\n', "a b"),
        ('id,name,type\nX:1,"a ""b"", c",y\n', 'a "b", c'),
        # a quote that belongs to the name
        ('id\tname\ttype\nX:1\t5" inch\ty\n', '5" inch'),
        ('id\tname\ttype\nX:1\t"A" and "B"\ty\n', '"A" and "B"'),
    ],
)
def test_quotes(text, name, tmp_path):
    concepts, _ = read(tmp_path / "t", text)
    assert concepts == [Concept("X:1", name, (), ("y",))]


def test_rows_without_identifier_or_name_are_skipped_up_to_a_limit(tmp_path):
    rows = "".join(f"X:{i},name {i}\n" for i in range(200))
    blank = "X:500,\n,lost\nX:501\n"
    concepts, report = read(tmp_path / "t.csv", f"id,name\n{rows}{blank}")
    assert len(concepts) == 200
    assert report.skipped == {"concepts without a name": 2, "rows without an identifier": 1}
    with pytest.raises(AngelError, match=r"24 of 224 rows have no identifier or no name"):
        read(tmp_path / "t.csv", f"id,name\n{rows}{blank * 8}")


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_excel_and_parquet(ending, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl" if ending == "xlsx" else "pyarrow")
    cells = {
        "Code": ["D000001", "007"],
        "Name": ["Calcimycin", "x"],
        "Synonyms": [["A-23187"], None] if ending == "parquet" else ["A-23187", None],
        "Type": ["Chemical", None],
    }
    frame = pandas.DataFrame(cells)
    path = tmp_path / f"table.{ending}"
    if ending == "xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_parquet(path)
    assert list(read_vocabulary(path)) == [CALCIMYCIN, Concept("007", "x")]
    path.write_bytes(b"PK\x03\x04 damaged")
    with pytest.raises(AngelError, match="cannot be read"):
        list(read_vocabulary(path))


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("a,b\n1,2\n", None, r"none is known to be the id.*Found: 'a', 'b'"),
        ("id,b,c,d\n1,2,3,4\n", None, "none is known to be the name"),
        ("a,b\n1,2\n", "id=a,name=c", "'name=c' is not one of id,"),
        ("a,b\n1,2\n", "id=a,title=b", "'title=b' is not one of id,"),
        ("id,name\n1,2\n3,4,5\n", None, "line 3: expected 2 columns"),
        ('id,name\n1,2\n3,"x\n', None, "line 3: the .*separated values are broken"),
    ],
)
def test_what_is_wrong_is_told(text, columns, message, tmp_path):
    options = {} if columns is None else {"columns": columns}
    with pytest.raises(AngelError, match=message):
        read(tmp_path / "table.csv", text, "table", **options)


def test_cells_with_another_separator_are_told(tmp_path):
    text = "Term ID,Term,Also known as\nMY:1,Snark fever,AFS; ague\nMY:2,Boojum,bo; jum\n"
    with pytest.warns(UserWarning, match=r"no synonyms have '\|', but 2 have ';'.*separator=;"):
        concepts, _ = read(tmp_path / "terms.csv", text)
    assert [concept.aliases for concept in concepts] == [("AFS; ague",), ("bo; jum",)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        concepts, _ = read(tmp_path / "terms.csv", text, separator=";")
        assert concepts[0].aliases == ("AFS", "ague")
        # One cell with it may be a name, and so may all where others have the separator.
        read(tmp_path / "terms.csv", "id,name,synonyms\nMY:1,a,b; c\nMY:2,d,e\n")
        read(tmp_path / "terms.csv", "id,name,synonyms\nMY:1,a,b; c|d; e\nMY:2,d,e; f\n")
