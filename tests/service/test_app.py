"""The web service: what it answers, in which format, and what it refuses."""

import json
import re
import threading

import pytest
from fastapi.testclient import TestClient
from support.tiny_linker import TEXT

from spacy_angel.corpora.registry import read_corpus
from spacy_angel.service.app import OPEN_PATHS, make_app
from spacy_angel.service.formats import accepted
from spacy_angel.service.guards import Access
from spacy_angel.service.limits import Refused
from spacy_angel.service.metrics import Metrics

SECRET = "Kreszenzia Obermoser"
HERE = "http://127.0.0.1:8000"


@pytest.fixture
def client(service):
    metrics = Metrics()
    app = make_app(service, Access(open_paths=frozenset(OPEN_PATHS)), metrics)
    with TestClient(app, base_url=HERE, raise_server_exceptions=False) as client:
        yield client


def link(client, body, accept="application/json", **parameters):
    answer = client.post("/link", json=body, params=parameters, headers={"Accept": accept})
    assert answer.status_code == 200, answer.text
    return answer


def told(answer, status):
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["error"]
    line = answer.json()["error"]
    assert "\n" not in line
    return line


def test_a_text_gives_what_the_pipeline_gives(client, nlp):
    (document,) = link(client, {"text": TEXT}).json()["documents"]
    expected = [(e.start_char, e.end_char, e.label_, e.kb_id_) for e in nlp(TEXT).ents]
    found = [(m["start"], m["end"], m["label"], m["concept_id"]) for m in document["mentions"]]
    assert found == expected
    assert document["doc_id"] == "1"
    first = document["mentions"][0]
    assert (first["status"], first["name"]) == ("linked", "Heart attack")
    assert 0 < first["probability"] <= 1
    assert first["share"] is None
    assert {"why", "candidates"} & set(first) == set()


def test_one_request_may_have_all_kinds_in_their_order(client):
    body = {
        "text": "aspirin.",
        "texts": ["migraine.", ""],
        "documents": [
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


def test_a_mention_of_punctuation_alone_is_nil(client):
    mentions = [{"start": 0, "end": 1, "label": "DISEASE"}, {"start": 2, "end": 5}]
    body = {"documents": [{"text": "( +/- aspirin", "mentions": mentions}]}
    (document,) = link(client, body, explain=True).json()["documents"]
    assert [m["status"] for m in document["mentions"]] == ["nil", "nil"]


def test_nil_and_labels_that_are_not_linked_are_told_apart(client, nlp):
    linker = nlp.get_pipe("angel_linker")
    strings = [{"text": "aspirin", "label": "VARIANT"}, {"text": "aspirin", "label": "DRUG"}]
    with linker.using(threshold=1.0):
        answer = link(client, {"strings": strings}, explain=True).json()["strings"]
    assert [m["status"] for m in answer] == ["skipped", "nil"]
    assert [m["concept_id"] for m in answer] == [None, None]
    assert answer[0]["nil_probability"] is None
    assert 0 <= answer[1]["nil_probability"] <= 1
    assert "under the threshold" in answer[1]["why"]
    assert answer[1]["candidates"][0]["concept_id"] == "MESH:D001241"


def test_explain_gives_the_reasons(client):
    mention = link(client, {"text": "aspirin."}, explain=True).json()["documents"][0]["mentions"][0]
    assert mention["why"].startswith("It is a name of the concept")
    assert mention["candidates"][0]["name"] == "Aspirin"
    assert "Aspirin" in mention["candidates"][0]["names"]


def test_pubtator_and_bioc_are_read_back_as_they_were(client, tmp_path):
    body = {"texts": [TEXT], "documents": [{"text": "aspirin", "mentions": []}]}
    expected = [
        (m["start"], m["end"], m["concept_id"])
        for m in link(client, body).json()["documents"][0]["mentions"]
    ]
    for kind, name in (("x-pubtator", "a.pubtator"), ("bioc+json", "a.json")):
        answer = link(client, body, f"application/{kind}")
        assert answer.headers["content-type"] == f"application/{kind}"
        (tmp_path / name).write_bytes(answer.content)
        first, second = read_corpus(tmp_path / name)
        assert [(m.start, m.end, m.concept_ids) for m in first.mentions] == expected
        assert (first.text, second.mentions) == (TEXT, ())
    infons = json.loads(answer.content)["documents"][0]["passages"][0]["annotations"][0]["infons"]
    assert infons["name"] == "Heart attack"
    assert 0 < float(infons["probability"]) <= 1


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        (None, "application/json"),
        ("", "application/json"),
        ("*/*", "application/json"),
        ("application/*", "application/json"),
        ("text/html, application/json;q=0.9", "text/html"),
        (
            "text/*;q=0.5, application/bioc+json;q=x, APPLICATION/X-PUBTATOR;q=0.7",
            "application/x-pubtator",
        ),
        ("image/png, */*;q=0.1", "application/json"),
    ],
)
def test_the_media_type_that_is_liked_best(header, kind):
    assert accepted(header) == kind


