"""Published vocabularies: the catalogue, fetching from a server on this machine, updating."""

import gzip
import hashlib
import io
import tarfile
import zipfile

import pytest
from support.helpers import ROOT, run
from support.server import Page, serving

import spacy_angel.vocabulary.sources.catalogue as catalogue
from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.sources.catalogue import Source, find_source
from spacy_angel.vocabulary.sources.fetch import fetch_record, fetch_vocabulary
from spacy_angel.vocabulary.sources.installed import (
    built_folder,
    find_vocabulary,
    installed_vocabularies,
    load_vocabulary,
)

FIXTURES = ROOT / "tests/fixtures/vocabularies"
OBO = """\
format-version: 1.2
data-version: hp/releases/2026-03-01

[Term]
id: HP:0001251
name: Ataxia
synonym: "Cerebellar ataxia" EXACT []

[Term]
id: HP:0001945
name: Fever

[Term]
id: HP:0002170
name: Bleed
"""
NEWER = """\
format-version: 1.2
data-version: hp/releases/2026-04-01

[Term]
id: HP:0001251
name: Ataxia of gait
alt_id: HP:0002170

[Term]
id: HP:0000001
name: All
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SPACY_ANGEL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def server():
    with serving() as running:
        yield running


def source(server, **fields):
    address = f"{server.address}/hp.obo"
    return Source(
        **{
            **{"name": "hpo", "title": "Phenotypes", "licence": "free", "terms": "see there"},
            **{"megabytes": 1, "format": "obo", "address": address},
            **fields,
        }
    )


@pytest.fixture
def hpo(server, monkeypatch):
    """The catalogue has one source, on this machine."""
    server.pages["/hp.obo"] = Page(OBO.encode())
    entry = source(server)
    monkeypatch.setattr(catalogue, "read_catalogue", lambda: {"hpo": entry})
    return entry


def test_addresses_follow_the_release():
    mesh = find_source("mesh")
    # The running year's release is in another folder than those before it.
    assert mesh.addresses("2026") == mesh.addresses()
    (earlier,) = mesh.addresses("2025")
    assert earlier.endswith("/mesh/2025/xmlmesh/desc2025.gz")
    with pytest.raises(AngelError, match="is not in the catalog of vocabularies"):
        find_source("hpo2")
    with pytest.raises(AngelError, match="cannot be downloaded automatically"):
        find_source("snomed").addresses()
    with pytest.raises(AngelError, match="Only the newest release of"):
        find_source("chebi").addresses("249")


def test_a_fetched_vocabulary_records_where_it_comes_from_and_is_found_by_name(server, hpo):
    kb = fetch_vocabulary(hpo)
    assert [c.concept_id for c in kb] == ["HP:0001251", "HP:0001945", "HP:0002170"]
    (record,) = kb.meta["sources"]
    assert record["address"] == f"{server.address}/hp.obo"
    assert record["release"] == "hp/releases/2026-03-01"
    assert record["licence"] == "free"
    assert record["sha256"] == hashlib.sha256(OBO.encode()).hexdigest()
    assert record["concepts"] == 3
    assert fetch_record(kb) == record
    assert (record["source"], record["asked_release"]) == ("hpo", None)
    assert list(load_vocabulary("hpo")) == list(kb)
    assert installed_vocabularies() == {"hpo": built_folder("hpo")}
    with pytest.raises(AngelError, match="does not exist"):
        load_vocabulary("doid")


def test_archives_are_unpacked(server, tmp_path):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in ("names.dmp", "nodes.dmp", "merged.dmp"):
            archive.add(FIXTURES / "taxonomy" / name, name)
    server.pages["/taxdump.tar.gz"] = Page(packed.getvalue())
    taxa = source(
        server,
        name="taxa",
        address=f"{server.address}/taxdump.tar.gz",
        unpack=("names.dmp", "nodes.dmp", "merged.dmp"),
        format="ncbi_taxonomy",
    )
    kb = fetch_vocabulary(taxa, tmp_path / "kb")
    assert [c.canonical_name for c in kb] == ["root", "Homo sapiens"]
    assert kb.meta["sources"][0]["path"] == "taxdump.tar.gz"
    with pytest.raises(AngelError, match=r"does not contain names\.dmp"):
        fetch_vocabulary(taxa, tmp_path / "kb", copy=zipped(tmp_path / "x.zip", "other.txt", "x"))


def zipped(path, name, text):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, text)
    return path


def test_copies_are_archives_files_or_folders(tmp_path):
    rxnorm = find_source("rxnorm-prescribable")
    text = (FIXTURES / "RXNCONSO.RRF").read_text()
    archive = zipped(tmp_path / "full.zip", "release/rrf/RXNCONSO.RRF", text)
    for copy in (archive, FIXTURES / "RXNCONSO.RRF"):
        kb = fetch_vocabulary(rxnorm, tmp_path / "kb", copy=copy)
        assert kb["RXNORM:1191"].canonical_name == "aspirin"
        assert kb.meta["sources"][0]["path"] == str(copy)
        assert fetch_record(kb) is None
    umls = fetch_vocabulary(find_source("umls"), tmp_path / "umls", copy=FIXTURES / "umls")
    assert len(umls) > 0
    with pytest.raises(AngelError, match="cannot be read"):
        fetch_vocabulary(rxnorm, tmp_path / "kb", copy=tmp_path / "none")


def test_licensed_sources_are_refused_with_the_steps(monkeypatch):
    monkeypatch.delenv("UMLS_API_KEY", raising=False)
    code, out, err = run("kb", "fetch", "umls")
    assert (code, "license: your own UMLS license" in out) == (1, True)
    assert all(text in err for text in ("cannot be downloaded", "UMLS_API_KEY", "--file"))
    assert "get a release in the format RF2" in run("kb", "fetch", "snomed")[2]


def test_without_a_connection_a_copy_serves(server, hpo, tmp_path):
    del server.pages["/hp.obo"]
    code, _, err = run("kb", "fetch", "hpo")
    assert (code, f"{server.address}/hp.obo" in err, "--file" in err) == (1, True, True)
    (tmp_path / "hp.obo").write_text(OBO)
    assert run("kb", "fetch", "hpo", "--file", tmp_path / "hp.obo")[0] == 0
    assert "was not downloaded, so it cannot be" in run("kb", "update", "hpo")[2]


def test_an_update_says_what_has_changed(server, hpo):
    run("kb", "fetch", "hpo")
    server.pages["/hp.obo"] = Page(NEWER.encode())
    code, out, err = run("kb", "update")
    assert (code, err) == (0, "")
    for line in (
        "1 concepts added\n  HP:0000001  All\n",
        "1 concepts gone\n  HP:0001945  Fever\n",
        "1 concepts merged\n  HP:0002170 → HP:0001251\n",
        "1 concepts renamed\n  Ataxia → Ataxia of gait\n",
    ):
        assert line in out
    assert len(load_vocabulary("hpo")) == 2


def test_an_update_keeps_rules_and_files_and_does_not_drop_other_changes_unasked(
    server, hpo, tmp_path
):
    run("kb", "fetch", "hpo")
    more = tmp_path / "more.tsv"
    more.write_text("MY:1\tSnark fever\t\nHP:0001251\tAtaxia\tsnark gait\n", "utf8")
    for command in (
        ("remove", "hpo", "HP:0001945"),
        ("add", find_vocabulary("hpo"), more),
        ("add", find_vocabulary("hpo"), "--concept", "HP:0001251", "--name", "unsteady gait"),
    ):
        code, _, err = run("kb", *command)
        assert (code, err) == (0, "")
    server.pages["/hp.obo"] = Page(NEWER.encode())
    code, out, err = run("kb", "update", "hpo")
    assert (code, err) == (0, "")
    assert "Check its rules: spacy-angel kb check" in out
    kb = load_vocabulary("hpo")
    assert [c.concept_id for c in kb] == ["HP:0001251", "HP:0000001", "MY:1"]
    # what the file calls the concept is a name more
    names = ("Ataxia of gait", "Ataxia", "snark gait", "unsteady gait")
    assert kb["HP:0001251"].names == names
    kb.add_names("HP:0000001", ["Everything"])
    kb.to_disk(find_vocabulary("hpo"))
    err = run("kb", "update", "hpo")[2]
    assert "changes while running" in err
    more.unlink()
    assert f"`kb add {more}` (there is no such file)" in run("kb", "update", "hpo")[2]


def test_several_go_into_a_folder_each_and_what_is_for_one_is_refused(
    server, hpo, tmp_path, monkeypatch
):
    other = source(server, name="mondo", address=f"{server.address}/mondo.obo")
    monkeypatch.setattr(catalogue, "read_catalogue", lambda: {"hpo": hpo, "mondo": other})
    code, _, err = run("kb", "fetch", "mondo", "hpo", "-o", tmp_path / "kb")
    assert code == 1
    assert "1 of 2 vocabularies could not be downloaded: mondo" in err
    assert len(ConceptKB.from_disk(tmp_path / "kb/hpo")) == 3
    server.pages["/mondo.obo"] = Page(NEWER.encode())
    assert run("kb", "fetch", "mondo", "hpo", "-o", tmp_path / "kb")[0] == 0
    assert len(ConceptKB.from_disk(tmp_path / "kb/mondo")) == 2
    for option in (["--release", "2025"], ["--file", "x.obo"], ["--option", "scopes=EXACT"]):
        code, out, err = run("kb", "fetch", "hpo", "mondo", *option)
        assert (code, out) == (1, "")
        assert "cannot be used with several vocabularies" in err
    assert "mondo" in run("kb", "fetch")[1]


@pytest.mark.parametrize(
    ("place", "release", "options"),
    [
        ("/new/desc2026.gz", "2026", ()),
        ("/2026/desc2026.gz", "2026", ()),
        ("/2024/desc2024.gz", "2024", ("--release", "2024")),
    ],
)
def test_a_release_of_a_year_is_found_where_it_lies(server, monkeypatch, place, release, options):
    mesh = source(
        server,
        name="mesh",
        format="mesh_xml",
        year="2026",
        address=f"{server.address}/new/desc{{release}}.gz",
        release_address=f"{server.address}/{{release}}/desc{{release}}.gz",
    )
    monkeypatch.setattr(catalogue, "read_catalogue", lambda: {"mesh": mesh})
    server.pages[place] = Page(gzip.compress((FIXTURES / "desc.xml").read_bytes()))
    code, _, err = run("kb", "fetch", "mesh", *options)
    assert code == 0, err
    (record,) = ConceptKB.from_disk(built_folder("mesh")).meta["sources"]
    assert (record["release"], record["address"]) == (release, server.address + place)
