"""Identifiers: one normal form, composites taken apart and joined."""

import re

_VOCABULARIES = {
    "mesh": "MESH",
    "msh": "MESH",
    "omim": "OMIM",
    "mim": "OMIM",
    "umls": "UMLS",
    "umls_cui": "UMLS",
    "doid": "DOID",
    "do": "DOID",
    "snomedct": "SNOMEDCT",
    "snomedct_us": "SNOMEDCT",
    "snomed": "SNOMEDCT",
}
_NO_ID = frozenset({"", "-", "-1", "none", "null", "na", "nan"})
_MESH = re.compile(r"[CD]\d{6}(?:\d{3})?")
_CUI = re.compile(r"C\d{7}")
_OMIM = re.compile(r"\d{6}")


def normalize_id(raw: str, prefix: str = "") -> str:
    """Bring one identifier to the form in which identifiers are stored and compared.

    raw (str): one identifier as a file has it, not a composite, e.g. `D003920`, `mesh:D003920`,
        `DO:DOID:9351` (CTD's way of writing it).
    prefix (str): the vocabulary of an identifier that comes without one, e.g. `MESH`.
    RETURNS (str): e.g. `MESH:D003920`, `DOID:9351`; the prefixes of other vocabularies stay as
        they are; without a known prefix the code alone; empty where there is no code.
    """
    vocabulary, code = prefix, raw.strip()
    while True:
        head, colon, rest = code.partition(":")
        known = _VOCABULARIES.get(head.strip().lower()) if colon else None
        if known is None:
            break
        vocabulary, code = known, rest.strip()
    vocabulary = _VOCABULARIES.get(vocabulary.lower(), vocabulary)
    if colon or not vocabulary or not code:
        return code
    return f"{vocabulary}:{code.upper() if vocabulary in ('MESH', 'UMLS') else code}"


def split_ids(concept_ids: str) -> list[str]:
    """Take a composite apart.

    concept_ids (str): e.g. `MESH:D001943|MESH:D010051` or `MESH:D008113+MESH:D018198`.
    RETURNS (list[str]): the ids in order, e.g. `["MESH:D001943", "MESH:D010051"]`.
    """
    return [part for part in re.split(r"[|+]", concept_ids) if part]


def join_ids(concept_ids: list[str], like: str) -> str:
    """RETURNS (str): ids joined by `+` where `like` is joined so, otherwise by `|`."""
    return ("+" if "+" in like and "|" not in like else "|").join(concept_ids)


def normal_ids(raw: str, prefix: str = "") -> str:
    """Normal form of a mention's ids.

    Without a prefix, or with `MESH`, ids are known by their shape: `D003920` and `C535342` are
    MeSH, `C0011849` is a CUI, and under `MESH` six digits are OMIM (GenBioEL's NCBI-disease files
    drop that prefix). Another prefix is taken at its word. `,` and `;`, which BioRED and PubTator
    put between ids, become `|`; an id that stands twice stays once.

    raw (str): as the corpus gives it, e.g. ` D015862+D058499`, `-1`.
    prefix (str): vocabulary of ids that name none.
    RETURNS (str): e.g. `MESH:D015862+MESH:D058499`; empty where there is no id.
    """
    pieces = re.split(r"\s*([|+,;])\s*", raw.strip())
    result = ""
    seen = set()
    for number in range(0, len(pieces), 2):
        if pieces[number].lower() in _NO_ID:
            continue
        concept_id = normalize_id(pieces[number], _prefix_of(pieces[number], prefix))
        if concept_id in seen:
            continue
        seen.add(concept_id)
        if result:
            result += "+" if pieces[number - 1] == "+" else "|"
        result += concept_id
    return result


def _prefix_of(concept_id: str, prefix: str) -> str:
    if prefix not in ("", "MESH"):
        return prefix
    if _MESH.fullmatch(concept_id):
        return "MESH"
    if _CUI.fullmatch(concept_id):
        return "UMLS"
    if prefix and _OMIM.fullmatch(concept_id):
        return "OMIM"
    return prefix
