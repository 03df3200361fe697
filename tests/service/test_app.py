"""The web service: what it answers, in which format, and what it refuses."""

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient
from service.conftest import LIMITS, SECRET, until
from spacy.language import Language
from support.tiny_linker import TEXT

from spacy_angel.linking.mentions.reading import find_spans
from spacy_angel.service import linking
from spacy_angel.service.app import make_app
from spacy_angel.service.guards import Access

HERE = "http://127.0.0.1:8000"


@pytest.fixture
def client(service):
    app = make_app(service, Access())
    with TestClient(app, base_url=HERE, raise_server_exceptions=False) as client:
        yield client


def link(client, body, **parameters):
    answer = client.post("/link", json=body, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer


def problem(answer, status):
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["error"]
    line = answer.json()["error"]
    assert "\n" not in line
    return line


def test_a_text_gives_what_the_pipeline_gives(client, nlp):
    expected = [(e.start_char, e.end_char, e.label_, e.kb_id_) for e in nlp(TEXT).ents]
    (document,) = link(client, {"text": TEXT}).json()["documents"]
    found = [(m["start"], m["end"], m["label"], m["concept_id"]) for m in document["mentions"]]
    assert found == expected
    assert document["doc_id"] == "1"
    first = document["mentions"][0]
    assert (first["status"], first["name"]) == ("linked", "Heart attack")
    assert 0 < first["probability"] <= 1
    assert {"why", "candidates"} & set(first) == set()


def test_one_request_may_have_all_kinds_in_their_order(client):
    body = {
        "text": "aspirin.",
        "documents": [
            {"text": "migraine."},
            {"text": ""},
            {"text": "no aspirin", "doc_id": "x 9", "mentions": [{"start": 3, "end": 10}]},
            {"text": "heart attack"},
        ],
        "strings": [
            {"text": "MLD", "label": "DISEASE", "context": "XMLD in history of mld."},
            {"text": "aspirin"},
        ],
    }
    answer = link(client, body).json()
    ids = [[m["concept_id"] for m in d["mentions"]] for d in answer["documents"]]
    assert ids[0] == ids[3] == ["MESH:D001241"]
    assert ids[2] == []
    assert [d["doc_id"] for d in answer["documents"]] == ["1", "2", "3", "x 9", "5"]
    first, second = answer["strings"]
    # as a word of its own, in other letters, rather than within a word
    assert (first["start"], first["text"], second["concept_id"]) == (19, "mld", "MESH:D001241")
    assert link(client, {}).json() == {"documents": [], "strings": []}


def test_mentions_that_overlap_and_cut_words_are_linked_each(client):
    mentions = [{"start": 0, "end": 12}, {"start": 6, "end": 12}, {"start": 1, "end": 4}]
    body = {"documents": [{"text": "heart attack", "mentions": mentions}]}
    ((document),) = link(client, body).json()["documents"]
    assert [m["text"] for m in document["mentions"]] == ["heart attack", "attack", "ear"]


def test_nil_and_labels_that_are_not_linked_are_told_apart(client, nlp):
    linker = nlp.get_pipe("angel_linker")
    strings = [{"text": "aspirin", "label": "VARIANT"}, {"text": "aspirin", "label": "DRUG"}]
    with linker.using(decision={"threshold": 1.0}):
        answer = link(client, {"strings": strings}, explain=True).json()["strings"]
    assert [m["status"] for m in answer] == ["skipped", "nil"]
    assert [m["concept_id"] for m in answer] == [None, None]
    assert answer[0]["nil_probability"] is None
    assert 0 <= answer[1]["nil_probability"] <= 1
    assert "under the threshold" in answer[1]["why"]
    assert answer[1]["candidates"][0]["concept_id"] == "MESH:D001241"


def test_concepts_by_name_and_by_identifier(client):
    concepts = client.get("/concepts", params={"q": "heart a"}).json()
    assert concepts[0]["how"] == "prefix"
    assert {"MESH:D009203"} <= {c["concept_id"] for c in concepts}
    assert len(client.get("/concepts", params={"q": "heart", "limit": 1}).json()) == 1
    assert client.get("/concepts", params={"q": "qqqq"}).json() == []
    assert "q" in problem(client.get("/concepts"), 422)
    assert "limit" in problem(client.get("/concepts?q=a&limit=0"), 422)
    concept = client.get("/concepts/MESH:D009203").json()
    assert (concept["canonical_name"], concept["types"]) == ("Myocardial Infarction", ["T047"])
    assert "identifier" in problem(client.get("/concepts/MESH:D1"), 404)


def test_health_and_figures(client):
    link(client, {"documents": [{"text": TEXT}, {"text": "aspirin."}]})
    health = client.get("/health").json()
    assert (health["status"], health["concepts"]) == ("ok", 8)
    figures = client.get("/metrics").text
    assert "spacy_angel_documents_total 2.0" in figures
    assert re.search(r'spacy_angel_mentions_total\{status="linked"\} [1-9]', figures)
    assert "spacy_angel_waiting_requests 0.0" in figures


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({SECRET: 1}, "(unknown field)"),
        ({"text": 1}, "text: Input should be a valid string"),
        ({"text": [SECRET]}, "text: Input should be a valid string"),
        ({"documents": [{"text": SECRET, "mentions": [{"start": 5, "end": 99}]}]}, "mentions[0]"),
        ({"documents": [{"text": SECRET, "mentions": [{"start": 5, "end": 5}]}]}, "mentions[0]"),
        ({"documents": [{"text": "a b", "mentions": [{"start": 1, "end": 3}]}]}, "mentions[0]"),
        ({"documents": [{"text": SECRET, "doc_id": ""}]}, "doc_id"),
        ({"strings": [{"text": SECRET, "context": "nothing of it"}]}, "strings[0]"),
        ({"strings": [{"text": "  "}]}, "strings[0]"),
        ({"strings": [{"text": "a", "label": "<b>"}]}, "label"),
        ({"documents": [{"text": "a"}] * 21}, "21 documents; at most 20 are allowed"),
        ({"text": "a" * 2001}, "2,001 characters in one text; at most 2,000 are allowed"),
        ({"strings": [{"text": "a", "context": "a " * 1001}]}, "2,002 characters in one text"),
        ([SECRET], "body"),
    ],
)
def test_what_does_not_fit_is_reported_in_one_line_without_the_text(client, body, line):
    answer = problem(client.post("/link", json=body), 422)
    assert line in answer
    assert "Kreszenzia" not in answer
    assert "Obermoser" not in answer


