"""Builds stored vocabularies from vocabulary files, and records their sources."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pooch import file_hash

from ...errors import AngelError
from ..kb import ConceptKB
from ..names.concepts import Concept
from ..storage.metadata import BuildOptions
from ..storage.table import SharedNames
from .formats.records import VocabularyReport
from .formats.registry import FORMATS, read_vocabulary


def build_vocabulary(
    files: Sequence[Path],
    output: Path | None,
    *,
    format: str | None = None,
    shared_names: SharedNames = "all",
    by_species: bool = False,
    options: Mapping[str, Any] | None = None,
    about: Sequence[Mapping[str, Any]] = (),
    branch: str | None = None,
) -> ConceptKB:
    """Build a vocabulary from published files.

    files (Sequence[Path]): in order of precedence, see `ConceptKB.join`.
    output (Path | None): folder to write; None keeps the vocabulary in memory.
    format (str | None): format of all files; None infers it for each file.
    shared_names (SharedNames), by_species (bool): see `ConceptKB.build`.
    options (Mapping[str, Any] | None): options of the reader, see `registry.FORMATS`.
    about (Sequence[Mapping[str, Any]]): plain values to record with each file.
    branch (str | None): identifier of a concept; only this concept and all below it are kept.
    RETURNS (ConceptKB): the vocabulary, with one entry per file in `meta["sources"]`.
    RAISES (AngelError): a file cannot be read, or the branch does not exist or has nothing below
        its root. Nothing is written then.
    """
    sources = [_source(file, format, options) for file in files]
    for source, known in zip(sources, about, strict=False):
        source.update(known)
    folder = output if branch is None else None
    build_options = BuildOptions(
        shared_names=shared_names, endings="species" if by_species else None, sources=sources
    )
    kb = ConceptKB.join(map(_concepts, files, sources), folder, build_options)
    if branch is None:
        return kb
    below = kb.ids_below(branch)
    if len(below) == 1:
        why = "nothing is below it" if kb.table.has_hierarchy else "the files have no hierarchy"
        raise AngelError(f"--branch {branch} would keep one concept: {why}.")
    kept = (concept for concept in kb if concept.concept_id in below)
    restricted = [{**source, "branch": branch} for source in sources]
    return ConceptKB.join([kept], output, kb.metadata.model_copy(update={"sources": restricted}))


def add_vocabulary(
    folder: Path,
    file: Path,
    *,
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> ConceptKB:
    """Add the concepts of a file to a stored vocabulary: new concepts, and names of existing ones.

    folder (Path): the vocabulary, which is rewritten.
    file (Path): the concepts. `ConceptKB.join` describes which of them count as existing.
    format (str | None), options (Mapping[str, Any] | None): see `build_vocabulary`.
    RETURNS (ConceptKB): the changed vocabulary.
    RAISES (AngelError): the folder or file cannot be read. The vocabulary is unchanged then.
    """
    kb = ConceptKB.from_disk(folder, rules=False)
    source = _source(file, format, options)
    step = {"step": "add", **{name: source[name] for name in ("path", "format", "options")}}
    recorded = {
        "sources": [*kb.metadata.sources, source],
        "steps": [*kb.metadata.steps, step],
    }
    build_options = kb.metadata.model_copy(update=recorded)
    return ConceptKB.join([kb, _concepts(file, source)], folder, build_options)


def repeat_additions(folder: Path, before: ConceptKB) -> None:
    """Add the files that were added to a vocabulary to its next release.

    folder (Path): the newly built vocabulary.
    before (ConceptKB): the previous version, without rules. Files that no longer exist are left
        out, see `unrepeatable`.
    RAISES (AngelError): a file cannot be read.
    """
    for step in filter(_is_repeatable, before.metadata.steps):
        file = Path(step["path"])
        add_vocabulary(folder, file, format=step["format"], options=step["options"])


def unrepeatable(kb: ConceptKB) -> list[str]:
    """kb (ConceptKB): a vocabulary, without rules.
    RETURNS (list[str]): descriptions of the changes that cannot be repeated automatically."""
    descriptions = {
        "add": "`kb add {path}` (there is no such file)",
        "add_mentions": "`kb add --mentions {source}`",
        "edit": "changes while running (`kb.add` and the like)",
    }
    return [
        descriptions.get(str(step.get("step")), str(step.get("step"))).format_map(step)
        for step in kb.metadata.steps
        if not _is_repeatable(step)
    ]


def _is_repeatable(step: Mapping[str, Any]) -> bool:
    """Whether a step added a file that still exists."""
    return step.get("step") == "add" and Path(step["path"]).exists()


def _source(file: Path, format: str | None, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the recorded values of a file; its counts are filled in while it is read."""
    source: dict[str, Any] = {"path": str(file), "format": format or FORMATS.of(file).name}
    source["options"] = dict(options or {})
    if file.is_file():
        source["sha256"] = file_hash(str(file), alg="sha256")
    return source


def _concepts(file: Path, source: dict[str, Any]) -> Iterator[Concept]:
    report = VocabularyReport()
    yield from read_vocabulary(file, source["format"], report=report, **source["options"])
    source.update(report.to_dict())
