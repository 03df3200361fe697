"""Link the strings in a column of a table, and write the table with what they are linked to."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from io import SEEK_END, StringIO
from itertools import tee
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ..about import __version__
from ..errors import AngelError
from ..files.atomic import write_text
from ..files.table import Table, read_table
from ..linking.mentions.labels import links_label
from ..vocabulary.kb import ConceptKB
from ..vocabulary.names.labels import entity_types_of
from .ground import Grounder, Grounding, Query, as_text

LINK = {"concept_id": str, "concept_name": str, "probability": float}
_CANDIDATE: dict[str, type] = {
    **{"rank": int, "candidate_id": str, "candidate_name": str, "candidate_probability": float}
}
_NOTHING: Sequence[Any] = (None,) * len(LINK)
_SSSOM = (
    *("subject_label", "subject_type", "predicate_id", "object_id", "object_label"),
    *("mapping_justification", "confidence"),
)
_OBO_PREFIXES = frozenset(("DOID", "MONDO", "CHEBI", "GO", "UBERON", "CL", "PR", "SO"))


def ground_table(
    path: Path,
    output: Path,
    grounder: Grounder,
    column: str,
    *,
    context: str | None = None,
    label: str | None = None,
    top: int = 1,
) -> Counter[str]:
    """Link the strings in a column, row by row.

    path (Path): table, see `files.table.read_table`.
    output (Path): table to write; if its name ends in `.sssom.tsv`, a table of mappings of the
        linked strings, each once.
    grounder (Grounder): links; keeps at least `top` candidates.
    column (str): with the strings.
    context (str | None): column with texts in which they occur.
    label (str | None): column with entity types, or an entity type for all strings.
    top (int): candidates to write, one per row.
    RETURNS (Counter[str]): rows that are `linked`, `not linked` and `blank`.
    RAISES (AngelError): the table cannot be read or written, has no such column, or has columns of
        the names that are written.
    """
    table = read_table(path)
    string, around = table.place(column), table.place(context) if context else None
    kind = _label(table, label, grounder)
    rows, asked = tee(table.rows)
    queries = (
        Query(
            as_text(row[string]),
            "" if around is None else as_text(row[around]),
            kind if isinstance(kind, str) else as_text(row[kind]),
        )
        for row in asked
    )
    groundings = tqdm(grounder.stream(queries), "Grounding", unit=" strings", disable=None)
    counts: Counter[str] = Counter()

    def grounded() -> Iterator[tuple[list[Any], Grounding]]:
        for row, one in zip(rows, groundings, strict=False):
            counts["blank" if not one.string else "linked" if one.link else "not linked"] += 1
            yield row, one

    if output.name.lower().endswith(".sssom.tsv"):
        write_text(output, _sssom((one for _, one in grounded()), grounder.linker.kb))
    else:
        added = LINK | (_CANDIDATE if top > 1 else {}) | {"accept": str}
        cells = ([*row, *own, None] for row, one in grounded() for own in _cells(one, top))
        table.write(output, added, cells)
    return counts


def _sssom(groundings: Iterable[Grounding], kb: ConceptKB) -> str:
    """groundings (Iterable[Grounding]): strings. kb (ConceptKB): of the links. RETURNS (str): the
    linked strings as a table of mappings, each once."""
    mappings: dict[tuple[str, str], list[Any]] = {}
    for string, link, _ in groundings:
        if link is None:
            continue
        if ":" not in link.concept_id:
            raise AngelError(
                f"SSSOM needs identifiers with a prefix, not {link.concept_id!r}. Build the "
                "vocabulary with `--option prefix=PREFIX`."
            )
        is_name = any(concept.concept_id == link.concept_id for concept in kb.find(string))
        how = f"semapv:{'Lexical' if is_name else 'Composite'}Matching"
        row = [string, "rdfs literal", "skos:exactMatch", *link[:2], how, link.probability]
        mappings.setdefault((string, link.concept_id), row)
    text = StringIO(_sssom_head(sorted({own.partition(":")[0] for _, own in mappings})))
    text.seek(0, SEEK_END)
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerows([_SSSOM, *mappings.values()])
    return text.getvalue()


def _sssom_head(prefixes: Sequence[str]) -> str:
    urls = {"semapv": "https://w3id.org/semapv/vocab/"}
    urls["skos"] = "http://www.w3.org/2004/02/skos/core#"
    for prefix in prefixes:
        urls[prefix] = f"https://bioregistry.io/{prefix}:"
        if prefix in _OBO_PREFIXES:
            urls[prefix] = f"http://purl.obolibrary.org/obo/{prefix}_"
    lines = [
        *("curie_map:", *(f"  {prefix}: {url}" for prefix, url in urls.items())),
        "license: https://w3id.org/sssom/license/unspecified",
        f"mapping_date: {date.today().isoformat()!r}",
        f"mapping_set_id: https://w3id.org/sssom/mappings/{date.today().isoformat()}-spacy-angel",
        "mapping_tool: spacy-angel",
        f"mapping_tool_version: {__version__!r}",
    ]
    return "".join(f"# {line}\n" for line in lines)


def _label(table: Table, label: str | None, grounder: Grounder) -> int | str:
    """RETURNS (int | str): index of the column of labels, or the label of all strings."""
    if not label or label in table.columns:
        return table.place(label) if label else ""
    if not entity_types_of(label) or not links_label(label, grounder.linker.settings):
        raise AngelError(
            f"--label {label} is neither a column ({', '.join(table.columns)}) nor an entity type "
            "that the pipeline links."
        )
    return label


def _cells(one: Grounding, top: int) -> Iterator[list[Any]]:
    """YIELDS (list[Any]): the added cells of each row of a string, except `accept`."""
    link = one.link or _NOTHING
    if top == 1:
        yield [*link]
        return
    for rank, match in enumerate(one.candidates or [_NOTHING], start=1):
        yield [*link, rank, *match]
