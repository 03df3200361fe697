"""Errors of the file system come with what to do."""

from typer.testing import CliRunner

from spacy_angel.cli.app import app


def test_commands_say_what_to_do(tmp_path) -> None:
    (tmp_path / "file").write_text("x")
    vocabulary = tmp_path / "names.tsv"
    vocabulary.write_text("MY:1\tmigraine\n")
    output = tmp_path / "file" / "kb"
    done = CliRunner().invoke(app, ["kb", "build", str(vocabulary), "-o", str(output)])
    assert done.exit_code == 1
    assert "Errno" not in done.stderr
    assert "A file stands where a folder was expected: check the path." in done.stderr
