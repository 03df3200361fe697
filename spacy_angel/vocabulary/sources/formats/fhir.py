"""FHIR code systems and value sets in JSON."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ....files.formats import Format
from ...names.identifiers import normalize_id
from .lines import load_json
from .ontologies import Term, term_concepts
from .records import Concepts, VocabularyReport, wrong

# Address of a code system → prefix of its identifiers.
_PREFIXES = {
    "http://snomed.info/sct": "SNOMEDCT",
    "http://loinc.org": "LOINC",
    "http://www.nlm.nih.gov/research/umls/rxnorm": "RXNORM",
    "http://hl7.org/fhir/sid/icd-10-cm": "ICD10CM",
    "http://hl7.org/fhir/sid/icd-10": "ICD10",
    "http://human-phenotype-ontology.org": "HP",
}
_INACTIVE = frozenset({"retired", "deprecated", "inactive"})


def read_fhir(
    path: Path, report: VocabularyReport, *, prefix: str | None = None, language: str = "en"
) -> Concepts:
    """FHIR CodeSystem, ValueSet (its expansion, or the listed concepts), or a Bundle of these.
    Designations are synonyms; nested concepts and the property `parent` give the hierarchy.
    Inactive codes are counted, and become alternate identifiers of the code in their property
    `replacedBy`.

    path (Path): the JSON file, plain or gzip.
    prefix (str | None): prefix of the identifiers; None: inferred from the address of the code
        system (`SNOMEDCT`, `LOINC`, `RXNORM`, `ICD10CM`), or else its `name` or `id`.
    language (str): language of designations; those without a language are always included.
    YIELDS (Concept): one for each code.
    RAISES (ValueError): the file is not such JSON.
    """
    content = load_json(path, report)
    entries = content.get("entry", ()) if content.get("resourceType") == "Bundle" else ()
    resources = [entry["resource"] for entry in entries] or [content]
    try:
        terms = [term for one in resources for term in _terms(one, prefix, language)]
    except (AttributeError, KeyError, TypeError) as error:
        raise wrong("a CodeSystem or ValueSet of FHIR", repr(error)) from error
    yield from term_concepts(terms, terms, report)


def _terms(resource: dict[str, Any], prefix: str | None, language: str) -> Iterator[Term]:
    if resource["resourceType"] == "CodeSystem":
        groups = [(resource.get("url", ""), resource.get("concept", ()))]
    elif expanded := resource.get("expansion", {}).get("contains"):
        groups = [("", expanded)]
    else:
        includes = resource.get("compose", {}).get("include", ())
        groups = [(include.get("system", ""), include.get("concept", ())) for include in includes]
    own = (resource.get("name") or resource.get("id") or "").replace(" ", "_")
    for system, entries in groups:
        pending = [("", entry) for entry in reversed(entries)]
        while pending:
            parent, entry = pending.pop()
            known = _PREFIXES.get(entry.get("system", system), own) if prefix is None else prefix
            identifier = normalize_id(entry["code"], known) if "code" in entry else ""
            term = _term(entry, identifier, parent, language)
            # An abstract entry without a name only groups those below it.
            if identifier and (term.name or not entry.get("abstract")):
                yield term
            below = [*entry.get("concept", ()), *entry.get("contains", ())]
            pending.extend((identifier or parent, one) for one in reversed(below))


def _term(entry: Mapping[str, Any], identifier: str, parent: str, language: str) -> Term:
    prefix = identifier.partition(":")[0]
    # The type of a value is part of the name of its field, e.g. `valueCode`.
    properties: dict[str, list[Any]] = {}
    for one in entry.get("property", ()):
        value = next((value for key, value in one.items() if key.startswith("value")), None)
        value = value["code"] if isinstance(value, dict) else value
        properties.setdefault(one["code"], []).append(value)

    def ids(name: str) -> list[str]:
        return [normalize_id(code, prefix) for code in properties.get(name, ())]

    names = [entry.get("display", "")]
    for designation in entry.get("designation", ()):
        if designation.get("language", language).partition("-")[0] == language:
            names.append(designation["value"])
    name, *synonyms = dict.fromkeys(filter(str.strip, names)) or [""]
    status = {str(status) for status in properties.get("status", ())}
    return Term(
        identifier,
        name,
        synonyms=[(synonym, "") for synonym in synonyms],
        definition=entry.get("definition", ""),
        parents=[*([parent] if parent else ()), *ids("parent")],
        is_obsolete=entry.get("inactive") is True
        or True in properties.get("inactive", ())
        or not _INACTIVE.isdisjoint(status),
        replaced_by=ids("replacedBy"),
    )


def _recognizes(path: Path, head: str) -> bool:
    kinds = ('"CodeSystem"', '"ValueSet"', '"Bundle"')
    return '"resourceType"' in head and any(kind in head for kind in kinds)


FORMAT = Format("fhir.v1", read_fhir, _recognizes)
