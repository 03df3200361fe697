"""Convert CRAFT's articles with the annotations of one ontology to BioC JSON.

python scripts/craft.py CRAFT/concept-annotation/CL/CL ids.txt -o dev.json

CRAFT keeps the texts in `articles/txt/ID.txt` and, below the folder of each ontology, an XML file
`ID.txt.knowtator.xml` for each article, in which an annotation and its class are separate elements.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

import typer
from command import plain_errors

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.formats.bioc import write_bioc_json
from spacy_angel.errors import AngelError


def read_articles(folder: Path, doc_ids: list[str]) -> Iterator[CorpusDocument]:
    """folder (Path): annotations of an ontology. doc_ids (list[str]): articles to read.
    YIELDS (CorpusDocument): each article; the name of the ontology is the label."""
    root, label = folder.resolve().parents[2], folder.resolve().parent.name
    for doc_id in doc_ids:
        file = folder / "knowtator" / f"{doc_id}.txt.knowtator.xml"
        if not file.is_file():
            raise AngelError(f"{file} is missing: give a folder like concept-annotation/CL/CL.")
        text = (root / "articles" / "txt" / f"{doc_id}.txt").read_text(encoding="utf8")
        yield CorpusDocument(doc_id, text, tuple(_mentions(file, text, label)))


def _mentions(file: Path, text: str, label: str) -> list[GoldMention]:
    """RETURNS (list[GoldMention]): one mention per span. The pieces of a discontinuous mention
    become its text for the model, and several classes of one span become a composite mention."""
    tree = ElementTree.parse(file).getroot()
    classes = {e.get("id"): _id_of(e, "mentionClass") for e in tree.iter("classMention")}
    ids: dict[tuple[tuple[int, int], ...], dict[str, None]] = {}
    for annotation in tree.iter("annotation"):
        places = ((int(s.get("start", "")), int(s.get("end", ""))) for s in annotation.iter("span"))
        concept_id = classes[_id_of(annotation, "mention")]
        ids.setdefault(tuple(sorted(places)), {})[concept_id] = None
    mentions = []
    for spans, concept_ids in sorted(ids.items()):
        start, end = spans[0][0], spans[-1][1]
        pieces = " ".join(text[begin:stop] for begin, stop in spans)
        read_as = pieces if pieces.split() != text[start:end].split() else ""
        joined = "|".join(concept_ids)
        mention = GoldMention(start, end, text[start:end], label, joined, read_as=read_as)
        mentions.append(mention)
    return mentions


def _id_of(element: ElementTree.Element, tag: str) -> str:
    child = element.find(tag)
    return "" if child is None else child.get("id", "")


def main(
    folder: Annotated[Path, typer.Argument(help="Annotations of an ontology.")],
    ids: Annotated[Path, typer.Argument(help="File with the id of an article on each line.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="BioC JSON file to write.")],
) -> None:
    """Write the articles of a list as BioC JSON."""
    with plain_errors():
        write_bioc_json(read_articles(folder, ids.read_text(encoding="utf8").split()), output)


if __name__ == "__main__":
    typer.run(main)
