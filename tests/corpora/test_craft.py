"""CRAFT as it is distributed: files of either Knowtator, and what is told of damaged ones."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.craft import write_craft
from support.helpers import ROOT

from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.corpora.registry import infer_format, read_corpus
from spacy_angel.errors import AngelError

CRAFT = ROOT / "tests/fixtures/corpora/craft"
CL = CRAFT / "concept-annotation/CL/CL"
FIRST = "knowtator/10000001.txt.knowtator.xml"


def read(path: Path, **options: Any) -> tuple[list[CorpusDocument], CorpusReport]:
    report = CorpusReport()
    return list(read_corpus(path, "craft", report=report, **options)), report


@pytest.fixture
def cl(tmp_path: Path) -> Path:
    """The folder of CL in a copy of the fixture."""
    shutil.copytree(CRAFT, tmp_path / "CRAFT")
    return tmp_path / "CRAFT/concept-annotation/CL/CL"


def test_articles_and_their_annotations() -> None:
    (first, second), report = read(CL)
    assert (first.doc_id, second.doc_id) == ("10000001", "10000005")
    assert first.text.startswith("Rods and cones\n\nRod and cone photoreceptors")
    # A piece of its own, and one that is shared with the next mention.
    assert first.mentions[:4] == (
        GoldMention(0, 4, "Rods", "CL", "CL:0000604"),
        GoldMention(9, 14, "cones", "CL", "CL:0000573"),
        GoldMention(
            *(16, 43, "Rod and cone photoreceptors", "CL", "CL:0000604"),
            read_as="Rod photoreceptors",
        ),
        GoldMention(24, 43, "cone photoreceptors", "CL", "CL:0000573"),
    )
    # Behind characters of two and three bytes: offsets count characters.
    assert first.mentions[5].text == "Müller glia"
    # Two annotations of one span.
    assert second.mentions[-1].concept_ids == "CL:0009004|CL:0000540"
    assert report.counts == {"documents": 2, "mentions": 15, "discontinuous_mentions": 3}
    assert "10000001.txt.knowtator.xml, line 27: 'Rod ... photoreceptors' in" in report.notes[0]


@pytest.mark.parametrize("path", [CRAFT, CL, CL / "knowtator"])
def test_any_folder_with_one_ontology(path: Path) -> None:
    assert infer_format(path) == "craft"
    assert read(path)[0] == read(CL)[0]


def test_a_split_is_a_list_of_numbers() -> None:
    documents, _ = read(CL, pmids=CRAFT / "articles/ids/craft-ids-dev.txt")
    assert [document.doc_id for document in documents] == ["10000005"]


def test_several_ontologies_are_not_one_corpus(cl: Path) -> None:
    shutil.copytree(cl, cl.with_name("CL+extensions"))
    assert len(read(cl)[0]) == 2
    with pytest.raises(AngelError, match=r"CL is no folder of annotations in CRAFT's.*CL/CL"):
        read(cl.parent)


def test_a_folder_without_the_articles_is_told(cl: Path) -> None:
    shutil.rmtree(cl.parents[2] / "articles/txt")
    with pytest.raises(AngelError, match=r"is not a folder of CRAFT annotations"):
        read(cl)


def test_an_article_that_is_missing_costs_no_other(cl: Path) -> None:
    (cl.parents[2] / "articles/txt/10000001.txt").unlink()
    with pytest.raises(AngelError, match=r"10000001\.txt cannot be read"):
        read(cl)
    documents, report = read(cl, strict=False)
    assert [document.doc_id for document in documents] == ["10000005"]
    assert report.counts["documents_left_out"] == 1


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('<span start="0" end="4" />', "", "'Rods' has no class, or no span"),
        ('<span start="0" end="4" />', '<span start="0" end="x" />', "'Rods' has no class, or no"),
        (
            '<span start="0" end="4" />',
            '<span start="0" end="3" />',
            "expected the mention 'Rods' at",
        ),
        ('<mentionClass id="CL:0000604">', "<mentionClass>", "'Rods' has no class, or no span"),
        ('<classMention id="CL_Instance_0">', "<classMention>", "'Rods' has no class, or no span"),
    ],
)
def test_a_fault_is_named_and_costs_nothing_else(cl: Path, old: str, new: str, told: str) -> None:
    file = cl / FIRST
    file.write_text(file.read_text("utf8").replace(old, new, 1), "utf8")
    with pytest.raises(AngelError, match=rf"10000001\.txt\.knowtator\.xml, line \d+: .*{told}"):
        read(cl)
    documents, report = read(cl, strict=False)
    assert documents[0].mentions == read(CL)[0][0].mentions[1:]
    assert documents[1] == read(CL)[0][1]
    assert (report.counts["faults"], report.counts["mentions_left_out"]) == (1, 1)


def test_pieces_that_are_not_those_of_the_text_are_told(cl: Path) -> None:
    file = cl / FIRST
    file.write_text(file.read_text("utf8").replace("Rod ... photo", "Rod ... foto", 1), "utf8")
    with pytest.raises(
        AngelError, match=r"expected the mention 'Rod \.\.\. fotoreceptors' at .*16"
    ):
        read(cl)


@pytest.mark.parametrize("content", ["", "<annotations>", "<other/>", "no XML"])
def test_a_file_that_is_damaged_is_told(cl: Path, content: str) -> None:
    (cl / FIRST).write_text(content, "utf8")
    with pytest.raises(AngelError, match=r"10000001\.txt\.knowtator\.xml"):
        read(cl)


def test_knowtator_2_is_read_where_there_is_no_other(tmp_path: Path) -> None:
    articles = [
        ("1", "Rods and T cells.", [("CL:0000604", [(0, 4)]), ("CL:0000084", [(9, 16)])]),
        ("2", "Rod and cone cells.", [("CL:0000604", [(0, 3), (13, 18)])]),
    ]
    folder = write_craft(tmp_path, "CL", articles, second=True)
    second, _ = read(folder)
    assert [(m.text, m.read_as, m.concept_ids) for d in second for m in d.mentions] == [
        ("Rods", "", "CL:0000604"),
        ("T cells", "", "CL:0000084"),
        ("Rod and cone cells", "Rod cells", "CL:0000604"),
    ]
    file = folder / "knowtator-2/CL.xml"
    address = "http://purl.obolibrary.org/obo/CL_0000604"
    file.write_text(file.read_text("utf8").replace("CL:0000604", address), "utf8")
    assert read(folder)[0] == second
    write_craft(tmp_path, "CL", articles[:1])
    assert read(folder)[0] == second[:1]


def test_a_file_does_not_lead_out_of_the_folder_of_the_texts(tmp_path: Path) -> None:
    folder = write_craft(tmp_path, "CL", [("1", "Rods.", [])], second=True)
    (tmp_path / "secret.txt").write_text("secret", "utf8")
    file = folder / "knowtator-2/CL.xml"
    file.write_text(file.read_text("utf8").replace("1.txt", "../../secret.txt"), "utf8")
    with pytest.raises(AngelError, match=r"articles/txt/secret\.txt cannot be read"):
        read(folder)


_TEXT = st.text("ab é😀\n.", min_size=1, max_size=30).filter(str.strip)


@given(data=st.data(), text=_TEXT, second=st.booleans())
def test_any_annotations_there_and_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, text: str, second: bool
) -> None:
    places = [place for place, letter in enumerate(text) if not letter.isspace()]
    ends = st.lists(st.sampled_from(places), min_size=1, max_size=3, unique=True).map(sorted)
    drawn = data.draw(st.lists(ends, max_size=4))
    annotations = [
        (f"CL:{n}", [(place, place + 1) for place in own]) for n, own in enumerate(drawn)
    ]
    folder = write_craft(
        tmp_path_factory.mktemp("craft"), "CL", [("1", text, annotations)], second=second
    )
    ([document], _) = read(folder)
    assert document.text == text
    found = {
        (each, m.start, m.end, m.read_as or m.text)
        for m in document.mentions
        for each in m.concept_ids.split("|")
    }
    assert {(each, start, end) for each, start, end, _ in found} == {
        (class_id, spans[0][0], spans[-1][1]) for class_id, spans in annotations
    }
    pieces = {(c, "".join(text[a:b] for a, b in spans)) for c, spans in annotations}
    assert {(each, "".join(read.split())) for each, _, _, read in found} == pieces
