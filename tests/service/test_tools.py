"""The tools for language models, by the client of the protocol's own package."""

import asyncio
import json
import sys

import pytest
from mcp import Client, StdioServerParameters
from service.conftest import SECRET
from support.tiny_linker import TEXT

from spacy_angel.service.guards import Guard, access_for
from spacy_angel.service.tools import (
    NOT_IN_VOCABULARY,
    NOT_LINKED,
    UNCERTAIN,
    make_http_app,
    make_server,
)


def calls(server, *asked):
    """Call tools, by name and arguments, over one connection."""

    async def run():
        async with Client(server) as client:
            return [await client.call_tool(name, arguments) for name, arguments in asked]

    return asyncio.run(run())


@pytest.fixture
def server(service):
    return make_server(service)


def test_a_text_strings_a_concept_and_names(server):
    strings = [{"text": "aspirin"}, {"text": "MLD", "label": "DISEASE", "context": "with MLD."}]
    text, grounded, concept, names = calls(
        server,
        ("link_text", {"text": TEXT}),
        ("ground_strings", {"strings": strings}),
        ("look_up_concept", {"concept_id": "MESH:D009203"}),
        ("search_names", {"text": "heart f"}),
    )
    links = text.structured_content["links"]
    assert [link["mention"] for link in links] == ["heart attack", "migraine", "aspirin"]
    assert all(link["note"] == "linked" and link["concept_id"] for link in links)
    ids = [link["concept_id"] for link in grounded.structured_content["links"]]
    assert ids == ["MESH:D001241", "OMIM:250100"]
    # what a model reads is the same, and small
    assert json.loads(grounded.content[0].text) == grounded.structured_content
    assert len(grounded.content[0].text) < 600
    assert concept.structured_content["canonical_name"] == "Myocardial Infarction"
    assert names.structured_content["concepts"][0]["concept_id"] == "MESH:D006333"


def test_identifiers_are_checked_against_their_labels(server):
    pairs = [("MESH:D009203", "Heart attack"), ("MESH:D001241", "migraine"), ("X:1", "aspirin")]
    identifiers = [dict(zip(("concept_id", "label"), pair, strict=True)) for pair in pairs]
    (answer,) = calls(server, ("check_identifiers", {"identifiers": identifiers}))
    checks = answer.structured_content["result"]
    assert [(check["status"], check["suggestion"]) for check in checks] == [
        ("ok", ""),
        ("other concept", "MESH:D008881 Migraine Disorders"),
        ("unknown identifier", "MESH:D001241 Aspirin"),
    ]


def test_nothing_is_said_plainly(server, nlp):
    asked = [
        ("ground_strings", {"strings": [{"text": "aspirin"}, {"text": "x", "label": "VARIANT"}]}),
        ("search_names", {"text": "qqqq"}),
    ]
    with nlp.get_pipe("angel_linker").using(decision={"threshold": 1.0}):
        grounded, names = calls(server, *asked)
    nil, skipped = grounded.structured_content["links"]
    # Of what the threshold leaves out, the probability of NIL is small.
    assert (nil["concept_id"], nil["note"]) == (None, f"{UNCERTAIN}: {NOT_IN_VOCABULARY}")
    assert (skipped["concept_id"], skipped["note"]) == (None, NOT_LINKED)
    assert names.structured_content == {"concepts": [], "note": NOT_IN_VOCABULARY}


def test_answers_are_small_and_come_in_pages(server):
    strings = [{"text": "aspirin", "context": f"aspirin {i}"} for i in range(20)]
    found, offset = [], 0
    while offset is not None:
        (answer,) = calls(server, ("ground_strings", {"strings": strings, "offset": offset}))
        assert len(answer.model_dump_json()) < 8192
        page = answer.structured_content
        found += page["links"]
        offset = page["next_offset"]
    assert len(found) == 20
    (refused,) = calls(server, ("search_names", {"text": "a", "limit": 99}))
    assert refused.is_error
    assert "limit" in refused.content[0].text


def test_errors_are_one_line_without_the_text(server, service, monkeypatch, caplog):
    def fails(text, limit):
        raise RuntimeError(text)

    monkeypatch.setattr(service, "search", fails)
    results = calls(
        server,
        ("look_up_concept", {"concept_id": "MESH:D1"}),
        ("ground_strings", {"strings": [{"text": SECRET, "context": "nothing of it"}]}),
        ("ground_strings", {"strings": [{"text": SECRET, "label": "<b>"}]}),
        ("link_text", {"text": [SECRET]}),
        ("search_names", {"text": SECRET * 50}),
        ("link_text", {"text": SECRET * 110}),
        ("search_names", {"text": SECRET}),
    )
    told = [result.content[0].text for result in results]
    assert all(result.is_error for result in results)
    said = ["has this identifier", "not in its context"]
    said += ["label", "text", "text", "2,000", "Runtime"]
    assert [part in line for part, line in zip(said, told, strict=True)] == [True] * 7
    assert "Obermoser" not in "".join(told) + caplog.text
    assert all("\n" not in line for line in told)


@pytest.mark.slow
def test_over_http_with_the_same_guards(service, start, tmp_path):
    import httpx2 as httpx

    token = tmp_path / "token"
    token.write_text("correct-horse-battery-staple")
    addresses = []
    for file in (None, token):
        app = make_http_app(make_server(service), service.limits)
        access = access_for("127.0.0.1", file, [])
        addresses.append(start(Guard(app, access, service.limits)))
    first, second = addresses
    (result,) = calls(f"{first}/mcp", ("link_text", {"text": "aspirin."}))
    assert result.structured_content["links"][0]["concept_id"] == "MESH:D001241"
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for address, headers, status in (
        (first, {"Host": "evil.example"}, 421),
        (first, {"Origin": "http://evil.example"}, 403),
        (second, {}, 401),
    ):
        assert httpx.post(f"{address}/mcp", json=body, headers=headers).status_code == status


@pytest.mark.slow
def test_over_standard_input_and_output(nlp, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "spacy_angel", "mcp", str(tmp_path / "pipeline")]
    )
    (result,) = calls(command, ("link_text", {"text": TEXT}))
    mentions = [link["mention"] for link in result.structured_content["links"]]
    assert mentions == ["heart attack", "migraine", "aspirin"]
