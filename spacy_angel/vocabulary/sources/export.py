"""A vocabulary as a file that other programs, and people, can read."""

import dataclasses
import gzip
import json
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, cast

from tqdm import tqdm

from ...errors import AngelError
from ...files.atomic import replacing
from ..names.concepts import Concept

_FORMATS = ("jsonl", "tsv")
_SEPARATORS = ("\t", "\n", "\r", "|")


def export_concepts(concepts: Iterable[Concept], path: Path) -> Counter[str]:
    """Write concepts to a file, gzipped if its name ends in `.gz`.

    concepts (Iterable[Concept]): e.g. a `ConceptKB`.
    path (Path): the file. `.jsonl` holds all that is known (scispaCy's fields, `alternate_ids`,
        `parents`, `parts`, and `scopes` by name); `.tsv` is `id, name, synonym|synonym`.
    RETURNS (Counter[str]): `concepts` and `names` written; `left_out` is how many names a table
        cannot hold, because they contain a tab, a line break or `|`.
    RAISES (AngelError): the name of the file ends otherwise, or no name of a concept can be
        written.
    """
    endings = [suffix.lstrip(".").lower() for suffix in path.suffixes]
    format = next((known for known in _FORMATS if known in endings), None)
    if format is None:
        raise AngelError(f"The name of {path} must end in .jsonl or .tsv, with or without .gz.")
    counts: Counter[str] = Counter(concepts=0, names=0, left_out=0)
    with replacing(path) as raw, ExitStack() as stack:
        file: IO[bytes] = raw
        if path.suffix == ".gz":
            # Without a name and a time in the archive, equal vocabularies give equal files.
            packed = gzip.GzipFile("", "wb", fileobj=raw, mtime=0)
            file = cast(IO[bytes], stack.enter_context(packed))
        if format == "tsv":
            file.write(b"id\tname\tsynonyms\n")
        for concept in tqdm(concepts, desc="Writing concepts", unit=" concepts", disable=None):
            names = concept.names if format == "jsonl" else _writable_names(concept)
            line = _json_line(concept) if format == "jsonl" else _table_line(concept, names)
            file.write(f"{line}\n".encode())
            counts.update(concepts=1, names=len(names), left_out=len(concept.names) - len(names))
    return counts


def _json_line(concept: Concept) -> str:
    fields = dataclasses.asdict(concept) | {"scopes": dict(concept.scopes)}
    always = ("concept_id", "canonical_name", "aliases", "types")
    kept = {name: value for name, value in fields.items() if value or name in always}
    return json.dumps(kept, ensure_ascii=False)


def _writable_names(concept: Concept) -> tuple[str, ...]:
    return tuple(n for n in concept.names if not any(mark in n for mark in _SEPARATORS))


def _table_line(concept: Concept, names: tuple[str, ...]) -> str:
    if not names:
        raise AngelError(
            f"Every name of {concept.concept_id!r} contains a tab, a line break or |: "
            f"{concept.names}. Use --format jsonl."
        )
    return "\t".join((concept.concept_id, names[0], "|".join(names[1:])))
