"""PubMed's XML: the yearly baseline and the daily update files, read as a stream.

Title and abstract of each article or chapter of a book are read, with white space normalized.
Sections of a structured abstract begin with their label (`METHODS: …`), as on PubMed's pages.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

from ...files.formats import Format
from ...files.xml_stream import stream_elements
from ..documents import CorpusDocument, Reading

ROOT = "PubmedArticleSet"
_WITHDRAWN = "DeleteCitation"

SKIPPED = {"table", "disp-formula", "tex-math", "ref-list", "fn-group", "graphic", "media"}
"""Elements that do not contain running text."""
_BLOCKS = {"p", "title", "list-item", "li", "label", "caption", "term", "def", "break"}


def read_pubmed(path: Path, reading: Reading) -> Iterator[CorpusDocument]:
    """Read PubMed XML as a stream of articles.

    path (Path): file, plain or gzip.
    reading (Reading): handles faults; its report receives counts, versions, and the PMIDs that the
        file marks as deleted.
    RETURNS (Iterator[CorpusDocument]): documents named by PMID, in the order of the file.
    RAISES (AngelError): if the XML is invalid or truncated, or is not PubMed's; if an article has
        no PMID and `reading.strict` is set.
    """
    kinds = {
        ROOT: ["PubmedArticle", "PubmedBookArticle", _WITHDRAWN],
        "PubmedArticle": ["MedlineCitation"],
    }
    for number, element in stream_elements(path, reading, kinds):
        if element.tag == _WITHDRAWN:
            reading.report.count("withdrawn_lists")
            reading.report.withdrawn |= {plain_text(pmid) for pmid in element.iter("PMID")}
        elif (document := _article(element, reading, number)) is not None:
            version = element.find(".//PMID").get("Version", "")  # type: ignore[union-attr]
            reading.report.versions.append(int(version) if version.isdecimal() else 1)
            yield document


def _article(element: ElementTree.Element, reading: Reading, line: int) -> CorpusDocument | None:
    pmid = plain_text(element.find(".//PMID"))
    if not pmid:
        message = "the article that ends here has no PMID."
        reading.fault_at(line, message, skipped="documents_left_out")
        return None
    # A whole book has no title of an article.
    title = plain_text(element.find(".//ArticleTitle")) or plain_text(element.find(".//BookTitle"))
    sections = element.findall(".//Abstract/AbstractText")
    # Use an English abstract from another source if the journal provides none.
    sections = sections or element.findall(".//OtherAbstract[@Language='eng']/AbstractText")
    abstract = " ".join(part for part in map(_section, sections) if part)
    text = f"{title} {abstract}" if title and abstract else title or abstract
    return CorpusDocument(pmid, text, title_end=len(title) if title else None)


def _section(element: ElementTree.Element) -> str:
    text, label = plain_text(element), element.get("Label", "")
    return f"{label}: {text}" if text and label not in ("", "UNLABELLED") else text


def plain_text(element: ElementTree.Element | None) -> str:
    """Extract the text of an element of PubMed or JATS.

    element (ElementTree.Element | None): e.g. an abstract.
    RETURNS (str): the text without markup (`<i>`, `<sub>`) and SKIPPED elements, with white space
        normalized; empty for None. Paragraphs, list items, and adjacent bold parts, which are
        separate lines, are separated by spaces.
    """
    if element is None:
        return ""
    for before, after in pairwise(element):
        if before.tag == after.tag and before.tag in ("b", "bold") and not before.tail:
            before.tail = " "
    return " ".join("".join(_strings(element)).split())


def _strings(element: ElementTree.Element) -> Iterator[str]:
    # A citation as a superscript is not part of the word before it.
    tags = {element.tag, *(child.tag for child in element)}
    edge = " " * (element.tag in _BLOCKS or {"xref", "sup"} <= tags)
    yield edge + (element.text or "")
    for child in element:
        if child.tag not in SKIPPED:
            yield from _strings(child)
        yield child.tail or ""
    yield edge


def _recognises(path: Path, head: str) -> bool:
    """Return whether the first element, after an optional document type declaration, is
    PubMed's."""
    return head.startswith("<") and re.search(r"<(!DOCTYPE\s+)?PubmedArticle", head) is not None


FORMAT = Format("pubmed", read_pubmed, _recognises, holds="texts")
