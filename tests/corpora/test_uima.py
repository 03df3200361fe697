"""UIMA CAS of INCEpTION: exported projects, and that nothing is lost between."""

import gzip
import json
import shutil
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.corpora import REAL, RICH, documents, real_documents
from support.helpers import ROOT

from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.corpora.formats import uima_files
from spacy_angel.corpora.formats.uima import NAMED_ENTITY, write_uima_json, write_uima_xmi
from spacy_angel.corpora.registry import infer_format, read_corpus, write_corpus
from spacy_angel.errors import AngelError

cassis = pytest.importorskip("cassis")

FIXTURES = ROOT / "tests/fixtures/corpora"
PROJECT = FIXTURES / "inception"
XMI = FIXTURES / "inception_xmi"
CURATED = CorpusDocument(
    "5001",
    "😀 Fever.\nRenal failure lasted.",
    (
        GoldMention(9, 22, "Renal failure", "Disease", "MESH:D051437|OMIM:161900"),
        GoldMention(2, 7, "Fever", "Disease", "MESH:D005334"),
        GoldMention(2, 7, "Fever", "Phenotype"),
    ),
)
FORMATS = ("uima_json", "uima_xmi")


def read(path: Path, **options: Any) -> tuple[list[CorpusDocument], CorpusReport]:
    report = CorpusReport()
    return list(read_corpus(path, report=report, **options)), report


def in_order(found: list[CorpusDocument]) -> list[CorpusDocument]:
    return sorted(found, key=lambda document: document.doc_id)


@pytest.mark.parametrize("path", [PROJECT / "curation", XMI, XMI / "CURATION_USER.xmi"])
def test_what_was_curated_is_read(path: Path) -> None:
    (document,), report = read(path)
    assert document == CURATED
    assert report.counts == {"documents": 1, "mentions": 3, "mentions_without_id": 1}


def test_an_exported_project_has_several_annotators() -> None:
    with pytest.raises(
        AngelError, match=r"ben\.json: document 5001 was already read from .*anna\.json"
    ):
        read(PROJECT)
    (document,), report = read(PROJECT, annotator="CURATION_USER")
    assert document == CURATED
    assert report.counts["other_annotators"] == 2
    (document,), _ = read(PROJECT, annotator="ben")
    assert document.mentions == (GoldMention(2, 7, "Fever", "Disease"),)
    with pytest.raises(AngelError, match=r"nothing of 'cara'.*anna, ben, CURATION_USER"):
        read(PROJECT, annotator="cara")


def test_layers_of_a_project_and_their_features_are_options() -> None:
    options = {"layer": "webanno.custom.Concept", "label_feature": "kind", "id_feature": "concept"}
    (document,), _ = read(XMI, **options)
    assert document.mentions == (GoldMention(15, 22, "failure", "Outcome", "MESH:D017093"),)
    with pytest.raises(AngelError, match=r"have no webanno\.custom\.Concept:concepts"):
        read(XMI, **options | {"id_feature": "concepts"})
    with pytest.raises(AngelError, match=r"have no webanno\.custom\.Other"):
        read(XMI, layer="webanno.custom.Other")


def test_a_feature_with_several_identifiers(tmp_path: Path) -> None:
    types = cassis.TypeSystem()
    concept = types.create_type("webanno.custom.Concept", supertypeName="uima.tcas.Annotation")
    types.create_feature(concept, "kind", "uima.cas.String")
    types.create_feature(concept, "concept", "uima.cas.StringArray")
    cas = cassis.Cas(types)
    cas.sofa_string = "Fever."
    ids = types.get_type("uima.cas.StringArray")(elements=["MESH:D1", "OMIM:2"])
    cas.add(concept(begin=0, end=5, kind="Disease", concept=ids))
    cas.to_json(tmp_path / "1.json")
    options = {"layer": "webanno.custom.Concept", "label_feature": "kind", "id_feature": "concept"}
    (document,), _ = read(tmp_path / "1.json", **options)
    mention = GoldMention(0, 5, "Fever", "Disease", "MESH:D1|OMIM:2")
    assert document == CorpusDocument("1", "Fever.", (mention,))


