"""The full files of ten publishers by one command, from a server on this machine that has small
ones of their layout at the same places."""

import gzip
import hashlib
import io
import re
import tarfile
from datetime import date

import pytest
from support.helpers import ROOT
from support.server import Page, serving
from typer.testing import CliRunner

import spacy_angel.vocabulary.sources.catalogue as catalogue
from spacy_angel.cli.app import app
from spacy_angel.files.download import cache_folder
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.sources.catalogue import find_source, read_catalogue
from spacy_angel.vocabulary.sources.installed import built_folder

FIXTURES = ROOT / "tests/fixtures/vocabularies"
NAMES = [
    *("mesh", "ncbi-gene", "ncbi-taxonomy", "cellosaurus", "hpo", "mondo", "chebi", "uberon"),
    *("cl", "go"),
]
TAXA = "9606,10090"
# As the ontologies are published: other ontologies' terms among their own, retired ones, relations.
OBO = """\
format-version: 1.2
data-version: releases/2026-10-01
subsetdef: common "for all"
synonymtypedef: layperson "layperson term"
ontology: {name}

[Term]
id: {prefix}:0000001
name: root of {name}
def: "All." [PMID:1, http\\://example.org]
subset: common
synonym: "first of {name}" EXACT layperson [ORCID:0000-0001]
synonym: "near {name}" RELATED []
xref: MESH:D000001
property_value: http://purl.org/dc/terms/date "2012" xsd:string

[Term]
id: {prefix}:0000002
name: branch of {name}
alt_id: {prefix}:0000009
synonym: "wide {name}" BROAD []
is_a: {prefix}:0000001 {{source="x"}} ! root of {name}
relationship: part_of {prefix}:0000001 ! root of {name}

[Term]
id: {prefix}:0000003
name: obsolete leaf
is_obsolete: true
replaced_by: {prefix}:0000002

[Term]
id: BFO:0000002
name: continuant

[Typedef]
id: part_of
name: part of
is_transitive: true
"""


def taxdump() -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in ("citations.dmp", "names.dmp", "nodes.dmp", "merged.dmp"):
            file = FIXTURES / "taxonomy" / name
            archive.add(file if file.exists() else FIXTURES / "medic.txt", name)
    return packed.getvalue()


def genes(taxon: str) -> bytes:
    head, *lines = (FIXTURES / "gene_info.tsv").read_text().splitlines(keepends=True)
    return gzip.compress("".join([head, *(x for x in lines if x.startswith(taxon))]).encode())


