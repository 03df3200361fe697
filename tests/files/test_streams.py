"""JSON and XML as streams: objects and elements with their lines, and the limits."""

import pytest

from spacy_angel.errors import AngelError
from spacy_angel.files.faults import FileReading
from spacy_angel.files.json_objects import read_objects
from spacy_angel.files.json_values import parse_json
from spacy_angel.files.xml_stream import stream_elements


def write(folder, text):
    path = folder / "file"
    path.write_text(text, encoding="utf8")
    return path


def objects(path):
    return list(read_objects(path, FileReading("file"), within=["documents"]))


def elements(path):
    kinds = {"set": ["item"], "list": ["entry"]}
    found = stream_elements(path, FileReading("file"), kinds)
    return [(line, element.tag, "".join(element.itertext())) for line, element in found]


@pytest.mark.parametrize(
    "text",
    [
        '{"source": {"documents": 7}, "documents": [{"a": 1},\n{"a": 2}], "end": null}',
        '[{"a": 1},\n{"a": 2}]',
        '{"a": 1}\n{"a": 2}',
        '{"documents": [{"a": 1},\n{"a": 2}]}',
    ],
)
def test_objects(tmp_path, text):
    assert objects(write(tmp_path, text)) == [(1, {"a": 1}), (2, {"a": 2})]


@pytest.mark.parametrize(
    "text", ["", "7", '{"a"', '{"a": 1', "[{}}", '{"a": 1}}', "{1: 2}", '{"a" 1}', '[{"a": 1}']
)
def test_what_is_no_json(tmp_path, text):
    with pytest.raises(AngelError, match="file: the JSON is broken or cut"):
        objects(write(tmp_path, text))


def test_a_broken_line_costs_no_other(tmp_path):
    path = write(tmp_path, '{"a": 1}\n{"a"\n{"a": 2}')
    with pytest.raises(AngelError, match="file, line 2: the JSON is broken or cut"):
        objects(path)
    reading = FileReading("file", strict=False)
    assert list(read_objects(path, reading)) == [(1, {"a": 1}), (3, {"a": 2})]
    assert reading.report.counts["documents_left_out"] == 1


def test_elements(tmp_path):
    path = write(tmp_path, "<set><item>a<item>b</item></item>\n<other/><item>c</item></set>")
    assert elements(path) == [(1, "item", "ab"), (2, "item", "c")]
    assert elements(write(tmp_path, "<list><entry/><item/></list>")) == [(1, "entry", "")]
    with pytest.raises(AngelError, match="start with `<set>` or `<list>`, not <html>"):
        elements(write(tmp_path, "<html/>"))


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_json_that_is_nested_too_deeply(tmp_path, bracket):
    text = bracket * 100_000
    with pytest.raises(ValueError, match="recursion limit"):
        parse_json(text)
    with pytest.raises(AngelError, match=r"file: .*recursion limit"):
        objects(write(tmp_path, f'{{"a":\n{text}}}'))


def test_json_lines_are_read_one_at_a_time(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n' * 2 + "x" * 2**20 + "\n")
    objects = read_objects(path, FileReading("file", strict=True))
    assert [next(objects), next(objects)] == [(1, {"a": 1}), (2, {"a": 1})]
    with pytest.raises(AngelError, match="line 3"):
        next(objects)
