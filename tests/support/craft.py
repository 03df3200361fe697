"""CRAFT's distribution, written: of documents for the tests, and of our copies of its articles.

python tests/support/craft.py ../shared/data/craft CRAFT
"""

import gzip
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from shutil import copy
from xml.etree import ElementTree

Annotation = tuple[str, Sequence[Sequence[int]]]
"""Identifier of a class, and where the pieces of the mention start and end."""
Article = tuple[str, str, Sequence[Annotation]]
"""Number, text, annotations."""


def write_craft(
    craft: Path, ontology: str, articles: Iterable[Article], *, second: bool = False
) -> Path:
    """craft (Path): folder, of CRAFT. ontology (str): e.g. `CL`. articles (Iterable[Article]).
    second (bool): as Knowtator 2 writes it. RETURNS (Path): folder of the ontology."""
    texts = craft / "articles" / "txt"
    folder = craft / "concept-annotation" / ontology / ontology
    own = folder / ("knowtator-2" if second else "knowtator")
    for each in (texts, own):
        each.mkdir(parents=True, exist_ok=True)
    project = ElementTree.Element("knowtator-project")
    for number, text, annotations in articles:
        (texts / f"{number}.txt").write_bytes(text.encode("utf8"))
        if second:
            names = {"id": number, "text-file": f"{number}.txt"}
            _second(ElementTree.SubElement(project, "document", names), text, annotations)
        else:
            root = _first(ontology, f"{number}.txt", text, annotations)
            _write(root, own / f"{number}.txt.knowtator.xml")
    if second:
        _write(project, own / f"{ontology}.xml")
    return folder


def _write(root: ElementTree.Element, path: Path) -> None:
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, "utf-8", xml_declaration=True)


def _first(
    ontology: str, name: str, text: str, annotations: Sequence[Annotation]
) -> ElementTree.Element:
    root = ElementTree.Element("annotations", textSource=name)
    for number, (class_id, spans) in enumerate(annotations):
        mention = f"{ontology}_Instance_{number}"
        annotation = ElementTree.SubElement(root, "annotation")
        ElementTree.SubElement(annotation, "mention", id=mention)
        ElementTree.SubElement(annotation, "annotator", id="A").text = "An annotator"
        for start, end in spans:
            ElementTree.SubElement(annotation, "span", start=str(start), end=str(end))
        pieces = (text[start:end] for start, end in spans)
        ElementTree.SubElement(annotation, "spannedText").text = " ... ".join(pieces)
        held = ElementTree.SubElement(root, "classMention", id=mention)
        ElementTree.SubElement(held, "mentionClass", id=class_id).text = "its name"
    return root


def _second(document: ElementTree.Element, text: str, annotations: Sequence[Annotation]) -> None:
    for number, (class_id, spans) in enumerate(annotations):
        annotation = ElementTree.SubElement(
            document, "annotation", id=f"a{number}", annotator="A", type="identity"
        )
        ElementTree.SubElement(annotation, "class", id=class_id)
        for start, end in spans:
            given = {"id": f"a{number}-{start}", "start": str(start), "end": str(end)}
            ElementTree.SubElement(annotation, "span", given).text = text[start:end]


def write_from(data: Path, craft: Path, ontology: str = "CL") -> None:
    """data (Path): folder with `craft_train.jsonl.gz`, `craft_dev.jsonl.gz` and
    `onto_CL.obo.zip`. craft (Path): folder to write. ontology (str): the one of which the
    annotations are written."""
    lists = craft / "articles" / "ids"
    lists.mkdir(parents=True)
    for split in ("train", "dev"):
        with gzip.open(data / f"craft_{split}.jsonl.gz", "rt", encoding="utf8") as lines:
            articles = [
                (d["id"], d["text"], [(i, s) for own, i, s in d["mentions"] if own == ontology])
                for d in map(json.loads, lines)
            ]
        folder = write_craft(craft, ontology, articles)
        numbers = "".join(f"{number}\n" for number, _, _ in articles)
        (lists / f"craft-ids-{split}.txt").write_text(numbers, encoding="utf8")
    copy(data / f"onto_{ontology}.obo.zip", folder / f"{ontology}.obo.zip")


if __name__ == "__main__":
    write_from(Path(sys.argv[1]), Path(sys.argv[2]))