def files() -> dict[str, bytes]:
    """RETURNS (dict[str, bytes]): what stands where at the publishers'."""
    packed = taxdump()
    gene_info = "/gene/DATA/GENE_INFO/Mammalia"
    found = {
        "/projects/mesh/MESH_FILES/xmlmesh/desc2026.gz": gzip.compress(
            (FIXTURES / "desc.xml").read_bytes()
        ),
        f"{gene_info}/Homo_sapiens.gene_info.gz": genes("9606"),
        f"{gene_info}/Mus_musculus.gene_info.gz": genes("10090"),
        "/pub/taxonomy/taxdump.tar.gz": packed,
        "/pub/taxonomy/taxdump.tar.gz.md5": (
            f"{hashlib.md5(packed).hexdigest()}  taxdump.tar.gz\n".encode()
        ),
        "/databases/cellosaurus/cellosaurus.txt": (FIXTURES / "cellosaurus.txt").read_bytes(),
    }
    places = {
        **{"hpo": "/obo/hp.obo", "mondo": "/obo/mondo.obo", "uberon": "/obo/uberon/basic.obo"},
        **{"cl": "/obo/cl/cl-basic.obo", "go": "/obo/go/go-basic.obo"},
        "chebi": "/pub/databases/chebi/ontology/chebi.obo.gz",
    }
    for name, place in places.items():
        text = OBO.format(name=name, prefix=read_catalogue()[name].options["prefixes"]).encode()
        found[place] = gzip.compress(text) if place.endswith(".gz") else text
    return found


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The catalogue as it is, but all of its addresses on this machine."""
    monkeypatch.setenv("SPACY_ANGEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("spacy_angel.files.download.time.sleep", lambda _: None)
    with serving() as running:

        def here(value):
            return re.sub(r"^https?://[^/]+", running.address, value)

        fields = ("address", "release_address", "checksum_address", "other_taxa")
        known = {
            name: source.model_copy(
                update={f: here(value) for f in fields if (value := getattr(source, f))}
            )
            for name, source in read_catalogue().items()
        }
        monkeypatch.setattr(catalogue, "read_catalogue", lambda: known)
        for place, content in files().items():
            running.pages[place] = Page(content)
        # purl.obolibrary.org sends on to where a release lies
        page = running.pages.pop("/obo/hp.obo")
        running.pages["/download/v2026-10-01/hp.obo"] = page
        running.pages["/obo/hp.obo"] = Page(redirect="/download/v2026-10-01/hp.obo")
        yield running


def fetch(*names):
    result = CliRunner().invoke(app, ["kb", "fetch", *(names or NAMES), "--taxon", TAXA])
    return result.exit_code, result.stdout, result.stderr


def stamps() -> dict[str, int]:
    return {n: (built_folder(n) / "meta.json").stat().st_mtime_ns for n in NAMES}


def whole(server) -> None:
    """All is there, as published."""
    for name in NAMES:
        kb = ConceptKB.from_disk(built_folder(name))
        assert len(kb) == 2, name
        assert len(kb.meta["sources"]) == (2 if name == "ncbi-gene" else 1)
    assert ConceptKB.from_disk(built_folder("mesh")).meta["sources"][0]["release"] == "2026"
    chebi = ConceptKB.from_disk(built_folder("chebi"))
    assert dict(chebi["CHEBI:0000001"].scopes) == {
        "root of chebi": "PREFERRED",
        "first of chebi": "EXACT",
        "near chebi": "RELATED",
    }
    assert chebi.resolve("CHEBI:0000003") == "CHEBI:0000002"
    assert ConceptKB.from_disk(built_folder("ncbi-gene")).resolve("NCBIGene:11287")
    downloads = {p.name for p in (cache_folder() / "downloads").rglob("*") if p.is_file()}
    assert not any(name.endswith((".part", ".part.json")) for name in downloads)


def test_connections_that_are_cut_go_on_and_nothing_is_done_twice(server):
    for page in server.pages.values():
        page.breaks_after = [40, 30] if len(page.content) > 100 else []
    code, out, err = fetch()
    assert (code, err) == (0, "")
    for name in NAMES:
        assert f'spacy_angel.load(kb="{name}")' in out
    whole(server)
    cut = [p for p, page in server.pages.items() if len(page.content) > 100]
    for place in cut:
        asked = [part for path, part in server.seen if path == place]
        assert asked == [None, "bytes=40-", "bytes=70-"], place
    before, n_before = stamps(), len(server.seen)
    assert fetch()[0] == 0
    assert stamps() == before
    # as often as there are places: each is asked whether it has changed
    n_missing = max(0, date.today().year + 1 - 2026)
    assert len(server.seen) - n_before == len(server.pages) + n_missing
    # a new release is built, and only that
    page = server.pages["/obo/go/go-basic.obo"]
    server.pages["/obo/go/go-basic.obo"] = Page(
        page.content.replace(b"branch", b"twig"), etag='"2"'
    )
    assert fetch()[0] == 0
    assert [name for name, stamp in stamps().items() if stamp != before[name]] == ["go"]


def test_what_fails_is_told_and_the_same_command_goes_on(server):
    chebi = server.pages["/pub/databases/chebi/ontology/chebi.obo.gz"]
    chebi.breaks_after = [20] * 4
    mondo = server.pages.pop("/obo/mondo.obo")
    server.pages["/pub/taxonomy/taxdump.tar.gz.md5"] = Page(b"00  taxdump.tar.gz\n", etag='"0"')
    code, _, err = fetch()
    assert code == 1
    assert "3 of 10 vocabularies could not be downloaded: ncbi-taxonomy mondo chebi." in err
    assert "80 bytes are kept" in err
    assert "checksum" in err
    server.pages["/obo/mondo.obo"] = mondo
    digest = hashlib.md5(server.pages["/pub/taxonomy/taxdump.tar.gz"].content).hexdigest()
    server.pages["/pub/taxonomy/taxdump.tar.gz.md5"] = Page(f"{digest}\n".encode(), etag='"1"')
    server.seen.clear()
    code, _, err = fetch()
    assert (code, err) == (0, "")
    asked = dict(server.seen)
    assert asked["/pub/databases/chebi/ontology/chebi.obo.gz"] == "bytes=80-"
    whole(server)


def test_several_go_into_a_folder_each_and_what_is_for_one_is_refused(server, tmp_path):
    result = CliRunner().invoke(app, ["kb", "fetch", "cl", "go", "-o", str(tmp_path / "kb")])
    assert result.exit_code == 0
    assert len(ConceptKB.from_disk(tmp_path / "kb/cl")) == 2
    assert len(ConceptKB.from_disk(tmp_path / "kb/go")) == 2
    for option in (["--release", "2025"], ["--file", "x.obo"], ["--option", "scopes=EXACT"]):
        refused = CliRunner().invoke(app, ["kb", "fetch", "cl", "go", *option])
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert f"{option[0]} cannot be used with several vocabularies" in refused.stderr


def test_options_and_changes_of_ones_own_are_not_taken_for_built(server, tmp_path):
    def counted(*options):
        assert CliRunner().invoke(app, ["kb", "fetch", "cl", *options]).exit_code == 0
        return ConceptKB.from_disk(built_folder("cl")).n_names

    assert counted() == 5
    assert counted("--option", "scopes=EXACT") == 3
    assert counted() == 5
    assert CliRunner().invoke(app, ["kb", "remove", "cl", "CL:0000002"]).exit_code == 0
    assert counted() == 5


def test_releases_of_years(server):
    mesh = find_source("mesh")
    folder = f"{server.address}/projects/mesh"
    newest = f"{folder}/MESH_FILES/xmlmesh/desc{{}}.gz"
    old = f"{folder}/{{0}}/xmlmesh/desc{{0}}.gz"
    assert mesh.places(None, (), date(2026, 3, 1)) == [
        ("2027", [newest.format(2027)]),
        ("2026", [newest.format(2026)]),
        # when the next year's has taken its place
        ("2026", [old.format(2026)]),
    ]
    assert [release for release, _ in mesh.places(None, (), date(2028, 1, 1))] == [
        *("2029", "2028", "2027", "2026", "2026")
    ]
    # a clock that is wrong
    assert [release for release, _ in mesh.places(None, (), date(1970, 1, 1))] == ["2026", "2026"]
    for release, first, second in (("2024", old, newest), ("2026", newest, old)):
        assert mesh.places(release, (), date(2026, 3, 1)) == [
            (release, [first.format(release)]),
            (release, [second.format(release)]),
        ]
    assert len(find_source("hpo").places(None, (), date(2026, 3, 1))) == 1
    assert find_source("umls").places(None, (), date(2026, 3, 1))[0][0] == "2025AB"


@pytest.mark.parametrize(
    ("place", "release", "options"),
    [
        ("/projects/mesh/MESH_FILES/xmlmesh/desc2027.gz", "2027", ()),
        ("/projects/mesh/2026/xmlmesh/desc2026.gz", "2026", ()),
        ("/projects/mesh/2024/xmlmesh/desc2024.gz", "2024", ("--release", "2024")),
        ("/projects/mesh/MESH_FILES/xmlmesh/desc2027.gz", "2027", ("--release", "2027")),
    ],
)
def test_mesh_is_found_where_its_year_lies(server, monkeypatch, place, release, options):
    class Day(date):
        @classmethod
        def today(cls):
            return cls(2026, 12, 1)

    monkeypatch.setattr("spacy_angel.vocabulary.sources.fetch.date", Day)
    server.pages[place] = server.pages.pop("/projects/mesh/MESH_FILES/xmlmesh/desc2026.gz")
    result = CliRunner().invoke(app, ["kb", "fetch", "mesh", *options])
    assert result.exit_code == 0, result.stderr
    (source,) = ConceptKB.from_disk(built_folder("mesh")).meta["sources"]
    assert source["release"] == release
    assert source["address"] == server.address + place
