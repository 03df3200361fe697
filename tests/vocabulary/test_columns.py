"""Tables whose columns have names."""

import warnings
from pathlib import Path

import pytest
from support.helpers import ROOT

from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.build import build_vocabulary
from spacy_angel.vocabulary.sources.formats.records import VocabularyReport
from spacy_angel.vocabulary.sources.formats.registry import infer_format, read_vocabulary

FIXTURE = ROOT / "tests/fixtures/vocabularies/columns.csv"
CALCIMYCIN = Concept("MESH:D000001", "Calcimycin", ("A-23187",), ("Chemical",))


def read(
    path: Path, text: str, format: str | None = None, **options: str
) -> tuple[list[Concept], dict[str, str]]:
    path.write_text(text, encoding="utf8")
    report = VocabularyReport()
    concepts = list(read_vocabulary(path, format, report=report, **options))
    return concepts, report.columns


def test_columns_are_guessed_and_told() -> None:
    report = VocabularyReport()
    assert list(read_vocabulary(FIXTURE, report=report)) == [
        Concept(
            "MESH:D000001",
            "Calcimycin",
            ("A-23187", "Antibiotic A23187"),
            ("Chemical",),
            "An ionophore, from Streptomyces.",
        ),
        Concept("MY:2", 'Snark "fever"', (), ("Disease", "Finding")),
    ]
    assert report.columns == {
        "id": "Code",
        "name": "Preferred name",
        "synonyms": "Synonyms",
        "type": "Semantic type",
        "definition": "Definition",
    }


@pytest.mark.parametrize(
    "text",
    [
        "id;name;alias;type\nD000001;Calcimycin;A-23187;Chemical\n",
        "id\tname\tsynonyms\ttype\r\nD000001\tCalcimycin\tA-23187\tChemical\r\n",
        "type\taliases\tlabel\tconceptId\nChemical\tA-23187\tCalcimycin\tD000001\n",
        "\ufeff\nID,Term,Alt Label,Category,Owner\n\nD000001,Calcimycin,A-23187,Chemical,me\n",
    ],
)
def test_separators_and_order(text: str, tmp_path: Path) -> None:
    concepts, _ = read(tmp_path / "table", text)
    assert concepts == [CALCIMYCIN]


def test_a_third_column_of_types_holds_no_synonyms(tmp_path: Path) -> None:
    text = "id\tname\t{}\nMY:1\tone\tnumber\n"
    assert read(tmp_path / "t", text.format("type"))[0] == [Concept("MY:1", "one", (), ("number",))]
    assert read(tmp_path / "t", text.format("x"))[0] == [Concept("MY:1", "one", ("number",))]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (
            "Key,What,Or,And,Kind\nD000001,Calcimycin,A-23187,,Chemical\n",
            "id=Key,name=What,synonyms=Or,synonyms=And,type=Kind",
        ),
        ("x\tD000001\tCalcimycin\tA-23187\tChemical\n", "id=2,name=3,synonyms=4,type=5"),
        ("id,name,x,y\nD000001,Calcimycin,A-23187,Chemical\n", "id=1,name=2,synonyms=3,type=4"),
    ],
)
def test_columns_that_are_given(text: str, columns: str, tmp_path: Path) -> None:
    concepts, _ = read(tmp_path / "table", text, "columns", columns=columns)
    assert concepts == [CALCIMYCIN]


def test_another_separator_and_further_identifiers(tmp_path: Path) -> None:
    text = "id,name,synonyms,alternate ids\nX:1,one,uno; eins,X:2;X:3\n"
    concepts, _ = read(tmp_path / "table", text, separator=";")
    assert concepts == [Concept("X:1", "one", ("uno", "eins"), alternate_ids=("X:2", "X:3"))]


def test_quotes_run_over_lines_but_not_between_tabs(tmp_path: Path) -> None:
    concepts, _ = read(tmp_path / "t", 'id,name,definition\nX:1,one,"a\nb"\nX:2,two,\n')
    assert [c.definition for c in concepts] == ["a\nb", None]
    concepts, _ = read(tmp_path / "t", 'id\tname\ttype\tx\nX:1\t"5 inch\ty\t\n')
    assert concepts == [Concept("X:1", '"5 inch', (), ("y",))]


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("a,b\n1,2\n", None, r"none is told to be the id.*Found: 'a', 'b'"),
        ("id,b\n1,2\n", None, "none is told to be the name"),
        ("a,b\n1,2\n", "id=a,name=c", "'name=c' is not one of id,"),
        ("a,b\n1,2\n", "id=a,name=3", "'name=3' is not one of id,"),
        ("a,b\n1,2\n", "id=a,title=b", "'title=b' is not one of id,"),
        ("a,b\n1,2\n", "id=a", "none is told to be the name"),
        ("id,name\n1,2\n3\n", None, "line 3: expected 2 columns"),
        ('id,name\n1,2\n3,"x\n', None, "line 3: the .*separated values are broken"),
        ("id,name\n1,\n", None, "line 2: expected a name for 1"),
    ],
)
def test_what_is_wrong_is_told(
    text: str, columns: str | None, message: str, tmp_path: Path
) -> None:
    options = {} if columns is None else {"columns": columns}
    with pytest.raises(AngelError, match=message):
        read(tmp_path / "table", text, "columns", **options)


def test_a_table_without_names_stays_a_table(tmp_path: Path) -> None:
    for text in ("D000001\tone\tuno\n", "id\tname\tsynonyms\nD000001\tone\tuno\n"):
        (tmp_path / "t").write_text(text)
        assert infer_format(tmp_path / "t") == "table.v1"


def test_a_table_of_tree_numbers_gives_types_to_the_table_beside_it(tmp_path: Path) -> None:
    (tmp_path / "names.tsv").write_text("D000001\tCalcimycin\tA-23187\nD000003\tAbattoirs\t\n")
    (tmp_path / "numbers.tsv").write_text(
        "mesh_id\tmesh_name\tmesh_tree_number\nD000001\tCalcimycin\tD03.438\n"
    )
    for names in (["names.tsv", "numbers.tsv"], ["numbers.tsv", "names.tsv"]):
        kb = build_vocabulary([tmp_path / name for name in names], None)
        assert [c.types for c in kb] == [("D", "D03"), ()]
        (source,) = kb.meta["sources"]
        assert source["options"] == {"tree_numbers": str(tmp_path / "numbers.tsv")}


def test_cells_with_another_separator_are_told_and_columns_that_are_not_used(
    tmp_path: Path,
) -> None:
    text = (
        "Term ID,Term,Also known as,Owner\nMY:1,Snark fever,AFS; ague,jd\nMY:2,Boojum,bo; jum,jd\n"
    )
    with pytest.warns(UserWarning, match=r"no synonyms has '\|', but 2 have ';'.*separator=;"):
        concepts, columns = read(tmp_path / "terms.csv", text)
    assert [concept.aliases for concept in concepts] == [("AFS; ague",), ("bo; jum",)]
    assert columns == {
        **{"id": "Term ID", "name": "Term", "synonyms": "Also known as"},
        "not used": "Owner",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        concepts, _ = read(tmp_path / "terms.csv", text, separator=";")
        assert concepts[0].aliases == ("AFS", "ague")
        # One cell with it may be a name, and so may all where others have the separator.
        read(tmp_path / "terms.csv", "id,name,synonyms\nMY:1,a,b; c\nMY:2,d,e\n")
        read(tmp_path / "terms.csv", "id,name,synonyms\nMY:1,a,b; c|d; e\nMY:2,d,e; f\n")
