"""What docs/reference/security.md promises: no connection, nothing unpickled without a command."""

import os
import subprocess
import sys

import pytest
from support.helpers import ROOT

# Python imports `sitecustomize` in every process, workers included. An attempt is written down
# because a caller may catch the error and go on.
GUARD = """
import os
import sys

LOG = {log!r}
EVENTS = {events!r}


def guard(event, args):
    if event not in EVENTS:
        return
    if event.startswith("socket.") and isinstance(args[-1], str | bytes):
        return  # an address that is a path: processes of this machine talk to each other
    with open(LOG, "a") as file:
        file.write(f"{{event}} {{args[1:]}}\\n")
    raise PermissionError(event)


sys.addaudithook(guard)
"""
CONNECTIONS = ["socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"]
LINK_AND_BUILD = """
from pathlib import Path

import spacy_angel
from spacy_angel.vocabulary.sources.build import build_vocabulary

nlp = spacy_angel.load()
(ent, *_) = nlp("Aspirin after a heart attack.").ents
assert ent._.kb_id == "MESH:D001241"
Path("own.jsonl").write_text('{"concept_id": "MY:1", "canonical_name": "Snark fever"}\\n')
kb = build_vocabulary([Path("own.jsonl")], Path("kb"))
nlp = spacy_angel.load(kb="kb")
nlp.to_disk("pipeline")
doc = nlp.make_doc("Snark fever.")
doc.ents = [doc.char_span(0, 11, label="DISEASE")]
assert nlp.get_pipe("angel_linker")(doc).ents[0]._.kb_id == "MY:1"
"""
ANNOTATE = """
from pathlib import Path

import spacy_angel

if __name__ == "__main__":
    Path("in.jsonl").write_text('{"doc_id": "1", "text": "Aspirin after a heart attack."}\\n')
    manifest = spacy_angel.annotate(["in.jsonl"], output="out", workers=2)
    assert manifest["counts"]["linked"] == 2
"""


def run_guarded(program, folder, events):
    """Run a program that is refused certain audit events; return the refused ones, a line each."""
    log = folder / "refused.txt"
    site = folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(GUARD.format(log=str(log), events=events))
    (folder / "program.py").write_text(program)
    env = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    env["PYTHONPATH"] = os.pathsep.join([str(site), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=folder, env=env, capture_output=True, text=True
    )
    refused = log.read_text() if log.exists() else ""
    assert refused or done.returncode == 0, done.stderr
    return refused


def test_linking_and_building_connect_to_nothing_and_unpickle_nothing(tmp_path):
    assert run_guarded(LINK_AND_BUILD, tmp_path, [*CONNECTIONS, "pickle.find_class"]) == ""


@pytest.mark.slow
def test_annotating_with_workers_connects_to_nothing(tmp_path):
    assert run_guarded(ANNOTATE, tmp_path, CONNECTIONS) == ""
