"""A vocabulary as a file that other programs, and people, can read."""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, cast, get_args

from tqdm import tqdm

from ...errors import AngelError
from ...files.atomic import replacing
from ..names.concepts import Concept

ExportFormat = Literal["jsonl", "tsv"]
_SEPARATORS = ("\t", "\n", "\r", "|")


def export_concepts(
    concepts: Iterable[Concept], path: Path, format: ExportFormat | None = None
) -> Counter[str]:
    """Write concepts to a file, gzipped where its name ends so.

    concepts (Iterable[Concept]): e.g. a `ConceptKB`.
    path (Path): the file.
    format (ExportFormat | None): `jsonl` holds all that is known (scispaCy's fields,
        `alternate_ids`, `tree_numbers`, `parts`, and `scopes` by name); `tsv` is `id, name,
        synonym|synonym`. None: by the file's ending.
    RETURNS (Counter[str]): `concepts` and `names` written; `left_out` is how many names a table
        cannot hold, for a tab, a line break or `|` stands in them.
    RAISES (AngelError): the format cannot be told, or the name of a concept cannot be written.
    """
    if format is None:
        endings = [suffix.lstrip(".").lower() for suffix in path.suffixes]
        format = next((known for known in get_args(ExportFormat) if known in endings), None)
    if format not in get_args(ExportFormat):
        raise AngelError(
            f"Cannot tell the format from the name {path}. Give --format; known: "
            f"{' and '.join(get_args(ExportFormat))}."
        )
    counts: Counter[str] = Counter(concepts=0, names=0, left_out=0)
    with _opened(path) as file:
        if format == "tsv":
            file.write(b"id\tname\tsynonyms\n")
        for concept in tqdm(concepts, desc="Writing concepts", unit=" concepts", disable=None):
            names = concept.names if format == "jsonl" else _writable_names(concept)
            line = _json_line(concept) if format == "jsonl" else _table_line(concept, names)
            file.write(f"{line}\n".encode())
            counts.update(concepts=1, names=len(names), left_out=len(concept.names) - len(names))
    return counts


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with replacing(path) as raw:
        if path.suffix != ".gz":
            yield raw
            return
        # Without a name and a time in the archive, equal vocabularies give equal files.
        with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
            yield cast(IO[bytes], packed)


def _json_line(concept: Concept) -> str:
    fields: dict[str, Any] = {
        "concept_id": concept.concept_id,
        "canonical_name": concept.canonical_name,
        "aliases": concept.aliases,
        "types": concept.types,
    }
    if concept.definition:
        fields["definition"] = concept.definition
    if concept.alternate_ids:
        fields["alternate_ids"] = concept.alternate_ids
    if concept.tree_numbers:
        fields["tree_numbers"] = concept.tree_numbers
    if concept.scopes:
        fields["scopes"] = dict(concept.scopes)
    if concept.parts:
        fields["parts"] = concept.parts
    return json.dumps(fields, ensure_ascii=False)


def _writable_names(concept: Concept) -> tuple[str, ...]:
    return tuple(n for n in concept.names if not any(mark in n for mark in _SEPARATORS))


def _table_line(concept: Concept, names: tuple[str, ...]) -> str:
    if not names:
        raise AngelError(
            f"Every name of {concept.concept_id!r} contains a tab, a line break or |: "
            f"{concept.names}. Use --format jsonl."
        )
    return "\t".join((concept.concept_id, names[0], "|".join(names[1:])))