@pytest.mark.parametrize("header", ["image/png", "application/json;q=0", ";;,=", "text"])
def test_no_media_type_that_is_known(header):
    with pytest.raises(Refused, match=r"application/bioc\+json") as refused:
        accepted(header)
    assert refused.value.status == 406


def test_the_page_gets_the_links_as_html_and_nothing_of_a_text_is_html(client):
    text = "<script>alert(1)</script> \u202e heart attack <img src=x onerror=alert(1)> & aspirin"
    html = link(client, {"text": text}, "text/html").text
    assert "<h2>2 of 2 mentions linked</h2>" in html
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html
    assert "\u202e" in html


def test_names_as_one_types_them(client):
    concepts = client.get("/concepts", params={"q": "heart a"}).json()["concepts"]
    assert concepts[0]["how"] == "prefix"
    assert {"MESH:D009203"} <= {c["concept_id"] for c in concepts}
    assert len(client.get("/concepts", params={"q": "heart", "limit": 1}).json()["concepts"]) == 1
    assert client.get("/concepts", params={"q": "qqqq"}).json() == {"concepts": []}
    assert "q" in told(client.get("/concepts"), 422)
    assert "limit" in told(client.get("/concepts?q=a&limit=0"), 422)


def test_a_concept(client):
    concept = client.get("/concepts/MESH:D009203").json()
    assert (concept["name"], concept["types"]) == ("Myocardial Infarction", ["T047"])
    assert concept["url"] == "https://meshb.nlm.nih.gov/record/ui?ui=D009203"
    assert client.get("/concepts/d009203").status_code in (200, 404)
    assert "identifier" in told(client.get("/concepts/MESH:D1"), 404)


