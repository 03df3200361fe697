"""The rules of curation in a service that runs: they are read again, whole, without a restart."""

import os

import pytest
import requests
from service.conftest import SECRET
from support.tiny_linker import make_pipeline

from spacy_angel.service.app import make_app
from spacy_angel.service.core import Service
from spacy_angel.service.guards import access_for

ATTACK, ASPIRIN = "MESH:D009203", "MESH:D001241"
TEXT = f"{SECRET} had aspirin ."
HEADER = "action\tstring\tconcept\n"
OLD, NEW = f"prefer\taspirin\t{ATTACK}\n", f"prefer\taspirin\t{ASPIRIN}\n"
BY_RULE = "“aspirin” means"


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.tsv"
    path.write_text(HEADER, "utf8")
    return path


@pytest.fixture
def nlp(model, vocabulary, rules):
    return make_pipeline(model, vocabulary, rerank=True, curation=str(rules))


@pytest.fixture
def address(nlp, start):
    service = Service(nlp, nlp.get_pipe("angel_linker"))
    served = make_app(service, access_for("127.0.0.1", None, []))
    yield start(served)
    service.close()


def put(path, text):
    new = path.with_name("new")
    new.write_text(text, "utf8")
    os.replace(new, path)


def link(address, text=TEXT):
    """Return the concept of the text's only mention, and why."""
    answer = requests.post(f"{address}/link?explain=true", json={"text": text}, timeout=60)
    (mention,) = answer.json()["documents"][0]["mentions"]
    return mention["concept_id"], mention["why"]


def test_a_change_holds_for_the_next_request(address, rules):
    assert BY_RULE not in link(address)[1]
    put(rules, HEADER + OLD)
    assert link(address) == (ATTACK, f"A rule: {BY_RULE} {ATTACK} (line 2).")
    rules.write_text(HEADER + "exclude\taspirin\t\n", "utf8")
    assert link(address) == (None, "A rule: “aspirin” is never linked (line 2).")
    put(rules, HEADER)
    concept, why = link(address)
    assert concept == ASPIRIN
    assert "rule" not in why


def test_a_broken_file_keeps_the_rules_and_is_told_in_one_line(address, rules, caplog):
    put(rules, HEADER + OLD)
    assert link(address)[0] == ATTACK
    for broken in (b"\xff\xfe\x00", b"no such column\n", b"", None):
        caplog.clear()
        if broken is None:
            rules.unlink()
        else:
            rules.write_bytes(broken)
        for _ in range(3):
            assert link(address)[0] == ATTACK
        (line,) = [record.getMessage() for record in caplog.records]
        assert "rules.tsv can no longer be read; its last rules stay in use" in line
        assert "\n" not in line
        assert SECRET not in line
    caplog.clear()
    put(rules, HEADER + NEW + "no-such-action\ta\tb\n")
    assert link(address)[0] == ASPIRIN
    (line,) = [record.getMessage() for record in caplog.records]
    assert "are skipped (1): line 3: there is no action" in line