def test_a_zip_of_one_document_is_read(tmp_path: Path) -> None:
    path = tmp_path / "5001.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for file in XMI.iterdir():
            packed.write(file, file.name)
    assert infer_format(path) == infer_format(tmp_path) == "uima_xmi"
    assert read(path)[0] == read(tmp_path)[0] == [CURATED]
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("a.xmi", "<x/>")
        packed.writestr("b.xmi", "<x/>")
    with pytest.raises(AngelError, match=r"5001\.zip is no UIMA CAS.*one \.xmi file was expected"):
        read(path)


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "5001.json.gz"
    content = (PROJECT / "curation/5001.txt/CURATION_USER.json").read_bytes()
    path.write_bytes(gzip.compress(content))
    assert read(path)[0] == [CURATED]


def test_xmi_without_its_types_is_read_by_those_of_dkpro(tmp_path: Path) -> None:
    shutil.copy(XMI / "CURATION_USER.xmi", tmp_path / "1.xmi")
    assert read(tmp_path / "1.xmi")[0] == [CURATED]


@pytest.mark.parametrize("format", FORMATS)
def test_a_damaged_file_costs_no_other(tmp_path: Path, format: str) -> None:
    write_corpus([CorpusDocument("1", "Fever."), RICH], tmp_path / "x", format)
    (file,) = (path for path in (tmp_path / "x").iterdir() if path.stem == "1")
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(AngelError, match=r"x/1\.\w+ is no UIMA CAS"):
        read(tmp_path / "x", format=format)
    found, report = read(tmp_path / "x", format=format, strict=False)
    assert (found, report.counts["documents_left_out"]) == ([RICH], 1)


@pytest.mark.parametrize("name", ["CURATION_USER.xmi", "TypeSystem.xml"])
def test_a_file_that_is_too_long_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    folder = shutil.copytree(XMI, tmp_path / "x")
    size = (folder / name).stat().st_size
    other = max(file.stat().st_size for file in folder.iterdir() if file.name != name)
    with open(folder / name, "ab") as file:
        file.write(b"\n" * max(other + 1 - size, 1))
    monkeypatch.setattr(uima_files, "MAX_BYTES", max(other, size))
    with pytest.raises(AngelError, match=r"xmi is no UIMA CAS.*it has more than \d+ bytes"):
        read(folder, format="uima_xmi")


def test_entities_of_xml_are_not_expanded(tmp_path: Path) -> None:
    """Neither one that names a file, nor those that grow."""
    (tmp_path / "secret").write_text("SECRET", "utf8")
    grow = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    for name, entities, place in (
        ("TypeSystem.xml", f'<!ENTITY x SYSTEM "{tmp_path / "secret"}">', "<name>&x;"),
        ("CURATION_USER.xmi", f'<!ENTITY e0 "lol">{grow}', 'sofaString="&e9;'),
    ):
        folder = shutil.copytree(XMI, tmp_path / Path(name).stem)
        text = (folder / name).read_text("utf8").replace("?>", f"?><!DOCTYPE a [{entities}]>", 1)
        text = text.replace(place.partition("&")[0], place)
        (folder / name).write_text(text, "utf8")
        with pytest.raises(AngelError, match=r"CURATION_USER\.xmi is no UIMA CAS") as told:
            read(folder, format="uima_xmi")
        assert "SECRET" not in str(told.value)


@pytest.mark.parametrize(
    ("begin", "end"), [(0, 99), (99, 120), (5, 2), (3, 3), (None, 4), (-1, 3), ("0", "5")]
)
def test_offsets_outside_the_text_are_a_fault(tmp_path: Path, begin: Any, end: Any) -> None:
    cas = json.loads((PROJECT / "curation/5001.txt/CURATION_USER.json").read_text("utf8"))
    entity = cas["%FEATURE_STRUCTURES"][-2]
    entity |= {"begin": begin, "end": end}
    (tmp_path / "1.json").write_text(json.dumps(cas), "utf8")
    with pytest.raises(AngelError, match=r"1\.json"):
        read(tmp_path / "1.json")
    _, report = read(tmp_path / "1.json", strict=False)
    assert report.counts["faults"] == 1


