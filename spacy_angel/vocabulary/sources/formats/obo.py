"""Ontologies in the OBO format (1.2 and 1.4), e.g. the Human Disease Ontology."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from ....files.formats import Format
from ...names.identifiers import normalize_id
from .lines import read_lines, wrong
from .records import Row, VocabularyReport, count_unused, make_row, successors

_TAG = re.compile(r"([A-Za-z_][\w-]*)\s*:\s*(.*)")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"\s*(\w*)')
_COMMENT = re.compile(r"(?<!\\)\s!")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}
Scope = Literal["EXACT", "NARROW", "BROAD", "RELATED"]
_SCOPES = frozenset(get_args(Scope))


class _Term(NamedTuple):
    line: int
    tags: dict[str, list[tuple[int, str]]]

    def values(self, tag: str) -> list[str]:
        return [_plain(value) for _, value in self.tags.get(tag, ())]

    def value(self, tag: str) -> str:
        return next(iter(self.values(tag)), "")


def read_obo(
    path: Path,
    report: VocabularyReport,
    *,
    scopes: frozenset[Scope] | None = None,
    prefixes: frozenset[str] | None = None,
    xrefs: frozenset[str] | None = frozenset(),
) -> Iterator[Row]:
    """The live terms; those that are obsolete are counted, and become alternate identifiers of
    the term that replaced them. Types are the term's namespace; synonyms keep their scopes.

    path (Path): the file, gzipped or not; read twice, the first time for the replacements.
    scopes (frozenset[Scope] | None): which synonyms to take, of EXACT, NARROW, BROAD and RELATED
        (the scope of a synonym that has none); None: all.
    prefixes (frozenset[str] | None): which terms to take, by the prefix of their identifiers, e.g.
        `MONDO`: many files repeat terms of other ontologies; None: all.
    xrefs (frozenset[str] | None): prefixes of cross-references to take as further identifiers,
        e.g. `MESH`; None: all. A source may refer one term to several of another one.
    YIELDS (Row): one a live term, with the line of its `[Term]`.
    RAISES (AngelError): the file is not OBO, a quoted text does not end, a term has no id.
    """
    taken = _SCOPES if scopes is None else scopes
    replaced_by: dict[str, list[str]] = {}
    for term, _ in _terms(path):
        if term.value("is_obsolete") == "true":
            report.skipped["obsolete terms"] += 1
            targets = [normalize_id(code) for code in term.values("replaced_by")]
            if targets:
                replaced_by.setdefault(normalize_id(term.value("id")), []).extend(targets)
    retired = successors(replaced_by, report)
    for term, default_namespace in _terms(path):
        if term.value("is_obsolete") == "true":
            continue
        if not term.value("name"):
            report.skipped["terms without a name"] += 1
            continue
        identifier = normalize_id(term.value("id"))
        if prefixes is not None and identifier.partition(":")[0] not in prefixes:
            report.skipped["terms of other ontologies"] += 1
            retired.pop(identifier, None)
            continue
        namespace = term.value("namespace") or default_namespace
        definitions = [_quoted(path, *entry)[0] for entry in term.tags.get("def", ())]
        synonyms = [_quoted(path, *entry) for entry in term.tags.get("synonym", ())]
        synonyms = [(text, scope) for text, scope in synonyms if scope in taken]
        yield make_row(
            path,
            term.line,
            identifier,
            [term.value("name"), *(text for text, _ in synonyms)],
            types=[namespace] if namespace else (),
            definition=next(iter(definitions), None),
            alternate_ids=[
                *map(normalize_id, term.values("alt_id")),
                *retired.pop(identifier, ()),
                *_references(term, xrefs),
            ],
            scopes=[(term.value("name"), "PREFERRED"), *synonyms],
        )
    count_unused(retired, report)


def _references(term: _Term, prefixes: frozenset[str] | None) -> Iterator[str]:
    """Cross-references that are identifiers, `MESH:D003920 "note"` without what follows."""
    for value in term.values("xref"):
        identifier = normalize_id(value.split(" ")[0])
        prefix, colon, code = identifier.partition(":")
        is_code = colon and code and not code.startswith("//") and identifier.isascii()
        if is_code and (prefixes is None or prefix in prefixes) and "|" not in identifier:
            yield identifier


def _terms(path: Path) -> Iterator[tuple[_Term, str]]:
    """The `[Term]` stanzas, each with the default namespace."""
    default_namespace = ""
    stanza = ""
    term = _Term(0, {})
    for number, line in read_lines(path):
        text = line.strip()
        if not text or text.startswith("!"):
            continue
        if text.startswith("["):
            if stanza == "[Term]":
                yield _with_id(path, term), default_namespace
            stanza, term = text.partition("!")[0].strip(), _Term(number, {})
            continue
        tag = _TAG.fullmatch(text)
        if tag is None:
            raise wrong(path, number, "`tag: value` or `[Term]`", line)
        if not stanza and tag[1] == "default-namespace":
            default_namespace = _plain(tag[2])
        elif stanza == "[Term]":
            term.tags.setdefault(tag[1], []).append((number, tag[2]))
    if stanza == "[Term]":
        yield _with_id(path, term), default_namespace


def _with_id(path: Path, term: _Term) -> _Term:
    if not term.value("id"):
        raise wrong(path, term.line, "a term with an `id:`", "[Term]")
    return term


def _plain(value: str) -> str:
    """A value without its closing `{modifiers}` and `! comment`, unescaped."""
    value = _COMMENT.split(value, maxsplit=1)[0].rstrip()
    end = len(value)
    while value.endswith("}", 0, end):
        start = value.rfind("{", 0, end)
        if start < 0 or value.find("}", start, end) < end - 1 or value[start - 1 : start] == "\\":
            break
        end = start
        while end and value[end - 1].isspace():
            end -= 1
    return _unescape(value[:end]).strip()


def _quoted(path: Path, line: int, value: str) -> tuple[str, str]:
    """The text in quotes and the scope after it (RELATED where there is none)."""
    match = _QUOTED.match(value)
    if match is None:
        raise wrong(path, line, "a text in quotes", value)
    return _unescape(match[1]), match[2] if match[2] in _SCOPES else "RELATED"


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)


def _recognises(path: Path, head: str) -> bool:
    return head.startswith("format-version:") or "[Term]" in head.splitlines()


FORMAT = Format("obo.v1", read_obo, _recognises)
