"""The page: what it says, that it needs nothing from outside, that a browser shows it."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.evaluation import report
from spacy_angel.evaluation.report import write_comparison, write_report

FIGURES = {"mentions": 2, "acc@1": 50.0, "acc@2": 100.0, "mrr": 75.0, "interval": [10.0, 90.0]}
PRF = {"precision": 50.0, "recall": 50.0, "f": 50.0}
METRICS = {
    "mentions": 2,
    "nil": 1,
    "composites": 0,
    "composites_split": 0,
    "coverage": 100.0,
    "lenient": FIGURES,
    "biosyn": {**FIGURES, "acc@1": 49.9},
    "strict": FIGURES,
    "kb_id": {
        **{"mentions": 2, "acc@1": 48.7, "in_vocabulary": 61.5, "interval": [11.0, 91.0]},
        **{"best_name": 52.3, "first_concept": 53.4},
    },
    "linking": PRF,
    "linking_with_nil": PRF,
    "detection": PRF,
    "ece": 4.2,
    "mentions_per_second": 12.5,
    "analyses": {
        "similarity": [
            {"name": "0.0-0.2", "mentions": 0, "errors": 0, "lenient": None, "strict": None},
            {"name": "0.2-0.4", "mentions": 2, "errors": 0, "lenient": 100.0, "strict": 50.0},
        ],
        "margins": [
            {"low": 0.0, "high": 0.1, "pairs": 3, "mean": -1.5, "below": 66.7},
            {"low": 0.1, "high": 0.2, "pairs": 0, "mean": None, "below": None},
        ],
    },
    "confidence": {
        "mentions": 3,
        "ece": 8.4,
        "bins": [{"low": 0.7, "mentions": 3, "confidence": 75.0, "right": 66.6}],
        "coverage": {"80": {"limit": 0.525, "links": 3, "precision": 95.5}},
    },
    "noise": {
        "typo": {
            "0": {"lenient": 50.0, "strict": 50.0, "kb_id": 48.7, "changed": 0.0},
            "2": {"lenient": 24.1, "strict": 23.4, "kb_id": 22.2, "changed": 99.9},
        }
    },
    "protocols": {
        "belb": {"mentions": 2, "strict": 87.6, "lenient": 88.8},
        "hunflair2": {**PRF, "f": 57.3, "types": {"DISEASE": {**PRF, "f": 57.4}}},
        "document": {
            "micro": {**PRF, "f": 80.5},
            "averaged": {**PRF, "f": 84.3},
            "types": {"DISEASE": {"micro": {**PRF, "f": 80.6}, "averaged": PRF}},
        },
    },
    "run": {"pipeline": "models/mini", "corpus": "data/dev.txt", "train": None},
}
EVIL = "</script><script>document.title = 'broken'</script><b>&amp;"


def record(mention, rank, text="It was ", **values):
    concept = {"id": "MESH:D1", "name": "Gout", "score": 0.75}
    return {
        "doc_id": "1",
        "start": 7,
        "end": 11,
        "mention": mention,
        "label": "Disease",
        "annotated": "D1",
        "left": text,
        "right": " <i>again</i>.",
        "gold": [{"id": "MESH:D1", "name": "Gout", "known": True}],
        "found": True,
        "linked": True,
        "kb_ids": ["MESH:D1"],
        "lenient_rank": 1,
        "strict_rank": rank,
        "names": [{"name": "gout", "ids": ["MESH:D1"], "score": -0.5}],
        "concepts": [concept],
        "parts": [],
        "traits": {"similarity": 0.3, "words": 1, "ambiguity": 1},
        **values,
    }


RECORDS = [record("gout", 1), record("podagra", None, EVIL), record("gout attack", 2)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "metrics.json").write_text(json.dumps(METRICS))
    lines = "".join(json.dumps(one) + "\n" for one in RECORDS)
    (tmp_path / "predictions.jsonl").write_text(lines)
    write_report(tmp_path)
    return tmp_path


def shown(page):
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(data)


class Balanced(HTMLParser):
    """Checks that elements close in order."""

    VOID = frozenset({"meta", "input", "line", "rect", "polyline", "circle"})

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_page_holds_figures_and_mentions(folder):
    page = (folder / "report.html").read_text()
    assert "mini on dev.txt" in page
    for text in ("50.0", "49.9", "10.0–90.0", "75.0", "12.5", "4.2"):
        assert text in page
    for text in (
        "48.7",
        "61.5",
        "11.0–91.0",
        "52.3",
        "53.4",
    ):  # kb_id, its accuracy in the vocabulary
        assert text in page
    for text in ("23.4", "99.9", "0.525", "95.5", "8.4", "87.6", "88.8", "57.4", "80.6", "84.3"):
        assert text in page
    assert "0 of 2" in page  # errors in a bin
    assert shown(page) == RECORDS
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []


def test_page_needs_nothing_from_outside(folder):
    page = (folder / "report.html").read_text()
    assert not re.search(r"(?:src|href|@import|url\()", page)
    assert "http" not in page


def test_a_large_corpus_is_sampled_wrong_ones_first(folder, monkeypatch):
    monkeypatch.setattr(report, "MAX_MENTIONS", 2)
    write_report(folder)
    page = (folder / "report.html").read_text()
    assert [one["mention"] for one in shown(page)] == ["podagra", "gout attack"]
    assert "2 of 3" in page


def test_folds_show_their_spread(folder):
    metrics = {k: v for k, v in METRICS.items() if k != "analyses"}
    metrics |= {
        "spread": {
            "coverage": 0.0,
            "ece": 0.1,
            "confidence": {"ece": 0.7},
            "kb_id": {"acc@1": 4.5, "in_vocabulary": 0.0, "best_name": 0.0, "first_concept": 0.0},
            "lenient": {"acc@1": 1.5, "acc@2": 0.0, "mrr": 0.0},
            "biosyn": {"acc@1": 1.5, "acc@2": 0.0, "mrr": 0.0},
            "strict": {"acc@1": 2.5, "acc@2": 0.0, "mrr": 0.0},
            **{
                key: dict.fromkeys(PRF, 3.5) for key in ("linking", "linking_with_nil", "detection")
            },
        }
    }
    (folder / "metrics.json").write_text(json.dumps(metrics))
    write_report(folder)
    page = (folder / "report.html").read_text()
    assert "50.0 <small>± 2.5</small> %" in page
    assert "50.0 <small>± 3.5</small>" in page
    assert "48.7 <small>± 4.5</small>" in page
    assert "8.4 <small>± 0.7</small> points" in page


def test_comparison_shows_the_mentions_that_differ(tmp_path):
    other = record("gout", None, concepts=[{"id": "MESH:D2", "name": "Ataxia", "score": 0.5}])
    side = {
        "mentions": 2,
        "a": 100.0,
        "b": 50.0,
        "counts": {"both": 1, "only_a": 1, "only_b": 0, "neither": 0},
        "test": {
            "difference": -50.0,
            "low": -100.0,
            "high": 0.0,
            "p_bootstrap": 0.5,
            "p_t_test": 0.01,
        },
    }
    comparison = {"systems": ["a/one", "two"], "strict": side, "lenient": side, "kb_id": side}
    tied = record("gout attack", 1)
    pairs = [(RECORDS[0], other), (RECORDS[1], RECORDS[1]), (RECORDS[2], tied)]
    write_comparison(comparison, pairs, tmp_path, names=("one", "<two>"))
    page = (tmp_path / "report.html").read_text()
    assert "one against &lt;two&gt;" in page
    head = page[: page.index("p, paired bootstrap")].rpartition("<tr>")[2]
    two = "&lt;two&gt;"
    assert f"<th>one</th><th>{two}</th><th>{two} − one (95 %)</th>" in head
    assert f"<th>only one</th><th>only {two}</th>" in page
    assert (
        f'<option value="only_a">only one right</option><option value="only_b">only {two} ' in page
    )
    assert json.loads(page.partition('id="names">')[2].partition("</script>")[0]) == [
        "one",
        "<two>",
    ]
    for lettered in ("A: ", "'A ", "only A", "B − A"):
        assert lettered not in page
    assert "-50.0 <small>(-100.0 to +0.0)</small>" in page
    first, second = shown(page)
    assert first["other"]["concepts"][0]["name"] == "Ataxia"
    assert (second["strict_rank"], second["other"]["strict_rank"]) == (2, 1)
    assert first["other"]["found"]


def test_missing_files_are_named(tmp_path):
    with pytest.raises(AngelError, match=r"metrics\.json"):
        write_report(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"run": 1}', b"9" * 5000]
)
def test_figures_that_are_damaged_are_named(folder, content):
    (folder / "metrics.json").write_bytes(content)
    with pytest.raises(AngelError, match=r"metrics\.json does not hold an evaluation"):
        write_report(folder)


@pytest.mark.parametrize(
    "line", ["{}", "[]", '{"doc_id": "1"', "", "[" * 100_000, '{"start": "x"}', "1" * 5000]
)
def test_predictions_from_elsewhere_are_named(folder, line):
    with open(folder / "predictions.jsonl", "a") as file:
        file.write(line + "\n")
    with pytest.raises(AngelError, match=r"predictions\.jsonl, line 4"):
        write_report(folder)


def test_a_browser_shows_mentions_and_is_not_fooled(folder):
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("needs chromium")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    page = subprocess.run(
        [chromium, *flags, "--dump-dom", (folder / "report.html").as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    assert "<title>mini on dev.txt</title>" in page
    assert page.count("<article>") == 2  # the wrong ones
    assert "<mark>podagra</mark>" in page
    assert "&lt;i&gt;again&lt;/i&gt;" in page
    assert "2 mentions</output>" in page
