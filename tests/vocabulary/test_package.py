"""Vocabularies as wheels: what is in them, and that they are found once they are installed."""

import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from importlib import metadata

import pytest
from typer.testing import CliRunner

from spacy_angel.cli.app import app
from spacy_angel.errors import AngelError
from spacy_angel.linking.settings.loaders import load_vocabulary
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept
from spacy_angel.vocabulary.sources.installed import installed_vocabularies
from spacy_angel.vocabulary.sources.package import package_vocabulary

CONCEPTS = [
    Concept("MY:1", "Snark fever", ("fever of the snark",), ("Disease",)),
    Concept("MY:2", "Boojum syndrome"),
]
SNARK = {
    "title": 'The "Snark"',
    "release": "own/releases/2026-03-01",
    "licence": "CC0-1.0",
    "terms": "https://snark.example/terms",
    "format": "obo.v1",
}


@pytest.fixture
def folder(tmp_path):
    ConceptKB.build(CONCEPTS, tmp_path / "snark", sources=[SNARK])
    return tmp_path / "snark"


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_wheel_holds_vocabulary_terms_and_entry_point(tmp_path, folder):
    wheel = package_vocabulary(folder, tmp_path / "dist")
    assert wheel.name == "spacy_angel_kb_snark-2026.3.1-py3-none-any.whl"
    files = contents(wheel)
    info = "spacy_angel_kb_snark-2026.3.1.dist-info"
    about = Parser().parsestr(files[f"{info}/METADATA"].decode())
    assert about["Name"] == "spacy-angel-kb-snark"
    assert about["Summary"] == 'The "Snark": a vocabulary for spacy-angel'
    assert about["License-File"] == "LICENCE.txt"
    assert about["Requires-Dist"].startswith("spacy-angel>=")
    assert about["Classifier"] is None
    assert files[f"{info}/licenses/LICENCE.txt"].decode() == (
        'The "Snark"\nown/releases/2026-03-01\nCC0-1.0\nhttps://snark.example/terms\n'
    )
    assert files[f"{info}/entry_points.txt"].decode().split("\n")[:2] == [
        "[spacy_angel_vocabularies]",
        "snark=spacy_angel_kb_snark",
    ]
    columns = {f"spacy_angel_kb_snark/kb/{path.name}" for path in folder.glob("*.npy")}
    assert columns < files.keys()
    assert not any("tries" in name for name in files)


def test_an_unpacked_wheel_is_found_by_name(tmp_path, folder, monkeypatch):
    monkeypatch.setenv("SPACY_ANGEL_CACHE", str(tmp_path / "cache"))
    with zipfile.ZipFile(package_vocabulary(folder, tmp_path / "dist", name="hunt")) as archive:
        archive.extractall(tmp_path / "site")
    assert "hunt" not in installed_vocabularies()
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert installed_vocabularies()["hunt"] == tmp_path / "site/spacy_angel_kb_hunt/kb"
    assert list(load_vocabulary("hunt")) == CONCEPTS
    assert metadata.version("spacy-angel-kb-hunt") == "2026.3.1"
    # One that was fetched under the same name goes before it.
    ConceptKB.build(CONCEPTS[:1], tmp_path / "cache/vocabularies/hunt")
    assert len(load_vocabulary("hunt")) == 1


def test_a_notice_and_a_given_licence_are_the_terms(tmp_path):
    ConceptKB.build(CONCEPTS, tmp_path / "own", sources=[{"path": "own.tsv", "format": "table"}])
    with pytest.raises(AngelError, match=r"The source .*own\.tsv.* has no license"):
        package_vocabulary(tmp_path / "own", tmp_path)
    (tmp_path / "terms.txt").write_text("Ours, and yours.\n", "utf8")
    wheel = package_vocabulary(tmp_path / "own", tmp_path, licence=tmp_path / "terms.txt")
    licence = "spacy_angel_kb_own-0.1.dist-info/licenses/LICENCE.txt"
    assert contents(wheel)[licence] == b"Ours, and yours.\n"
    (tmp_path / "own/NOTICE.txt").write_text("Courtesy of the hunters.", "utf8")
    wheel = package_vocabulary(tmp_path / "own", tmp_path)
    assert contents(wheel)[licence] == b"Courtesy of the hunters.\n"


@pytest.mark.parametrize("format", ["umls.v1", "umls_st21pv.v1", "snomed.v1"])
def test_what_may_not_be_passed_on_is_marked_so(tmp_path, format):
    ConceptKB.build(CONCEPTS, tmp_path / "own", sources=[{**SNARK, "format": format}])
    wheel = package_vocabulary(tmp_path / "own", tmp_path)
    about = contents(wheel)["spacy_angel_kb_own-2026.3.1.dist-info/METADATA"].decode()
    assert "Classifier: Private :: Do Not Upload" in about


@pytest.mark.parametrize(
    ("options", "message"),
    [({"name": "a b"}, "package's name 'a b'"), ({"version": "new"}, "version 'new' is not valid")],
)
def test_names_and_versions_that_no_package_has_are_refused(tmp_path, folder, options, message):
    with pytest.raises(AngelError, match=message):
        package_vocabulary(folder, tmp_path / "dist", **options)
    assert not (tmp_path / "dist").exists()


@pytest.mark.slow
def test_an_installed_wheel_serves_the_pipeline_that_ships(tmp_path, folder):
    result = CliRunner().invoke(app, ["kb", "package", str(folder), "-o", str(tmp_path / "dist")])
    assert result.exit_code == 0, result.stderr
    (wheel,) = (tmp_path / "dist").iterdir()
    options = ("--no-deps", "--no-index", "--quiet", "--target", tmp_path / "site")
    subprocess.run([sys.executable, "-m", "pip", "install", *options, wheel], check=True)
    # One mention that the pipeline finds, and an alias that is given.
    code = (
        "import spacy_angel\n"
        "nlp = spacy_angel.load(kb='snark')\n"
        "doc = nlp('Patients with Boojum syndrome were treated.')\n"
        "given = nlp.make_doc('He had the fever of the snark.')\n"
        "given.ents = [given.char_span(11, 29, 'DISEASE')]\n"
        "given = nlp.get_pipe('angel_linker')(given)\n"
        "print([(ent.text, ent._.kb_id) for ent in (*doc.ents, *given.ents)])\n"
    )
    paths = [str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "('Boojum syndrome', 'MY:2')" in done.stdout
    assert "('fever of the snark', 'MY:1')" in done.stdout
