from xml.dom import minidom

from spacy_angel.evaluation.figures import write_figures


def group(name, mentions, errors, lenient):
    return {
        **{"name": name, "mentions": mentions, "errors": errors, "strict_errors": errors},
        **{"lenient": lenient, "strict": lenient},
    }


def margin(low, pairs, mean, below):
    return {"low": low, "high": low + 0.1, "pairs": pairs, "mean": mean, "below": below}


ONE = {
    "analyses": {
        "similarity": [group("0.0-0.2", 10, 6, 40.0), group("0.2-0.4", 0, 0, None)],
        "margins": [margin(0.0, 1200, 8.25, 1.5), margin(0.1, 0, None, None)],
    }
}
OTHER = {
    "analyses": {
        "similarity": [group("0.0-0.2", 10, 2, 80.0), group("0.2-0.4", 0, 0, None)],
        "margins": [margin(0.0, 1200, 9.5, 0.5), margin(0.1, 0, None, None)],
    }
}


def test_tables_and_pictures_of_both_systems(tmp_path):
    charts = write_figures([ONE, OTHER], ["A: x", "B: x"], tmp_path)
    assert len(charts) == 2
    table = (tmp_path / "figure-4.md").read_text("utf8").splitlines()
    assert table[2:] == [
        "| similarity | mentions | A: x | B: x | errors of A: x | errors of B: x |",
        "| --- | --: | --: | --: | --: | --: |",
        "| 0.0-0.2 | 10 | 40.0 | 80.0 | 6 | 2 |",
        "| 0.2-0.4 | 0 | – | – | 0 | 0 |",
    ]
    rows = (tmp_path / "figure-3.md").read_text("utf8").splitlines()[4:]
    assert rows == [
        "| 0.0-0.1 | 1,200 | 8.25 | 9.50 | 1.5 | 0.5 |",
        "| 0.1-0.2 | 0 | – | – | – | – |",
    ]
    for name in ("figure-3.svg", "figure-4.svg"):
        assert minidom.parse(str(tmp_path / name)).documentElement.tagName == "svg"


def test_only_what_both_have(tmp_path):
    without = {"analyses": {"similarity": OTHER["analyses"]["similarity"]}}
    assert len(write_figures([ONE, without], ["A", "B"], tmp_path)) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure-4.md", "figure-4.svg"]
    assert write_figures([ONE, {}], ["A", "B"], tmp_path / "none") == []
