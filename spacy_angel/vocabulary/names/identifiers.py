"""Normalize identifiers; split and join composite ones."""

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
_NO_ID = frozenset({"", "-", "-1", "nil", "none", "null", "na", "nan", "cui-less"})
_BARE_PREFIXES = (
    (re.compile(r"C\d{7}", re.ASCII), "UMLS"),
    (re.compile(r"[CD](\d{6}|\d{9})", re.ASCII), "MESH"),
)
# Not a plus in the position of a variant, as in `c.360+1G>C` and `c.88+2_88+5del`.
_PLUS = r"\+(?!\d{1,7}(?:[_=ACGTUacgtu]|kb|del|dup|ins|inv))"
_MARK = re.compile(rf"[|]|{_PLUS}")
_ANY_MARK = re.compile(rf"([|,;]|{_PLUS})")
# Variants, which get no prefix: dbSNP identifiers and HGVS.
_VARIANT = re.compile(r"rs\d{1,12}|(?:[A-Z]{2,4}_?[\d.]{3,16}:)?[cgmnrp]\.\S+", re.ASCII)
_IRI = re.compile(r"<?https?://\S+[/#]([A-Za-z][\w.-]+?)_([\w.-]*\d[\w.-]*)>?")
_OMIM = re.compile(r"\d{6}", re.ASCII)


def normalize_id(raw: str, prefix: str = "") -> str:
    """Normalize an identifier for storage and comparison.

    raw (str): a single identifier, e.g. `D003920`, `mesh:D003920`, or `DO:DOID:9351` as in CTD.
    prefix (str): vocabulary of identifiers without prefix, e.g. `MESH`.
    RETURNS (str): e.g. `MESH:D003920`, `DOID:9351`. Prefixes of other vocabularies are unchanged.
        Without any prefix, the code alone; empty without a code.
    """
    vocabulary, parts = prefix, raw.strip().split(":")
    known = 0
    while known < len(parts) - 1 and (name := parts[known].strip().lower()) in _VOCABULARIES:
        vocabulary = _VOCABULARIES[name]
        known += 1
    code = ":".join(parts[known:])
    code = code.lstrip() if known else code
    vocabulary = _VOCABULARIES.get(vocabulary.lower(), vocabulary)
    if known < len(parts) - 1 or not vocabulary or not code:
        return code
    return f"{vocabulary}:{code.upper() if vocabulary in ('MESH', 'UMLS') else code}"


def iri_to_id(iri: str) -> str:
    """iri (str): e.g. `http://purl.obolibrary.org/obo/HP_0000118`, in angle brackets or not.
    RETURNS (str): the compact identifier, `HP:0000118`; other texts unchanged."""
    match = _IRI.fullmatch(iri)
    return f"{match[1]}:{match[2]}" if match else iri


def split_ids(concept_ids: str) -> list[str]:
    """Split a composite identifier.

    concept_ids (str): e.g. `MESH:D001943|MESH:D010051` or `MESH:D008113+MESH:D018198`.
    RETURNS (list[str]): its identifiers in order, e.g. `["MESH:D001943", "MESH:D010051"]`.
    """
    return [part for part in _MARK.split(concept_ids) if part]


def join_ids(concept_ids: list[str], like: str) -> str:
    """RETURNS (str): identifiers joined by `+` if `like` is, otherwise by `|`."""
    return ("+" if "+" in like and "|" not in like else "|").join(concept_ids)


def normal_ids(raw: str, prefix: str = "") -> str:
    """Normalize the identifiers of a mention.

    Identifiers without a prefix, or with `MESH`, are recognized by their form: `D003920` and
    `C535342` are MeSH, `C0011849` is a UMLS CUI, and six digits under `MESH` are OMIM (the
    NCBI-disease files of GenBioEL lack this prefix). Other prefixes are kept. `,` and `;`, which
    separate identifiers in BioRED and PubTator, become `|`. Repeated identifiers are removed.

    raw (str): identifiers as in the corpus, e.g. ` D015862+D058499`, `-1`.
    prefix (str): vocabulary of identifiers without a prefix.
    RETURNS (str): e.g. `MESH:D015862+MESH:D058499`; empty if there is no identifier.
    """
    pieces = [iri_to_id(piece.strip()) for piece in _ANY_MARK.split(raw)]
    ids: dict[str, str] = {}
    for number in range(0, len(pieces), 2):
        if pieces[number].rpartition(":")[2].lower() in _NO_ID:
            continue
        concept_id = normalize_id(pieces[number], _prefix_of(pieces[number], prefix))
        if concept_id:
            ids.setdefault(concept_id, "+" if number and pieces[number - 1] == "+" else "|")
    return "".join(mark + concept_id for concept_id, mark in ids.items())[1:]


def _prefix_of(concept_id: str, prefix: str) -> str:
    if _VARIANT.fullmatch(concept_id):
        return ""
    if prefix not in ("", "MESH"):
        return prefix
    if prefix and _OMIM.fullmatch(concept_id):
        return "OMIM"
    return bare_prefix(concept_id) or prefix


def bare_prefix(code: str) -> str:
    """Guess the vocabulary of an identifier without prefix from its form.

    code (str): e.g. `C0011849`, `D003920`, `C538288`.
    RETURNS (str): `UMLS`, `MESH`, or empty.
    """
    return next((prefix for form, prefix in _BARE_PREFIXES if form.fullmatch(code)), "")
