"""Ontologies in the OBO format (1.0 to 1.4), e.g. the Human Disease Ontology."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from ....files.formats import Format
from .lines import read_lines
from .ontologies import SCOPES, Scope, Term, term_concepts
from .records import Concepts, VocabularyReport, wrong

_TAG = re.compile(r"([A-Za-z_][\w-]*)\s*:\s*(.*)")
# Files have unescaped quotes in texts, so the last quote ends it that a scope, a kind of synonym, a
# list of references, modifiers or a comment can follow.
_QUOTED = re.compile(r'"(.*)"\s*(?:(EXACT|NARROW|BROAD|RELATED)\b\s*)?(?:[\w:.-]+\s*)?([\[{!].*)?')
_COMMENT = re.compile(r"(?<!\\)\s!")
_MODIFIERS = re.compile(r"(?<!\\)\{[^{}]*\}$")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "W": " "}
# In OBO 1.0, the scope is part of the tag.
_SYNONYM_TAGS = {"synonym": ""} | {f"{scope.lower()}_synonym": scope for scope in SCOPES}
# Tag → the list in `Term` that its values are added to.
_LISTS = {
    "alt_id": "alternates",
    "is_a": "parents",
    **dict.fromkeys(("replaced_by", "use_term"), "replaced_by"),
    **dict.fromkeys(("xref", "xref_analog", "xref_unknown"), "xrefs"),
}


def read_obo(
    path: Path,
    report: VocabularyReport,
    *,
    scopes: frozenset[Scope] | None = None,
    prefixes: frozenset[str] | None = None,
    xrefs: frozenset[str] | None = frozenset(),
) -> Concepts:
    """OBO 1.0 to 1.4. Obsolete terms are counted, and become alternate identifiers of the term that
    replaces them. Types are the namespace of the term; synonyms keep their scopes; `is_a` gives the
    hierarchy.

    path (Path): the file, plain or gzip.
    scopes (frozenset[Scope] | None): synonyms to include: EXACT, NARROW, BROAD, and RELATED (also
        the scope of synonyms without one); None: all.
    prefixes (frozenset[str] | None): terms to include, by the prefix of their identifiers, e.g.
        `MONDO`, because many files repeat terms of other ontologies; None: all.
    xrefs (frozenset[str] | None): prefixes of cross-references to include as alternate identifiers,
        e.g. `MESH`; None: all. A source may refer from one term to several of another source.
    YIELDS (Concept): one for each term that is not obsolete.
    RAISES (ValueError): the file is not OBO, a quoted text does not end, or a term has no id.
    """
    terms, same_terms = _terms(path, report), _terms(path, report)
    return term_concepts(terms, same_terms, report, scopes, prefixes, xrefs)


def _terms(path: Path, report: VocabularyReport) -> Iterator[Term]:
    default_namespace = stanza = ""
    term: Term | None = None
    for line in chain(read_lines(path, report), ["[End]"]):
        text = line.strip()
        if not text or text.startswith("!"):
            continue
        if text.startswith("["):
            if term is not None:
                if not term.id:
                    raise wrong("an `id:` in every [Term]", term.name)
                yield term
            stanza = text.partition("!")[0].strip()
            term = Term("", "", namespace=default_namespace) if stanza == "[Term]" else None
        elif (match := _TAG.fullmatch(text)) is None:
            raise wrong("`tag: value` or `[Term]`", line)
        elif term is not None:
            _take(term, *match.groups())
        elif not stanza and match[1] == "default-namespace":
            default_namespace = _plain(match[2])


def _take(term: Term, tag: str, value: str) -> None:
    if tag in _SYNONYM_TAGS:
        text, scope = _quoted(value)
        term.synonyms.append((text, _SYNONYM_TAGS[tag] or scope))
    elif tag in _LISTS:
        # only the identifier of `MESH:D003920 "note"`
        getattr(term, _LISTS[tag]).extend(_plain(value).split(" ")[:1])
    elif tag == "def":
        term.definition = term.definition or _quoted(value)[0]
    elif tag == "is_obsolete":
        term.is_obsolete = _plain(value) == "true"
    elif tag in ("id", "name", "namespace"):
        setattr(term, tag, _plain(value))


def _plain(value: str) -> str:
    """Unescape a value, without `{modifiers}` and `! comment` after it."""
    value = _COMMENT.split(value, maxsplit=1)[0].rstrip()
    return _unescape(_MODIFIERS.sub("", value)).strip()


def _quoted(value: str) -> tuple[str, str]:
    """The quoted text and the scope after it (RELATED if there is none)."""
    match = _QUOTED.fullmatch(value)
    if match is None:
        raise wrong("a text in quotes", value)
    return _unescape(match[1]), match[2] or "RELATED"


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)


def _recognizes(path: Path, head: str) -> bool:
    return head.startswith("format-version:") or "[Term]" in head.splitlines()


FORMAT = Format("obo.v1", read_obo, _recognizes)