@pytest.mark.parametrize(
    "content",
    [b"", b'{"text": "\\ud800"}', b"\xff\xfe", b"[" * 5000, b'{"text": ' + b"9" * 5000],
)
def test_a_body_that_is_no_json_is_refused(client, content):
    answer = client.post("/link", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    problem(answer, answer.status_code)


def test_a_body_that_is_too_large_is_refused_with_its_length_or_without(client):
    body = json.dumps({"text": SECRET * 1100}).encode()
    assert "20,000 bytes" in problem(client.post("/link", content=body), 413)

    def pieces():
        yield from (body[i : i + 1000] for i in range(0, len(body), 1000))

    assert "20,000 bytes" in problem(client.post("/link", content=pieces()), 413)
    assert client.get("/health").status_code == 200


def test_waiting_requests_are_limited_in_number_and_time(client, service, monkeypatch):
    goes_on = threading.Event()
    linked = service.pipeline.link

    def slow(jobs):
        goes_on.wait(60)
        return linked(jobs)

    monkeypatch.setattr(service.pipeline, "link", slow)
    monkeypatch.setattr(service, "limits", replace(LIMITS, max_seconds=1))
    assert "more than 1 seconds" in problem(client.post("/link", json={"text": "a"}), 503)
    monkeypatch.setattr(service, "limits", LIMITS)
    body = {"text": "aspirin."}
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(client.post, "/link", json=body) for _ in range(4)]
        until(lambda: service.n_waiting == 4)
        refused = client.post("/link", json=body)
        goes_on.set()
    assert "4 requests are waiting" in problem(refused, 429)
    assert refused.headers["retry-after"] == "1"
    assert [answer.result().status_code for answer in answers] == [200] * 4


