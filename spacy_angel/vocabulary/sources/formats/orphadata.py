"""Orphanet's nomenclature of rare diseases (Orphadata's product 1) in XML."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from ....files.faults import FileReading
from ....files.formats import Format
from ....files.xml_stream import stream_elements
from ...names.identifiers import normalize_id
from .records import Row, VocabularyReport, make_row

_ROOT = "JDBOR"
_INACTIVE = ("OBSOLETE: ", "NON RARE IN EUROPE: ")
# What exact mappings of these sources are called as identifiers.
_PREFIXES = {"OMIM": "OMIM", "MeSH": "MESH", "UMLS": "UMLS", "MONDO": "MONDO", "GARD": "GARD"}


def read_orphadata(
    path: Path, report: VocabularyReport, *, inactive: bool = False
) -> Iterator[Row]:
    """Diseases, their groups and subtypes. Types are the kind (`Disease`, `Clinical subtype`);
    exact mappings to OMIM, MeSH, UMLS, MONDO and GARD are further identifiers.

    path (Path): en_product1.xml, or of another language, gzipped or not.
    inactive (bool): also the entries that Orphanet calls obsolete or not rare in Europe.
    YIELDS (Row): one a disorder, with the line in which it ends.
    RAISES (AngelError): the file is not such XML, is cut, or a disorder lacks code or name.
    """
    reading = FileReading(str(path), progress=True)
    kinds = {_ROOT: ["DisorderList/Disorder"]}
    for number, disorder in stream_elements(path, reading, kinds):
        name = disorder.findtext("Name", "")
        plain = name
        for mark in _INACTIVE:
            plain = plain.removeprefix(mark)
        if plain != name and not inactive:
            report.skipped["entries that are obsolete or not rare"] += 1
            continue
        synonyms = [element.text or "" for element in disorder.iterfind("SynonymList/Synonym")]
        definition = disorder.findtext(".//TextSection/Contents", "")
        kind = disorder.findtext("DisorderType/Name", "").strip()
        yield make_row(
            path,
            number,
            f"ORPHA:{disorder.findtext('OrphaCode', '').strip()}",
            dict.fromkeys([plain, *synonyms]),
            types=filter(None, [kind]),
            definition=definition,
            alternate_ids=_exact_mappings(disorder),
        )


def _exact_mappings(disorder: Element) -> Iterator[str]:
    for reference in disorder.iterfind("ExternalReferenceList/ExternalReference"):
        prefix = _PREFIXES.get(reference.findtext("Source", "").strip())
        relation = reference.findtext("DisorderMappingRelation/Name", "")
        if prefix and relation.startswith("E "):
            code = reference.findtext("Reference", "").strip()
            yield normalize_id(code.removeprefix(f"{prefix}:"), prefix)


FORMAT = Format(
    "orphadata.v1",
    read_orphadata,
    lambda path, head: head.startswith("<") and f"<{_ROOT}" in head,
)
