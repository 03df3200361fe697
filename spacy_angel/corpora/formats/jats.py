"""JATS, the XML format of articles in PubMed Central (`.nxml`): title, abstract, and body."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from ...files.formats import Format
from ...files.xml_stream import stream_elements
from ..documents import CorpusDocument, Reading
from .pubmed import SKIPPED, plain_text

_COLLECTIONS = {"pmc-articleset": ["article"], "OAI-PMH": ["GetRecord", "ListRecords"]}
_LINES = {"p", "title", "term", "preformat", "verse-line"}


def read_jats(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Read an article, or all articles in a `pmc-articleset` or a response of PMC's OAI service,
    one line per paragraph or heading.

    path (Path): file, plain or gzip.
    reading (Reading): handles faults.
    RETURNS (Iterator[CorpusDocument]): documents named by PMC number, PMID, DOI, or file name,
        whichever is available first.
    RAISES (AngelError): if the XML is invalid or truncated, or is not JATS.
    """
    whole = ElementTree.Element("article")
    kinds = {"article": ["front", "body"], **_COLLECTIONS}
    for _, element in stream_elements(path, reading, kinds):
        if element.tag in ("front", "body"):
            whole.append(element)
        for article in element.iter("article"):
            yield _article(article, path)
    if len(whole):
        yield _article(whole, path)


def _article(article: ElementTree.Element, path: Path) -> CorpusDocument:
    ids = {one.get("pub-id-type"): plain_text(one) for one in article.iterfind("front//article-id")}
    doc_id = next((ids[k] for k in ("pmcid", "pmc", "pmid", "doi") if ids.get(k)), path.name)
    title = plain_text(article.find("front//article-title"))
    sections = [*article.iterfind("front//abstract"), *article.iterfind("body")]
    blocks = "\n".join(block for section in sections for block in _blocks(section) if block)
    text = f"{title} {blocks}" if title and blocks else title or blocks
    return CorpusDocument(doc_id, text, title_end=len(title) if title else None)


def _blocks(element: ElementTree.Element) -> Iterator[str]:
    for child in element:
        if child.tag in _LINES:
            yield plain_text(child)
        elif child.tag not in SKIPPED:
            yield from _blocks(child)


def _recognizes(path: Path, head: str) -> bool:
    root = re.search(r"<(?![?!])(\w[\w-]*)", head)
    return root is not None and root[1] in ("article", *_COLLECTIONS)


FORMAT = Format("jats", read_jats, _recognizes, holds="texts")
