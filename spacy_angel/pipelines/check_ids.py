"""Checks that identifiers match their labels."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import tee
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language
from tqdm import tqdm

from ..files.table import read_table
from ..vocabulary.kb import ConceptKB
from ..vocabulary.names.concepts import normalize_name
from .ground import Grounder, Match, Query, as_text
from .load import find_linker, load

OK, SIMILAR, OBSOLETE, OTHER, UNKNOWN, DIFFERENT = STATUSES = (
    *("ok", "similar", "obsolete", "other concept", "unknown identifier", "different"),
)
"""What an identifier is to its label:

    ok                   the label is a name of its concept, or there is no label
    similar              the label is no name of its concept, but linked to it or spelled like one
    obsolete             its source has withdrawn it; `replaced_by` is its successor
    other concept        the label is a name of another concept, or is linked to one
    unknown identifier   the vocabulary does not have it
    different            the label is no name of its concept, and of none that is known
"""
SIMILAR_COSINE = 0.6
"""Least cosine of 3-grams of a label and a name of its concept that counts as similar."""
_COLUMNS = {
    **dict.fromkeys(("status", "concept_name", "replaced_by", "suggested_id"), str),
    **{"suggested_name": str, "suggested_probability": float},
}


class IdCheck(NamedTuple):
    """The result of checking an identifier and its label.

    concept_id (str), label (str): the checked values.
    status (str): one of `STATUSES`.
    name (str): canonical name of the identifier's concept; empty if there is none.
    replaced_by (str): successor of an obsolete identifier; may be empty.
    suggestion (Match | None): the concept that the label refers to, if it is another one.
    """

    concept_id: str
    label: str
    status: str
    name: str = ""
    replaced_by: str = ""
    suggestion: Match | None = None


def check_ids(
    pairs: Iterable[Sequence[Any]],
    kb: ConceptKB | Path | str | None = None,
    *,
    pipeline: Language | Path | str | None = None,
) -> list[IdCheck]:
    """Check that identifiers match their labels.

    pairs (Iterable[Sequence[Any]]): identifier, label, and optionally a text that contains the
        label.
    kb (ConceptKB | Path | str | None): vocabulary, see `load`.
    pipeline (Language | Path | str | None): pipeline that links the labels, see `load`; a loaded
        one must already have the vocabulary.
    RETURNS (list[IdCheck]): one for each pair, in the same order.
    RAISES (AngelError): see `load`.

    EXAMPLE:
        >>> pairs = ("MESH:D003920", "diabetes mellitus"), ("MESH:D003920", "Hypertension")
        >>> print(*(one.status for one in check_ids(pairs)), sep=", ")
        ok, other concept
    """
    nlp = pipeline if isinstance(pipeline, Language) else load(pipeline, kb)
    return list(checks(pairs, Grounder(nlp, find_linker(nlp))))


def checks(pairs: Iterable[Sequence[Any]], grounder: Grounder) -> Iterator[IdCheck]:
    """pairs (Iterable[Sequence[Any]]): see `check_ids`. grounder (Grounder): links labels.
    YIELDS (IdCheck): one each."""
    kb = grounder.linker.kb
    own, asked = tee((*map(as_text, pair), "")[:3] for pair in pairs)
    queries = (Query(label, context) for _, label, context in asked)
    for (concept_id, label, _), found in zip(own, grounder.stream(queries), strict=False):
        yield check_id(kb, concept_id.strip(), label.strip(), found.link)


def check_id(kb: ConceptKB, concept_id: str, label: str, link: Match | None) -> IdCheck:
    """Check an identifier against its label.

    kb (ConceptKB): the vocabulary.
    concept_id (str), label (str): in any spelling.
    link (Match | None): link of the label.
    RETURNS (IdCheck): the result.
    """
    concept = kb.get(concept_id.strip())
    own = "" if concept is None else concept.concept_id
    named = [one for one in kb.find(label) if one.concept_id != own] if label else []
    if named and (link is None or link.concept_id not in {one.concept_id for one in named}):
        link = Match(named[0].concept_id, named[0].canonical_name, 1.0)
    replaced_by = kb.replacement_of(concept_id)
    if replaced_by is not None:
        status = OBSOLETE
    elif concept is None:
        status = UNKNOWN
    elif not label.strip() or normalize_name(label) in map(normalize_name, concept.names):
        status, link = OK, None
    elif not named and ((link and link.concept_id == own) or _is_similar(kb, label, own)):
        status = SIMILAR
    else:
        status = OTHER if link else DIFFERENT
    suggestion = None if link is None or link.concept_id == own else link
    name = "" if concept is None else concept.canonical_name
    return IdCheck(concept_id, label, status, name, replaced_by or "", suggestion)


def check_table(
    path: Path,
    output: Path,
    grounder: Grounder,
    columns: Sequence[str | None],
) -> Counter[str]:
    """Check the identifiers in a table.

    path (Path): see `files.table.read_table`.
    output (Path): table to write, with additional columns.
    grounder (Grounder): links labels.
    columns (Sequence[str | None]): columns with identifiers, labels, and optionally texts.
    RETURNS (Counter[str]): number of rows by status.
    RAISES (AngelError): the table cannot be read or written, lacks a column, or already has one of
        the additional columns.
    """
    table = read_table(path)
    places = [table.place(name) for name in columns if name]
    rows, asked = tee(table.rows)
    found = checks(([row[place] for place in places] for row in asked), grounder)
    counts: Counter[str] = Counter()
    with table.writer(output, _COLUMNS) as write:
        found = tqdm(found, "Checking", unit=" identifiers", disable=None)
        for row, one in zip(rows, found, strict=False):
            counts[one.status] += 1
            write([*row, *one[2:5], *(one.suggestion or (None,) * 3)])
    return counts


def _is_similar(kb: ConceptKB, label: str, concept_id: str) -> bool:
    names = [kb.name(i) for i in kb.names_of(concept_id)]
    return any(
        s.cosine >= SIMILAR_COSINE for s in kb.nearest.index.compare(normalize_name(label), names)
    )
