"""The changes of a stored vocabulary, kept beside it so that they can be undone, the last first.

`changes.jsonl` in its folder has a line a change: the command, the sources, steps and frequencies
of before, the concepts that it changed as they were and where they stood, and a digest of what the
vocabulary was afterwards, by which a change that came from elsewhere is noticed.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timezone
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ..errors import AngelError, Errors
from ..files.atomic import write_text
from ..files.json_values import parse_json
from .concepts import Concept
from .kb import ConceptKB

CHANGES = "changes.jsonl"
_KEPT = ("sources", "steps", "frequencies")


class _Before(BaseModel, extra="forbid"):
    """What a vocabulary's metadata had, of _KEPT."""

    sources: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    frequencies: dict[str, int] = {}


class _Change(BaseModel, extra="forbid"):
    """A concept as it was and where it stood, both None for one that is new."""

    concept_id: str
    at: int | None
    was: Concept | None


class _Record(BaseModel, extra="forbid"):
    """A line of the file."""

    command: str
    time: str
    state: str
    before: _Before
    concepts: list[_Change]


@contextmanager
def recorded(folder: Path, command: str) -> Iterator[None]:
    """Record what a block changes in a stored vocabulary; nothing where it raises.

    folder (Path): the vocabulary.
    command (str): what changes it, as a person will read it.
    RAISES (AngelError): the folder cannot be read.
    """
    before = ConceptKB.from_disk(folder)
    yield
    after = ConceptKB.from_disk(folder)
    changes = _changes(before, after)
    if not changes:
        return
    meta = before.meta
    record = {
        "command": command,
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "state": _state(after),
        "before": {key: meta[key] for key in _KEPT if key in meta},
        "concepts": changes,
    }
    # Of a vocabulary that was built anew since, the older changes mean nothing.
    older = _lines(folder)
    kept = older if older and _record(folder, older[-1]).state == _state(before) else []
    write_text(folder / CHANGES, "".join([*kept, json.dumps(record, ensure_ascii=False) + "\n"]))


def undo(folder: Path) -> tuple[str, int]:
    """Undo the last change that was recorded.

    folder (Path): the vocabulary; it is written anew.
    RETURNS (tuple[str, int]): the command that was undone, and how many more can be.
    RAISES (AngelError): there is none, or the vocabulary was changed in another way since.
    """
    kb, lines = ConceptKB.from_disk(folder), _lines(folder)
    if not lines:
        raise AngelError(Errors.E145.format(path=folder))
    record = _record(folder, lines[-1])
    if record.state != _state(kb):
        raise AngelError(Errors.E146.format(path=folder, command=record.command))
    ConceptKB.build(
        _restored(kb, record.concepts),
        folder,
        shared_names=kb.meta["shared_names"],
        endings=kb.endings,
        **record.before.model_dump(exclude_unset=True),
    )
    write_text(folder / CHANGES, "".join(lines[:-1]))
    return record.command, len(lines) - 1


def _lines(folder: Path) -> list[str]:
    path = folder / CHANGES
    if not path.is_file():
        return []
    try:
        # A name may hold what `splitlines` takes for the end of a line too.
        with open(path, encoding="utf8", newline="\n") as file:
            lines = list(file)
    except ValueError as error:
        raise AngelError(Errors.E147.format(path=path, error=error)) from error
    for line in lines:
        _record(folder, line)
    return lines


def _record(folder: Path, line: str) -> _Record:
    try:
        return _Record.model_validate(parse_json(line))
    except ValueError as error:
        raise AngelError(Errors.E147.format(path=folder / CHANGES, error=error)) from error


def _changes(before: ConceptKB, after: ConceptKB) -> list[dict[str, Any]]:
    """Concepts that are not what they were: `was`, None for a new one, and where it stood (`at`,
    from 0)."""
    own_ids = {concept.concept_id for concept in after}
    changes: list[dict[str, Any]] = []
    known = set()
    for at, concept in enumerate(before):
        own = concept.concept_id
        known.add(own)
        if own not in own_ids or after[own] != concept:
            changes.append({"concept_id": own, "at": at, "was": asdict(concept)})
    added = (concept.concept_id for concept in after if concept.concept_id not in known)
    return [*changes, *({"concept_id": own, "at": None, "was": None} for own in added)]


def _restored(kb: ConceptKB, changes: list[_Change]) -> Iterator[Concept]:
    """The concepts as they were, in the order in which they stood."""
    own_ids = {concept.concept_id for concept in kb}
    added = {change.concept_id for change in changes if change.was is None}
    was = {change.concept_id: change.was for change in changes if change.was is not None}
    removed = {
        change.at: change.was
        for change in changes
        if change.at is not None and change.was is not None and change.concept_id not in own_ids
    }
    position = 0
    for concept in kb:
        if concept.concept_id in added:
            continue
        while position in removed:
            yield removed.pop(position)
            position += 1
        yield was.get(concept.concept_id, concept)
        position += 1
    yield from (removed[at] for at in sorted(removed))


def _state(kb: ConceptKB) -> str:
    """A digest of all concepts in their order."""
    digest = blake2b(digest_size=16)
    for concept in kb:
        values = asdict(concept)
        for key in ("tree_numbers", "scopes", "parts"):
            if not values[key]:
                # As it was before there were such, so that older histories can be undone.
                del values[key]
        digest.update(json.dumps(values).encode())
    return digest.hexdigest()
