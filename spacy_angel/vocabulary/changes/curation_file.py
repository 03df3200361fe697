"""The file of the linker's setting `curation`, which is reloaded when it changes."""

import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import AngelError, AngelWarning
from .rules import Rule, parse_rules, read_rules

if TYPE_CHECKING:
    from ..kb import ConceptKB


class CurationFile:
    """A file of rules applied to a vocabulary. The rules are applied again when the file or the
    vocabulary changes.

    path (str | None): the file; None: use only the vocabulary's own rules.
    data (bytes | None): content of the file, if it was serialized with a pipeline; the file itself
        is not read then.
    """

    def __init__(self, path: str | None, data: bytes | None = None) -> None:
        self.path = path
        self._given = data
        self._data: bytes | None = None
        self._rules: tuple[Rule, ...] | None = None
        self._applied: tuple[Any, ConceptKB] | None = None

    def __reduce__(self) -> Any:
        # Another process applies the rules again.
        return CurationFile, (self.path, self._given)

    def content(self) -> bytes:
        """RETURNS (bytes): content of the file.
        RAISES (AngelError): the file cannot be read."""
        if self._given is not None:
            return self._given
        read_rules(Path(self.path or ""))
        return Path(self.path or "").read_bytes()

    def over(self, kb: "ConceptKB") -> "ConceptKB":
        """kb (ConceptKB): a vocabulary.
        RETURNS (ConceptKB): a copy with its own rules and those of the file applied, see
        `ConceptKB.with_rules`; the vocabulary itself if there are no rules.
        RAISES (AngelError): the file cannot be read, and has never been read."""
        if self.path is None and not kb.rules:
            return kb
        with kb.reading():
            rules = () if self.path is None else self._read()
            key = (kb, kb.version, kb.rules, rules)
            if self._applied is None or self._applied[0] != key:
                ruled = kb.with_rules(rules)
                applied = ruled.applied_rules
                if applied is not None and (unknown := applied.unknown):
                    _warn(
                        f"{self.path or kb.path}: {len(unknown):,} of {len(applied.rules):,} rules "
                        "name unknown concepts or types, the first on line "
                        f"{unknown[0].number}: {unknown[0]}. See `spacy-angel kb check`."
                    )
                self._applied = key, ruled
            return self._applied[1]

    def _read(self) -> tuple[Rule, ...]:
        """Read the rules of the file. If it is missing or damaged, for example because it is being
        written, the rules read last remain in use."""
        path, data = Path(self.path or ""), self._given
        if data is None:
            with suppress(OSError):
                data = path.read_bytes()
        if self._rules is None or data != self._data:
            try:
                found = read_rules(path) if data is None else parse_rules(data, path)
                found.warn(str(path))
                self._rules = found.rules
            except AngelError as error:
                if self._rules is None:
                    raise
                _warn(f"{path} can no longer be read; its last rules stay in use. {error}")
            self._data = data
        return self._rules


def _warn(message: str) -> None:
    warnings.warn(message, AngelWarning, stacklevel=4)