def test_a_document_with_many_mentions_is_linked_in_passes(client, nlp, monkeypatch):
    monkeypatch.setattr(linking, "MAX_COST", 2)
    monkeypatch.setattr(linking, "MAX_DOCUMENT_COST", 2)
    expected = [ent.text for ent in nlp(TEXT).ents]
    passes = []
    linker = nlp.get_pipe("angel_linker")
    predict = linker.predict

    def counted(docs):
        passes.append(
            sum(len(find_spans(doc, linker.settings.candidates.span_key)) for doc in docs)
        )
        return predict(docs)

    monkeypatch.setattr(linker, "predict", counted)
    mentions = [{"start": 0, "end": 7}] * 3 + [{"start": 8, "end": 15}] * 2
    given = {"text": "aspirin aspirin", "mentions": mentions}
    body = {"documents": [{"text": TEXT}, {"text": "aspirin."}, given]}
    documents = link(client, body, explain=True).json()["documents"]
    assert passes == [2, 2, 2, 2, 1]
    assert [mention["text"] for mention in documents[0]["mentions"]] == expected
    assert [m["concept_id"] for m in documents[2]["mentions"]] == ["MESH:D001241"] * 5


def test_a_document_that_the_pipeline_fails_on_is_named_without_its_text(client, nlp, caplog):
    @Language.component("fails_on_a_name")
    def fails(doc):
        if SECRET in doc.text:
            raise RuntimeError(doc.text)
        return doc

    nlp.add_pipe("fails_on_a_name", first=True)
    try:
        body = {"documents": [{"text": "aspirin."}, {"text": SECRET}]}
        line = problem(client.post("/link", json=body), 500)
        assert "document 2" in line
        assert "RuntimeError" in line
        assert link(client, {"text": "aspirin."}).json()["documents"][0]["mentions"]
    finally:
        nlp.remove_pipe("fails_on_a_name")
    assert "Obermoser" not in line + caplog.text


def test_a_fault_of_the_service_is_one_line_and_logged_without_its_text(
    client, service, monkeypatch, caplog, capsys
):
    def fails(text, limit):
        raise RuntimeError(SECRET)

    monkeypatch.setattr(service, "search", fails)
    line = problem(client.get("/concepts?q=a"), 500)
    assert "RuntimeError" in line
    assert "RuntimeError in " in caplog.text
    printed = "".join(capsys.readouterr())
    assert "Obermoser" not in line + caplog.text + printed


def test_the_texts_leave_nothing_behind_in_the_pipeline(nlp, client):
    given = [{"text": f"quxo{i} heart attack zork{i}"} for i in range(20)]
    for _ in range(2):
        documents = link(client, {"documents": given}).json()["documents"]
        assert all(document["mentions"][0]["concept_id"] for document in documents)
        until(lambda: not any(word.startswith(("quxo", "zork")) for word in nlp.vocab.strings))


def test_the_page_loads_nothing_from_elsewhere(client):
    page = client.get("/").text
    assert "default-src 'none'" in page
    assert "connect-src 'self'" in page
    found = re.findall(r"""(?:src|href)="(page/[^"]+)""", page)
    assert found == ["page/page.css", "page/page.js"]
    texts = [page, *(client.get(path).text for path in found)]
    assert not re.search(
        r"""(src|href)=["']?(https?:)?//|@import|url\(|innerHTML""", "".join(texts)
    )
    assert problem(client.get("/page/../app.py"), 404) == "Not Found."
    assert problem(client.get("/link"), 405) == "Method Not Allowed."
    assert client.get("/openapi.json").json()["paths"].keys() >= {"/link", "/concepts", "/health"}