@pytest.mark.parametrize("format", FORMATS)
def test_everything_there_and_back(tmp_path: Path, format: str) -> None:
    expected = [replace(RICH, doc_id="2"), RICH]
    write_corpus(expected, tmp_path / "cas", format)
    assert infer_format(tmp_path / "cas") == format
    assert read(tmp_path / "cas")[0] == expected


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", REAL)
def test_real_corpora_there_and_back(tmp_path: Path, name: str, format: str) -> None:
    expected = real_documents(name)
    write_corpus(expected, tmp_path / "cas", format)
    assert in_order(read(tmp_path / "cas")[0]) == in_order(expected)


@given(document=documents())
def test_any_document_there_and_back_in_json(
    tmp_path_factory: pytest.TempPathFactory, document: CorpusDocument
) -> None:
    folder = tmp_path_factory.mktemp("x") / "cas"
    write_uima_json([document], folder)
    assert read(folder, format="uima_json")[0] == [document]


# XML has no control characters but for three, nor these two.
OF_XML = st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\ufffe\uffff")


@given(document=documents(OF_XML | st.sampled_from("\t\n\r")))
def test_any_document_there_and_back_in_xmi(
    tmp_path_factory: pytest.TempPathFactory, document: CorpusDocument
) -> None:
    said = (word for m in document.mentions for word in (*m.parts, m.read_as))
    assume(not {"\ufffe", "\uffff"} & {*"".join([document.doc_id, *document.steps, *said])})
    folder = tmp_path_factory.mktemp("x") / "cas"
    write_uima_xmi([document], folder)
    assert read(folder, format="uima_xmi")[0] == [document]


@pytest.mark.parametrize("character", ["\x00", "\x0b", "\ufffe"])
def test_what_xml_cannot_hold_is_told(tmp_path: Path, character: str) -> None:
    with pytest.raises(AngelError, match="Document 7 has a character that XMI cannot hold"):
        write_uima_xmi([CorpusDocument("7", f"a{character}b")], tmp_path / "cas")
    assert not (tmp_path / "cas").exists()


@pytest.mark.parametrize("format", FORMATS)
def test_cassis_finds_what_we_wrote(tmp_path: Path, format: str) -> None:
    """Offsets in the files count UTF-16 code units: those behind the first letter are one more."""
    write_corpus([RICH], tmp_path, format)
    (file,) = (path for path in tmp_path.iterdir() if path.name != "TypeSystem.xml")
    assert file.stem == "notes.txt%3A3"
    text = file.read_text("utf8")
    if format == "uima_json":
        cas = cassis.load_cas_from_json(text)
        assert '"begin": 33, "end": 38' in text
    else:
        with open(tmp_path / "TypeSystem.xml", "rb") as types:
            cas = cassis.load_cas_from_xmi(text, typesystem=cassis.load_typesystem(types))
        assert 'begin="33" end="38"' in text
    found = [(e.get_covered_text(), e.value, e.identifier) for e in cas.select(NAMED_ENTITY)]
    assert found == [(m.text, m.label or None, m.concept_ids or None) for m in RICH.mentions]
    (heading,) = cas.select("de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Heading")
    assert (heading.begin, heading.end) == (0, RICH.title_end)


def test_parts_of_a_mention_that_was_changed_are_left_out(tmp_path: Path) -> None:
    write_uima_json([RICH], tmp_path / "cas")
    (file,) = (tmp_path / "cas").iterdir()
    text = file.read_text("utf8")
    file.write_text(text.replace('"identifier": "3767"', '"identifier": "3768"'), "utf8")
    (document,), report = read(tmp_path / "cas")
    changed = replace(RICH.mentions[2], concept_ids="3768", read_as="")
    assert document.mentions == (*RICH.mentions[:2], changed, *RICH.mentions[3:])
    assert report.counts["parts_left_out"] == 1


def test_without_cassis_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cassis", None)
    with pytest.raises(AngelError, match=r"pip install 'spacy-angel\[inception\]'"):
        read(XMI)
