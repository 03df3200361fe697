"""Files come from a mirror or their addresses, and only whole and right ones are put in place."""

import gzip
import hashlib
import io
import sys
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.helpers import ROOT
from typer.testing import CliRunner

sys.path.insert(0, str(ROOT / "scripts"))
import fetch
import typer

from spacy_angel.errors import AngelError

TRAIN, DEV, TERMS = b"train\n", b"dev\n", b"terms\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def packed(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


class Host(SimpleHTTPRequestHandler):
    """Serves a folder; notes what was asked for; a file `cut…` promises more than it gives."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if not self.path.startswith("/cut"):
            super().do_GET()
            return
        content = Path(self.translate_path(self.path)).read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) + 7))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def host(tmp_path: Path):
    """A web server's folder, its address, what it was asked for."""
    folder = tmp_path / "web"
    folder.mkdir()
    Host.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def project(tmp_path: Path, host, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one dataset; its archive has a member that wants to lie elsewhere."""
    web, address = host
    archive = packed(**{"../../data/train.txt": TRAIN, "data/dev.txt": DEV, "x/test.txt": b"t"})
    (web / "data.zip").write_bytes(archive)
    (web / "terms.gz").write_bytes(gzip.compress(TERMS, mtime=0))
    folder = tmp_path / "project"
    (folder / "configs").mkdir(parents=True)
    (folder / "configs/datasets.yml").write_text("""
one:
  vocabulary:
    - - files: [old_terms.txt]
    - - files: [terms.gz]
  train: {a: {file: train.txt, preprocessing: bc5cdr}}
  dev: {a: {file: dev.txt, preprocessing: bc5cdr}}
  test: {a: {file: test.txt, preprocessing: bc5cdr}}
licensed:
  vocabulary:
    - - files: [release]
  train: {a: {file: train.txt, preprocessing: bc5cdr}}
  dev: {a: {file: dev.txt, preprocessing: bc5cdr}}
""")
    (folder / "project.yml").write_text(f"""
assets:
  - dest: assets/downloads/data.zip
    url: {address}/data.zip
    sha256: {sha256(archive)}
    mirror: copies
    unpack: {{train.txt: {sha256(TRAIN)}, dev.txt: {sha256(DEV)}, test.txt: ""}}
  - dest: assets/downloads/terms.gz
    url: {address}/terms.gz
    checksum: {hashlib.md5((web / "terms.gz").read_bytes()).hexdigest()}
  - dest: assets/one/old_terms.txt
    sha256: {sha256(TERMS)}
    mirror: copies
    description: Terms of old.
  - dest: assets/licensed/release
    mirror: copies
    description: Ask the owner for it.
""")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror/copies"
    folder.mkdir(parents=True)
    for name, content in (("train.txt", TRAIN), ("dev.txt", DEV), ("old_terms.txt", TERMS)):
        (folder / name).write_bytes(content)
    return folder


def bring(name: str = "one", mirror: Path | None = None) -> list[str]:
    return fetch.fetch(name, mirror and mirror.parent, Path("project.yml"))


def lying(folder: Path) -> dict[str, bytes]:
    """Every file, hidden ones too."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_from_the_mirror_nothing_is_downloaded(project: Path, mirror: Path):
    assert bring(mirror=mirror) == ["test.txt"]
    assert lying(project / "assets") == {
        "one/train.txt": TRAIN,
        "one/dev.txt": DEV,
        "one/old_terms.txt": TERMS,
    }
    assert Host.asked == []
    (mirror / "test.txt").write_bytes(b"t")
    assert bring(mirror=mirror) == []
    assert (project / "assets/one/test.txt").read_bytes() == b"t"


def test_from_the_addresses_with_the_vocabulary_that_has_one(project: Path, tmp_path: Path):
    assert bring() == []
    found = lying(project / "assets")
    assert found.keys() == {
        "downloads/data.zip",
        "downloads/data.zip.json",
        "downloads/terms.gz",
        "downloads/terms.gz.json",
        "one/train.txt",
        "one/dev.txt",
        "one/test.txt",
        "one/terms.gz",
    }
    assert (found["one/train.txt"], found["one/dev.txt"]) == (TRAIN, DEV)
    assert gzip.decompress(found["one/terms.gz"]) == TERMS
    # The member's own path plays no part.
    assert not list(tmp_path.glob("data/*"))
    assert not list(project.glob("data/*"))
    assert sorted(Host.asked) == ["/data.zip", "/terms.gz"]
    assert bring() == []
    assert len(Host.asked) == 2


def test_a_file_that_was_put_in_place_by_hand_counts(project: Path):
    (project / "assets/one").mkdir(parents=True)
    (project / "assets/one/old_terms.txt").write_bytes(TERMS)
    bring()
    assert "one/terms.gz" not in lying(project / "assets")
    (project / "assets/one/old_terms.txt").write_bytes(b"others")
    with pytest.raises(
        AngelError, match=r"assets/one/old_terms\.txt from .* has the SHA256 checksum"
    ):
        bring()


def test_a_wrong_checksum_in_the_mirror_is_told(project: Path, mirror: Path):
    (mirror / "dev.txt").write_bytes(b"DEV\n")
    with pytest.raises(AngelError) as error:
        bring(mirror=mirror)
    message = str(error.value)
    assert "assets/one/dev.txt" in message
    assert f"expected {sha256(DEV)}" in message
    assert f"from {mirror / 'dev.txt'}" in message
    assert lying(project / "assets").keys() == {"one/train.txt"}


def test_a_changed_copy_is_mended_from_the_mirror(project: Path, mirror: Path):
    bring(mirror=mirror)
    (project / "assets/one/train.txt").write_bytes(b"cut")
    bring(mirror=mirror)
    assert (project / "assets/one/train.txt").read_bytes() == TRAIN


def test_a_mirror_is_held_against_an_md5_as_well(project: Path, mirror: Path):
    text = Path("project.yml").read_text()
    Path("project.yml").write_text(
        text.replace("    checksum:", "    mirror: copies\n    checksum:")
    )
    (mirror / "old_terms.txt").unlink()
    (mirror / "terms.gz").write_bytes(gzip.compress(b"others"))
    with pytest.raises(AngelError, match=r"one/terms\.gz from .* has the MD5 checksum"):
        bring(mirror=mirror)


def test_with_a_mirror_nothing_is_downloaded_for_what_it_lacks(project: Path, mirror: Path):
    (mirror / "dev.txt").unlink()
    with pytest.raises(AngelError, match=r"dev\.txt is missing.*with a mirror nothing is downl"):
        bring(mirror=mirror)
    assert Host.asked == []


def test_a_file_that_no_asset_gives_is_told(project: Path):
    text = Path("configs/datasets.yml").read_text()
    Path("configs/datasets.yml").write_text(text.replace("file: dev.txt", "file: div.txt"))
    with pytest.raises(AngelError, match=r"div\.txt is missing\. project\.yml does not list it"):
        bring()


def test_a_download_with_a_wrong_checksum_is_told(project: Path, host):
    web, address = host
    (web / "data.zip").write_bytes(packed(**{"train.txt": b"other", "dev.txt": DEV}))
    with pytest.raises(AngelError) as error:
        bring()
    assert "has the sha256 checksum" in str(error.value)
    assert f"{address}/data.zip" in str(error.value)
    assert lying(project / "assets") == {}


def test_an_md5_counts_as_well(project: Path, host):
    (host[0] / "terms.gz").write_bytes(gzip.compress(b"others"))
    with pytest.raises(AngelError, match=r"terms\.gz has the md5 checksum"):
        bring()
    assert "one/terms.gz" not in lying(project / "assets")


def test_a_damaged_download_of_an_earlier_run_is_not_used(project: Path):
    (project / "assets/downloads").mkdir(parents=True)
    (project / "assets/downloads/data.zip").write_bytes(packed(**{"train.txt": b"other"}))
    with pytest.raises(AngelError, match=r"data\.zip from .* has the SHA256 checksum"):
        bring()


@pytest.mark.parametrize(
    ("archive", "problem"),
    [
        (packed(other=b"x"), "0 files named train.txt"),
        (packed(**{"a/train.txt": b"x", "b/train.txt": b"y"}), "2 files named train.txt"),
        (packed(**{"train.txt": b"x" * 99})[:60], "not a zip file"),
    ],
    # An archive holds the time it was made: as an id it would differ between test processes.
    ids=["none", "two", "cut"],
)
def test_an_archive_that_does_not_fit_is_told(tmp_path: Path, archive: bytes, problem: str):
    (tmp_path / "x.zip").write_bytes(archive)
    with pytest.raises(AngelError, match=rf"x\.zip cannot be unpacked.*{problem}"):
        fetch.unpack(tmp_path / "x.zip", "train.txt", tmp_path / "to/train.txt")
    assert not (tmp_path / "to/train.txt").exists()


def test_what_is_licensed_is_not_fetched_but_explained(project: Path, mirror: Path):
    with pytest.raises(AngelError, match=r"assets/licensed/release is missing\. Ask the owner"):
        bring("licensed")
    with pytest.raises(AngelError, match=r"not in \S+/copies\. Ask the owner"):
        bring("licensed", mirror)
    (mirror / "release").mkdir()
    (mirror / "release/terms.txt").write_bytes(TERMS)
    for _ in range(2):
        assert bring("licensed", mirror) == []
        assert (project / "assets/licensed/release/terms.txt").read_bytes() == TERMS


def test_the_command_ends_with_the_message_alone(project: Path, mirror: Path):
    app = typer.Typer()
    app.command()(fetch.main)
    result = CliRunner().invoke(app, ["one", "one", "--mirror", str(mirror.parent)])
    assert (result.exit_code, result.stdout) == (
        0,
        "assets/one: complete but for its test split\n",
    )
    result = CliRunner().invoke(app, ["two"])
    assert result.exit_code == 1
    assert "has no dataset 'two'. Known: one, licensed." in str(result.exception)
