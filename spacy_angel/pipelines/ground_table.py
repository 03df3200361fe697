"""Link the strings in a column of a table, and write the table with what they are linked to."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import chain, repeat, tee
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ..about import __version__
from ..errors import AngelError
from ..files.atomic import replacing
from ..files.table import Table, read_table, table_writer
from ..linking.mentions.labels import links_label
from ..vocabulary.kb import ConceptKB
from ..vocabulary.names.labels import entity_types_of
from .ground import Grounder, Grounding, Query, as_text

LINK = {"concept_id": str, "concept_name": str, "probability": float}
ACCEPT = "accept"
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
    wide: bool = False,
) -> Counter[str]:
    """Link the strings in a column, row by row.

    path (Path): table, see `files.table.read_table`.
    output (Path): table to write; if its name ends in `.sssom.tsv`, a table of mappings of the
        linked strings, each once.
    grounder (Grounder): links; keeps at least `top` candidates.
    column (str): with the strings.
    context (str | None): column with texts in which they occur.
    label (str | None): column with entity types, or an entity type for all strings.
    top (int): candidates to write. wide (bool): as columns; else each is a row.
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
    is_sssom = output.name.lower().endswith(".sssom.tsv")
    sssom: Any = _sssom_writer(output, grounder.linker.kb)
    writer = sssom if is_sssom else table.writer(output, _added_columns(top, wide))
    counts: Counter[str] = Counter()
    with writer as write:
        for row, one in zip(rows, groundings, strict=False):
            counts["blank" if not one.string else "linked" if one.link else "not linked"] += 1
            if is_sssom:
                write(one)
                continue
            for cells in _cells(one, top, wide):
                write([*row, *cells, None])
    return counts


@contextmanager
def _sssom_writer(path: Path, kb: ConceptKB) -> Iterator[Callable[[Grounding], None]]:
    """path (Path): file. kb (ConceptKB): of the links. YIELDS (Callable[[Grounding], None]): writes
    a linked string as a mapping, an equal one once."""
    prefixes: set[str] = set()
    seen: set[int] = set()

    def write_mapping(one: Grounding) -> None:
        if one.link is None or (key := hash((one.string, one.link.concept_id))) in seen:
            return
        seen.add(key)
        prefix, colon, _ = one.link.concept_id.partition(":")
        if not colon:
            raise AngelError(
                f"SSSOM needs identifiers with a prefix, not {one.link.concept_id!r}. Build the "
                "vocabulary with `--option prefix=PREFIX`."
            )
        prefixes.add(prefix)
        name = kb.name_index(one.string)
        is_name = name is not None and kb.resolve(one.link.concept_id) in kb.concept_ids_of(name)
        how = "LexicalMatching" if is_name else "CompositeMatching"
        ends = (one.string, "rdfs literal", "skos:exactMatch", *one.link[:2])
        write([*ends, f"semapv:{how}", one.link.probability])

    with tempfile.TemporaryDirectory(prefix="spacy-angel-") as folder:
        body = Path(folder, "body.tsv")
        with table_writer(body, dict.fromkeys(_SSSOM, str)) as write:
            yield write_mapping
        with replacing(path) as file, body.open("rb") as rows:
            file.write(_sssom_head(sorted(prefixes)).encode("utf8"))
            shutil.copyfileobj(rows, file)


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


def _added_columns(top: int, wide: bool) -> dict[str, type]:
    added = dict(LINK)
    if top > 1 and not wide:
        added["rank"] = int
    names = [f"candidate_{i}" for i in range(1, top + 1)] if wide else ["candidate"]
    for name in names if top > 1 else ():
        added |= {f"{name}_id": str, f"{name}_name": str, f"{name}_probability": float}
    return {**added, ACCEPT: str}


def _cells(one: Grounding, top: int, wide: bool) -> Iterator[list[Any]]:
    """YIELDS (list[Any]): of each row of a string what is written behind it, but `accept`."""
    link = one.link or _NOTHING
    if top == 1:
        yield [*link]
    elif wide:
        yield [*link, *chain(*one.candidates, *repeat(_NOTHING, top - len(one.candidates)))]
    else:
        for rank, match in enumerate(one.candidates or [_NOTHING], start=1):
            yield [*link, rank, *match]
