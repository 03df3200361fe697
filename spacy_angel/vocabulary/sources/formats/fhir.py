"""Code systems and value sets of FHIR, as JSON."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ....files.formats import Format
from ...names.identifiers import normalize_id
from .lines import wrong
from .obographs import load_json
from .records import NO_NAME, Row, Rows, VocabularyReport, count_unused, make_row, successors

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
) -> Rows:
    """A FHIR CodeSystem or ValueSet (its expansion, else the concepts that it lists), or a Bundle
    of these. Designations are synonyms; nested concepts and the property `parent` are the
    hierarchy. Inactive codes are counted and become alternate identifiers of the code in their
    property `replacedBy`.

    path (Path): the JSON file, gzipped or not.
    prefix (str | None): of the identifiers; None: known from the address of the code system
        (`SNOMEDCT`, `LOINC`, `RXNORM`, `ICD10CM`), else its `name` or `id`.
    language (str): of designations; those without a language are always taken.
    YIELDS (Row): one a code.
    RAISES (AngelError): the file is no such JSON.
    """
    content = load_json(path)
    entries = content.get("entry", ()) if content.get("resourceType") == "Bundle" else ()
    resources = [entry["resource"] for entry in entries] or [content]
    try:
        codes = [code for resource in resources for code in _codes(resource, prefix)]
        retired = _retired(codes, report)
        for identifier, parent, entry in codes:
            names = [entry.get("display", ""), *_designations(entry, language)]
            if _is_inactive(entry) or (entry.get("abstract") is True and not any(names)):
                continue
            if not (names := [name for name in names if name.strip()]):
                report.skipped[NO_NAME] += 1
                continue
            yield _row(path, identifier, parent, entry, names, retired)
    except (AttributeError, KeyError, TypeError) as error:
        raise wrong(path, 1, "a CodeSystem or ValueSet of FHIR", repr(error)) from error
    count_unused(retired, report)


def _row(
    path: Path,
    identifier: str,
    parent: str,
    entry: dict[str, Any],
    names: Iterable[str],
    retired: dict[str, list[str]],
) -> Row:
    own = identifier.partition(":")[0]
    parents = [normalize_id(code, own) for code in _properties(entry).get("parent", ())]
    return make_row(
        path,
        1,
        identifier,
        dict.fromkeys(names),
        definition=entry.get("definition"),
        alternate_ids=retired.pop(identifier, ()),
        parents=filter(None, [parent, *parents]),
    )


def _codes(
    resource: dict[str, Any], prefix: str | None
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Identifier, parent (empty for the top) and entry of each code."""
    if resource["resourceType"] == "CodeSystem":
        groups = [(resource.get("url", ""), resource.get("concept", ()))]
    elif expanded := resource.get("expansion", {}).get("contains"):
        groups = [("", expanded)]
    else:
        includes = resource.get("compose", {}).get("include", ())
        groups = [(include.get("system", ""), include.get("concept", ())) for include in includes]
    own = resource.get("name") or resource.get("id") or ""
    for system, entries in groups:
        pending = [("", entry) for entry in reversed(entries)]
        while pending:
            parent, entry = pending.pop()
            address = entry.get("system", system)
            known = prefix if prefix is not None else _PREFIXES.get(address, own.replace(" ", "_"))
            identifier = normalize_id(entry["code"], known) if "code" in entry else ""
            if identifier:
                yield identifier, parent, entry
            below = [*entry.get("concept", ()), *entry.get("contains", ())]
            pending.extend((identifier or parent, one) for one in reversed(below))


def _properties(entry: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Values by code; the name of a value's field tells its type, `valueCode`."""
    properties: dict[str, list[Any]] = {}
    for one in entry.get("property", ()):
        value = next((v for key, v in one.items() if key.startswith("value")), None)
        properties.setdefault(one["code"], []).append(
            value["code"] if isinstance(value, dict) else value
        )
    return properties


def _is_inactive(entry: Mapping[str, Any]) -> bool:
    properties = _properties(entry)
    is_inactive = entry.get("inactive") is True or True in properties.get("inactive", ())
    return is_inactive or not _INACTIVE.isdisjoint(map(str, properties.get("status", ())))


def _retired(
    codes: Iterable[tuple[str, str, dict[str, Any]]], report: VocabularyReport
) -> dict[str, list[str]]:
    replaced_by: dict[str, list[str]] = {}
    for identifier, _, entry in codes:
        if _is_inactive(entry):
            report.skipped["inactive codes"] += 1
            own, targets = identifier.partition(":")[0], _properties(entry).get("replacedBy", ())
            if targets:
                replaced_by[identifier] = [normalize_id(code, own) for code in targets]
    return successors(replaced_by, report)


def _designations(entry: Mapping[str, Any], language: str) -> Iterator[str]:
    for designation in entry.get("designation", ()):
        if designation.get("language", language).partition("-")[0] == language:
            yield designation["value"]


def _recognises(path: Path, head: str) -> bool:
    kinds = ('"CodeSystem"', '"ValueSet"', '"Bundle"')
    return '"resourceType"' in head and any(kind in head for kind in kinds)


FORMAT = Format("fhir.v1", read_fhir, _recognises)