def test_health_and_figures(client):
    link(client, {"texts": [TEXT, "aspirin."]})
    health = client.get("/health").json()
    assert (health["status"], health["concepts"]) == ("ok", 8)
    figures = client.get("/metrics").text
    assert "spacy_angel_documents_total 2.0" in figures
    assert re.search(r'spacy_angel_mentions_total\{status="linked"\} [1-9]', figures)
    assert "spacy_angel_waiting_requests 0.0" in figures


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({SECRET: 1}, "a field of another name"),
        ({"text": 1}, "text: Input should be a valid string"),
        ({"text": [SECRET]}, "text: Input should be a valid string"),
        ({"texts": SECRET}, "texts"),
        ({"documents": [{"text": SECRET, "mentions": [{"start": 5, "end": 99}]}]}, "mentions[0]"),
        ({"documents": [{"text": SECRET, "mentions": [{"start": 5, "end": 5}]}]}, "mentions[0]"),
        ({"documents": [{"text": "a b", "mentions": [{"start": 1, "end": 3}]}]}, "mentions[0]"),
        ({"documents": [{"text": "", "mentions": [{"start": 0, "end": 1}]}]}, "mentions[0]"),
        ({"documents": [{"text": SECRET, "doc_id": "a|b"}]}, "doc_id"),
        ({"strings": [{"text": SECRET, "context": "nothing of it"}]}, "strings[0]"),
        ({"strings": [{"text": "  "}]}, "strings[0]"),
        ({"strings": [{"text": "a", "label": "<b>"}]}, "label"),
        ({"texts": ["a"] * 21}, "21 documents; at most 20 are allowed"),
        ({"documents": [{"text": "a", "mentions": [{"start": 0, "end": 1}] * 31}]}, "31 mentions"),
        ({"text": "a" * 2001}, "2,001 characters in one text; at most 2,000 are allowed"),
        ({"strings": [{"text": "a", "context": "a " * 1001}]}, "2,002 characters in one text"),
        ([SECRET], "body"),
    ],
)
def test_what_does_not_fit_is_told_in_one_line_without_the_text(client, body, line):
    answer = told(client.post("/link", json=body), 422)
    assert line in answer
    assert "Kreszenzia" not in answer
    assert "Obermoser" not in answer


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b'{"text": "\\ud800"}', b"\xff\xfe", b"[" * 5000, b'{"text": ' + b"9" * 5000],
)
def test_a_body_that_is_no_json_is_told(client, content):
    answer = client.post("/link", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    told(answer, answer.status_code)


def test_a_body_that_is_too_large_is_refused_with_its_length_or_without(client):
    body = json.dumps({"text": SECRET * 1100}).encode()
    assert "20,000 bytes" in told(client.post("/link", content=body), 413)

    def pieces():
        yield from (body[i : i + 1000] for i in range(0, len(body), 1000))

    assert "20,000 bytes" in told(client.post("/link", content=pieces()), 413)
    assert client.get("/health").status_code == 200


def test_unknown_addresses_and_methods_are_told(client):
    assert told(client.get("/nothing"), 404) == "Not Found."
    assert told(client.get("/link"), 405) == "Method Not Allowed."


def test_only_so_many_requests_wait(client, service, nlp, monkeypatch):
    goes_on = threading.Event()
    linked = service.queue._link

    def slow(jobs):
        goes_on.wait(30)
        return linked(jobs)

    monkeypatch.setattr(service.queue, "_link", slow)
    answers = []

    def ask():
        answers.append(client.post("/link", json={"text": "aspirin."}))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    while service.queue.n_waiting < 4:
        pass
    refused = client.post("/link", json={"text": "aspirin."})
    assert "4 requests are waiting" in told(refused, 429)
    assert refused.headers["retry-after"] == "1"
    goes_on.set()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [200] * 4


def test_a_document_that_the_pipeline_fails_on_is_named_without_its_text(client, nlp, caplog):
    from spacy.language import Language

    @Language.component("fails_on_a_name")
    def fails(doc):
        if SECRET in doc.text:
            raise RuntimeError(doc.text)
        return doc

    nlp.add_pipe("fails_on_a_name", first=True)
    try:
        line = told(client.post("/link", json={"texts": ["aspirin.", SECRET]}), 500)
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
    line = told(client.get("/concepts?q=a"), 500)
    assert "RuntimeError" in line
    assert "RuntimeError in " in caplog.text
    printed = "".join(capsys.readouterr())
    assert "Obermoser" not in line + caplog.text + printed


def test_the_texts_leave_nothing_behind_in_the_pipeline(service, nlp, client):
    texts = [f"quxo{i} heart attack zork{i}" for i in range(20)]
    link(client, {"texts": ["warm heart attack"]})
    before = len(nlp.vocab.strings)
    link(client, {"texts": texts})
    assert len(nlp.vocab.strings) == before
    again = link(client, {"texts": texts}).json()
    assert all(d["mentions"][0]["concept_id"] for d in again["documents"])


def test_the_page_loads_nothing_else(client):
    answer = client.get("/")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    for part in ("default-src 'none'", "connect-src 'self'", "sha256-"):
        assert part in policy
    assert not re.search(r"""(src|href)=["']?(https?:)?//|@import|url\(""", answer.text)
    assert client.get("/openapi.json").json()["paths"].keys() >= {"/link", "/concepts", "/health"}


def test_the_examples_of_the_description_are_answered(client):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    for example in schemas["LinkRequest"]["examples"]:
        answer = link(client, example).json()
        assert answer["documents"] or answer["strings"]
