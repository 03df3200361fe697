"""Label Studio: tasks with pre-annotations, and the results of annotators.

    [{"data": {"text": "Fever and pain", "doc_id": "1"},
      "predictions": [{"model_version": "spacy-angel", "result": [
        {"id": "1", "type": "labels", "from_name": "label", "to_name": "text",
         "value": {"start": 0, "end": 5, "text": "Fever", "labels": ["Disease"]}},
        {"id": "1", "type": "textarea", "from_name": "concept_id", "to_name": "text",
         "value": {"start": 0, "end": 5, "text": ["MESH:D005334"]}}]}]}]

A region is a result of type `labels`. A text field with the same `id` contains its identifiers, one
per entry. The names of the concepts are in a separate field, which is only displayed to annotators.
Offsets count characters, as in Python.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import quoteattr

from pydantic import AliasChoices, BaseModel, Field

from ...errors import AngelError
from ...files.atomic import replacing, write_text
from ...files.formats import Format
from ...files.json_objects import read_objects
from ...files.json_values import checked
from ...vocabulary.names.identifiers import split_ids
from ..docs import NO_LABEL
from ..documents import CorpusDocument, GoldMention, Reading
from .rows import ID_FIELDS, row_document

Results = Literal["annotations", "predictions"]

_LABELS, _TEXT, _CONCEPT_ID, _NAME = "label", "text", "concept_id", "concept_name"
_TITLE_END = "title_end"
# Types of regions: in a text, and in HTML, whose offsets must be those of the text.
_REGIONS = ("labels", "hypertextlabels")
_HEAD_BYTES = 2**12


class _Result(BaseModel):
    id: str | int = ""
    type: str = ""
    from_name: str = ""
    value: dict[str, Any] = {}
    meta: dict[str, Any] | None = None


class _Work(BaseModel):
    """The result of one annotator or model for a task."""

    result: list[Any]
    was_cancelled: bool = False
    ground_truth: bool = False
    completed_by: int | str | dict[str, Any] | None = None
    model_version: str | None = None

    @property
    def names(self) -> list[str]:
        by = self.completed_by
        given = [by.get("email"), by.get("id")] if isinstance(by, dict) else [by]
        return [str(name) for name in (*given, self.model_version) if name not in (None, "")]


class _Task(BaseModel):
    data: dict[str, Any]
    id: int | str | None = None
    # Old versions called them completions.
    annotations: list[_Work] = Field(
        [], validation_alias=AliasChoices("annotations", "completions")
    )
    predictions: list[_Work] = []


def read_label_studio(
    path: Path,
    reading: Reading,
    results: Results = "annotations",
    annotator: str = "",
    text_field: str = _TEXT,
    id_field: str = _CONCEPT_ID,
) -> Iterator[CorpusDocument]:
    """Read a project exported as JSON, with annotations for each task. Tasks without annotations,
    and annotations that were skipped (cancelled), are ignored and counted.

    path (Path): the JSON file, plain or gzip.
    reading (Reading): handles counts and faults.
    results (Results): `annotations`, or `predictions`, which have not been reviewed.
    annotator (str): number or e-mail address of the annotator, or, for predictions, the model
        version. Required if a task has several annotations, none of them marked as ground truth.
    text_field (str): field of the task's data with the text.
    id_field (str): name of the text field with the identifiers.
    RETURNS (Iterator[CorpusDocument]): documents named by a field of the data, such as `doc_id`,
        `id`, or `pmid`, or else by the number of the task.
    RAISES (AngelError): if the JSON is invalid, or if no task has such results (by the given
        annotator); for other faults if `reading.strict` is set.
    """
    n_tasks = n_empty = 0
    names: dict[str, None] = {}
    for line, value in read_objects(path, reading):
        n_tasks += 1
        with reading.leaving_out(line, "a Label Studio task with a text"):
            task = checked(value, _Task)
            works = _works(task, results, annotator, reading)
            names |= dict.fromkeys(name for work in getattr(task, results) for name in work.names)
            if len(works) > 1:
                by = ", ".join(name for work in works for name in work.names[:1]) or "nobody named"
                message = f"task {task.id} has {len(works)} {results}, by {by}. Use "
                reading.fault_at(line, message + "`annotator=NAME`.", skipped="documents_left_out")
            elif works:
                regions = _regions(works[0].result, id_field, reading, line)
                # The last of the fields that name a document.
                row = {ID_FIELDS[-1]: task.id, **task.data, "mentions": [*regions]}
                yield row_document(row, reading, path, line, "", text_field)
            else:
                n_empty += 1
                reading.report.count("tasks_without_" + results)
    if n_empty == n_tasks:
        raise AngelError(
            f"{path}: none of the {n_tasks} tasks has {results} by {annotator or 'anybody'}. "
            f"Annotators: {', '.join(names) or 'none'}. Try another annotator, or the option "
            "`results` (annotations or predictions)."
        )


def _works(task: _Task, results: Results, annotator: str, reading: Reading) -> list[_Work]:
    """Return the requested results of a task; ground truth takes precedence."""
    works: list[_Work] = getattr(task, results)
    skipped = sum(work.was_cancelled for work in works)
    reading.report.count("cancelled_annotations", skipped)
    works = [work for work in works if not work.was_cancelled]
    if annotator:
        return [work for work in works if annotator in work.names]
    return [work for work in works if work.ground_truth] or works


def _regions(
    given: Iterable[Any], id_field: str, reading: Reading, line: int
) -> Iterator[dict[str, Any]]:
    """Convert regions to the fields of mentions in JSON lines."""
    results = [*reading.valid(given, _Result, line)]
    ids: defaultdict[str | int, list[str]] = defaultdict(list)
    for one in results:
        if one.type == "textarea" and one.from_name == id_field:
            entries = one.value.get("text")
            ids[one.id] += entries if isinstance(entries, list) else [entries or ""]
        elif one.type not in _REGIONS and one.from_name != _NAME:
            note = f"{reading.where(line)}: {one.type} {one.from_name}"
            reading.report.count("results_left_out", note=note)
    for region in (one for one in results if one.type in _REGIONS):
        value = {**region.value, **(region.value.get("globalOffsets") or {})}
        labels = [label for label in value.get(region.type) or () if label != NO_LABEL]
        concept_ids = "|".join(ids[region.id]) or (region.meta or {}).get(id_field)
        yield {**value, "labels": labels, "concept_id": concept_ids}


def write_label_studio(
    documents: Iterable[CorpusDocument],
    path: Path,
    results: Results = "predictions",
    names: Callable[[str], str] | None = None,
) -> None:
    """Write tasks for import, one per line, and the labeling interface for them.

    documents (Iterable[CorpusDocument]): documents, which are written one by one.
    path (Path): the JSON file. The interface is written to a file of the same name with `.xml`;
        paste it into the settings of the project (Labeling Interface, Code).
    results (Results): `predictions`, to be corrected, or `annotations`.
    names (Callable[[str], str] | None): function that returns the name of a concept to display,
        given its identifier.
    """
    labels: dict[str, None] = {}
    with replacing(path) as file:
        file.write(b"[")
        for number, document in enumerate(documents):
            labels |= dict.fromkeys(mention.label or NO_LABEL for mention in document.mentions)
            line = json.dumps(_task(document, results, names), ensure_ascii=False)
            file.write((",\n" if number else "\n").encode() + line.encode("utf8"))
        file.write(b"\n]\n")
    write_text(path.with_suffix(".xml"), labeling_interface(labels, with_names=names is not None))


def _task(
    document: CorpusDocument, results: Results, names: Callable[[str], str] | None
) -> dict[str, Any]:
    result = [
        one
        for number, mention in enumerate(document.mentions, start=1)
        for one in _region(str(number), mention, names)
    ]
    work: dict[str, Any] = {"result": result}
    if results == "predictions":
        work = {"model_version": "spacy-angel", **work}
    data: dict[str, Any] = {_TEXT: document.text, "doc_id": document.doc_id}
    if document.title_end is not None:
        data[_TITLE_END] = document.title_end
    return {"data": data, results: [work]}


def _region(
    number: str, mention: GoldMention, names: Callable[[str], str] | None
) -> Iterator[dict[str, Any]]:
    span = {"start": mention.start, "end": mention.end}
    base: dict[str, Any] = {"id": number, "to_name": _TEXT}
    value = {**span, "text": mention.text, "labels": [mention.label or NO_LABEL]}
    yield {**base, "from_name": _LABELS, "type": "labels", "value": value}
    fields = {_CONCEPT_ID: mention.concept_ids.split("|")}
    if names is not None:
        fields[_NAME] = [names(each) for each in split_ids(mention.concept_ids)]
    for field, entries in fields.items():
        if entries := [entry for entry in entries if entry]:
            answer = {**span, "text": entries}
            yield {**base, "from_name": field, "type": "textarea", "value": answer}


def labeling_interface(labels: Iterable[str], with_names: bool = False) -> str:
    """labels (Iterable[str]): labels to choose from. with_names (bool): also show the concepts'
        names.

    RETURNS (str): the XML of the labeling interface: labels, the text with its white space, and a
        field for the identifiers of each region, and one for their names.
    """
    choices = "".join(f"    <Label value={quoteattr(label)}/>\n" for label in labels)
    shown = f'  <TextArea name="{_NAME}" toName="{_TEXT}" perRegion="true" editable="false"/>\n'
    shown = shown if with_names else ""
    return (
        "<View>\n"
        f'  <Labels name="{_LABELS}" toName="{_TEXT}">\n{choices}  </Labels>\n'
        "  <Style>.htx-text{ white-space: pre-wrap; }</Style>\n"
        f'  <Text name="{_TEXT}" value="${_TEXT}" granularity="symbol"/>\n'
        f'  <TextArea name="{_CONCEPT_ID}" toName="{_TEXT}" perRegion="true" editable="true"\n'
        '            displayMode="region-list" placeholder="Identifier, e.g. MESH:D005334"/>\n'
        f"{shown}</View>\n"
    )


def _recognises(path: Path, head: str) -> bool:
    if not head.startswith(("[", "{")):
        return False
    begin = "".join(head[:_HEAD_BYTES].split())
    return '"data":{' in begin or '"was_cancelled":' in begin


FORMAT = Format(
    "label_studio",
    read_label_studio,
    _recognises,
    write=write_label_studio,
    lacks=("parts", "read_as"),
)
