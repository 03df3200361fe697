"""Vocabulary and corpus files → stored vocabularies that record where they come from."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...errors import AngelError
from ..kb import ConceptKB
from ..names.concepts import Concept
from ..species.suffixes import SuffixRule, takes_endings
from ..storage.table import SharedNames
from .formats.records import VocabularyReport
from .formats.registry import infer_format, read_vocabulary
from .formats.tables import holds_tree_numbers
from .mappings import Mappings


@takes_endings
def build_vocabulary(
    files: Sequence[Path],
    output: Path | None,
    *,
    format: str | None = None,
    shared_names: SharedNames = "all",
    suffixes: SuffixRule | None = None,
    options: Mapping[str, Any] | None = None,
    about: Sequence[Mapping[str, Any]] = (),
    mappings: Sequence[Path] = (),
) -> ConceptKB:
    """Build a vocabulary from the files it is published in.

    files (Sequence[Path]): in order of precedence, see `ConceptKB.join`; a table of MeSH's tree
        numbers among them gives the types of the tables.
    output (Path | None): folder to write; None keeps the vocabulary in memory.
    format (str | None): of all files; None infers it for each.
    shared_names (SharedNames), suffixes (SuffixRule | None): see `ConceptKB.build`.
    options (Mapping[str, Any] | None): of the reader, see `registry.FORMATS`.
    about (Sequence[Mapping[str, Any]]): plain values on each file, to be recorded with it.
    mappings (Sequence[Path]): SSSOM tables: what they say is the same becomes an alternate
        identifier, by which also concepts of several files are joined.
    RETURNS (ConceptKB): with one entry a file in `meta["sources"]`.
    RAISES (AngelError): a file that cannot be read; nothing is written then.
    """
    numbers = [file for file in files if holds_tree_numbers(file)]
    if len(numbers) < len(files):
        files = [file for file in files if file not in numbers]
    sources = [_source(file, format, options) for file in files]
    for source in sources:
        if numbers and source["format"] in ("table", "table.v1"):
            source["options"].setdefault("tree_numbers", str(numbers[0]))
    for source, known in zip(sources, about, strict=False):
        source.update(known)
    tables = [(Mappings(file), _source(file, "sssom", None)) for file in mappings]
    concepts = (_mapped(_concepts(*pair), tables) for pair in zip(files, sources, strict=True))
    recorded = [*sources, *(source for _, source in tables)]
    return ConceptKB.join(
        concepts, output, shared_names=shared_names, suffixes=suffixes, sources=recorded
    )


def add_vocabulary(
    folder: Path,
    file: Path,
    *,
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> ConceptKB:
    """Add the concepts of a file to a stored vocabulary: new ones, and names of known ones.

    folder (Path): the vocabulary; it is written anew.
    file (Path): concepts; which of them the vocabulary has already: see `ConceptKB.join`.
    format (str | None), options (Mapping[str, Any] | None): see `build_vocabulary`.
    RETURNS (ConceptKB): the changed vocabulary.
    RAISES (AngelError): folder or file cannot be read; the vocabulary stays as it was then.
    """
    kb = ConceptKB.from_disk(folder, rules=False)
    source = _source(file, format, options)
    meta = kb.meta
    return ConceptKB.join(
        [kb, _concepts(file, source)],
        folder,
        shared_names=meta["shared_names"],
        suffixes=meta.get("endings"),
        sources=[*meta["sources"], source],
        steps=[*meta["steps"], {"step": "add", "path": str(file)}],
        frequencies=meta.get("frequencies", {}),
        own_names=meta.get("own_names", {}),
    )


def repeat_additions(folder: Path, before: ConceptKB) -> None:
    """Add the files that were added to a vocabulary to its next release.

    folder (Path): the vocabulary as it was built anew.
    before (ConceptKB): as it was, without rules. Files that are gone are left out, see
        `unrepeatable`.
    RAISES (AngelError): a file cannot be read.
    """
    for source in _added_sources(before):
        options = source.get("options", {})
        add_vocabulary(folder, Path(source["path"]), format=source.get("format"), options=options)


def unrepeatable(kb: ConceptKB) -> list[str]:
    """kb (ConceptKB): a vocabulary, without rules. RETURNS (list[str]): what was done to it that
    cannot be done again by itself, for a person to read."""
    told = []
    for step in kb.meta["steps"]:
        path = step.get("path", "")
        if step.get("step") == "add" and Path(path).exists():
            continue
        told.append(
            {
                "add": f"`kb add {path}` (there is no such file)",
                "add_mentions": f"`kb add --mentions {step.get('source')}`",
                "edit": "changes while running (`kb.add` and the like)",
            }.get(str(step.get("step")), str(step.get("step")))
        )
    return told


def _added_sources(kb: ConceptKB) -> list[dict[str, Any]]:
    """What is recorded of the files that were added, the last of each."""
    paths = dict.fromkeys(s["path"] for s in kb.meta["steps"] if s.get("step") == "add")
    sources = {source.get("path"): source for source in kb.meta["sources"]}
    return [sources[path] for path in paths if path in sources and Path(path).exists()]


def _source(file: Path, format: str | None, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """What is recorded of a file; its counts are filled in by reading it."""
    # A path holds no two slashes in a row.
    if address := re.match(r"(https?|ftp):/+(.*)", str(file)):
        raise AngelError(
            f"{address[1]}://{address[2]} is an address; expected a file. Download it first."
        )
    source = {
        "path": str(file),
        "format": format or infer_format(file),
        "options": {**(options or {})},
    }
    if file.is_file():
        with file.open("rb") as stream:
            digest = sha256()
            while piece := stream.read(1 << 20):
                digest.update(piece)
        source["sha256"] = digest.hexdigest()
    return source


def _mapped(
    concepts: Iterator[Concept], tables: Sequence[tuple[Mappings, dict[str, Any]]]
) -> Iterator[Concept]:
    """Concepts with the identifiers that they are mapped to; fills in what is recorded of that."""
    for mappings, _ in tables:
        concepts = mappings.added_to(concepts)
    yield from concepts
    for mappings, source in tables:
        source.update(asdict(mappings.report), skipped=dict(mappings.report.skipped))


def _concepts(file: Path, source: dict[str, Any]) -> Iterator[Concept]:
    report = VocabularyReport()
    yield from read_vocabulary(file, source["format"], report=report, **source["options"])
    counts = asdict(report)
    if not report.columns:
        del counts["columns"]
    source.update(counts, skipped=dict(report.skipped))
