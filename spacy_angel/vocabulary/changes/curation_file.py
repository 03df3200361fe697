"""The file of the linker's setting `curation`, followed while it changes."""

import warnings
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from ...errors import AngelError, AngelWarning
from .rules import Rule, parse_rules, read_rules

if TYPE_CHECKING:
    from ..kb import ConceptKB


class CurationFile:
    """A file of rules over a vocabulary; read and applied again when one of them has changed.

    path (str | None): the file; None: only the vocabulary's own rules count. data (bytes | None):
        its content, if it was saved with a pipeline as bytes; the file itself is not read then.
    """

    def __init__(self, path: str | None, data: bytes | None = None) -> None:
        self.path = path
        self._data = data
        self._lock = RLock()
        self._stamp: tuple[int, int, int] | None = None
        self._rules: tuple[Rule, ...] | None = None
        self._applied: tuple[Any, ConceptKB, ConceptKB] | None = None

    def __reduce__(self) -> Any:
        # Another process applies the rules again.
        return CurationFile, (self.path, self._data)

    def content(self) -> bytes:
        """RETURNS (bytes): of the file. RAISES (AngelError): it cannot be read."""
        if self._data is not None:
            return self._data
        read_rules(Path(self.path or ""))
        return Path(self.path or "").read_bytes()

    def over(self, kb: "ConceptKB") -> "ConceptKB":
        """kb (ConceptKB): a vocabulary. RETURNS (ConceptKB): a copy under its own rules and those
        of the file, see `ConceptKB.with_rules`; the vocabulary itself if there are none.
        RAISES (AngelError): the file cannot be read, and never was."""
        if self.path is None and not kb.rules:
            return kb
        with self._lock:
            rules = () if self.path is None else self._read(Path(self.path))
            key = (kb.version, kb.rules, rules)
            if self._applied is None or self._applied[:2] != (key, kb):
                ruled = kb.with_rules(rules)
                applied = ruled.applied_rules
                if applied is not None and (unknown := applied.unknown):
                    _warn(
                        f"{self.path or kb.path}: {len(unknown):,} of {len(applied.rules):,} rules "
                        "name unknown concepts or types, the first on line "
                        f"{unknown[0].number}: {unknown[0]}. See `spacy-angel kb check`."
                    )
                self._applied = key, kb, ruled
            return self._applied[2]

    def _read(self, path: Path) -> tuple[Rule, ...]:
        """The rules of the file. If it is gone, or empty because it is being written, the ones that
        were read before stay in use."""
        stamp = None if self._data is not None else _stamp(path)
        if self._rules is not None and stamp == self._stamp:
            return self._rules
        try:
            found = read_rules(path) if self._data is None else parse_rules(self._data, path)
            if self._rules and stamp is not None and stamp[1] == 0:
                raise AngelError(f"{path} is empty.")
            found.warn(str(path))
            self._rules = found.rules
        except AngelError as error:
            if self._rules is None:
                raise
            _warn(f"{path} can no longer be read; its last rules stay in use. {error}")
        self._stamp = stamp
        return self._rules


def _warn(message: str) -> None:
    warnings.warn(message, AngelWarning, stacklevel=4)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What tells whether a file has changed; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
