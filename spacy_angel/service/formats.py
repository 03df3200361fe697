"""Answers in the format that the client accepts: JSON, PubTator, BioC JSON, or the page's HTML."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from ..corpora.documents import GoldMention
from ..corpora.formats.bioc import bioc_collection, to_bioc
from ..corpora.formats.pubtator import format_pubtator
from .limits import Refused
from .linking import Job, Linked
from .schema import LinkAnswer, LinkedDocument

_NUMBER = re.compile(r"\d+\.?\d*|\.\d+", re.ASCII)
JSON = "application/json"
HTML = "text/html"


def to_json(jobs: Sequence[Job], linked: Sequence[Linked], n_strings: int) -> bytes:
    """jobs (Sequence[Job]), linked (Sequence[Linked]): of a request. n_strings (int): how many of
    them, the last ones, are strings. RETURNS (bytes): a `LinkAnswer`."""
    n = len(jobs) - n_strings
    documents = [
        LinkedDocument(doc_id=job.document.doc_id, mentions=list(one.mentions))
        for job, one in zip(jobs[:n], linked[:n], strict=True)
    ]
    strings = [mention for one in linked[n:] for mention in one.mentions]
    answer = LinkAnswer(documents=documents, strings=strings)
    exclude = None if any(job.explain for job in jobs) else _EXPLANATIONS
    return answer.model_dump_json(exclude=exclude).encode()


def to_pubtator(jobs: Sequence[Job], linked: Sequence[Linked], _: int) -> bytes:
    """As `to_json`. RETURNS (bytes): documents, with strings as documents."""
    return "".join(
        format_pubtator(replace(job.document, mentions=_gold(one)))
        for job, one in zip(jobs, linked, strict=True)
    ).encode()


def to_bioc_json(jobs: Sequence[Job], linked: Sequence[Linked], _: int) -> bytes:
    """As `to_pubtator`. RETURNS (bytes): a collection; name, scores and reason are infons."""
    documents = []
    for job, one in zip(jobs, linked, strict=True):
        value = to_bioc(replace(job.document, mentions=_gold(one)))
        for passage in value["passages"]:
            for annotation in passage["annotations"]:
                mention = one.mentions[int(annotation["id"])]
                figures = mention.model_dump(
                    include={"status", "name", "probability", "share", "nil_probability", "why"},
                    exclude_none=True,
                )
                annotation["infons"] |= {name: str(value) for name, value in figures.items()}
        documents.append(value)
    return b"".join(bioc_collection(documents))


def to_html(_: Sequence[Job], linked: Sequence[Linked], __: int) -> bytes:
    """As `to_json`. RETURNS (bytes): pieces of a page."""
    return "\n".join(one.html for one in linked).encode()


WRITERS: Mapping[str, Callable[[Sequence[Job], Sequence[Linked], int], bytes]] = {
    JSON: to_json,
    "application/x-pubtator": to_pubtator,
    "application/bioc+json": to_bioc_json,
    HTML: to_html,
}
"""Media type → writer; the first is the default."""
_EXPLANATIONS: Any = {
    "documents": {"__all__": {"mentions": {"__all__": {"why", "candidates"}}}},
    "strings": {"__all__": {"why", "candidates"}},
}


def accepted(header: str | None) -> str:
    """header (str | None): `Accept`, e.g. `application/bioc+json, */*;q=0.1`.
    RETURNS (str): the media type of `WRITERS` that the client prefers.
    RAISES (Refused): it accepts none."""
    ranges = []
    for part in (header or "*/*").lower().split(","):
        name, *parameters = part.replace(" ", "").split(";")
        quality = dict(p.partition("=")[::2] for p in parameters).get("q", "1")
        ranges.append((float(quality) if _NUMBER.fullmatch(quality) else 0.0, name))
    for weight, name in sorted(ranges, key=lambda one: -one[0]):
        for kind in WRITERS if weight > 0 else ():
            if fnmatchcase(kind, name):
                return kind
    raise Refused(406, f"None of the accepted media types is available: {', '.join(WRITERS)}.")


def _gold(linked: Linked) -> tuple[GoldMention, ...]:
    return tuple(
        GoldMention(m.start, m.end, m.text, m.label, m.concept_id or "") for m in linked.mentions
    )
