"""Colors of entity types and web pages of concepts, for displaCy."""

import re
from collections.abc import Mapping
from html import escape
from urllib.parse import quote

from ...vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE

COLORS = {one.name: one.color for one in ENTITY_TYPE_TABLE if one.color}
"""Entity type → background color, under black text; distinguishable with color blindness."""

_OBO = "http://purl.obolibrary.org/obo/{prefix}_{code}"
ADDRESSES: dict[str, str] = {
    "MESH": "https://meshb.nlm.nih.gov/record/ui?ui={code}",
    "OMIM": "https://omim.org/entry/{code}",
    "UMLS": "https://uts.nlm.nih.gov/uts/umls/concept/{code}",
    "SNOMEDCT": "https://browser.ihtsdotools.org/?perspective=full&conceptId1={code}",
    "NCBIGene": "https://www.ncbi.nlm.nih.gov/gene/{code}",
    "NCBITaxon": "https://www.ncbi.nlm.nih.gov/Taxonomy/Browser/wwwtax.cgi?id={code}",
    "ICTV": "https://ictv.global/id/ICTV{code}",
    "CVCL": "https://www.cellosaurus.org/CVCL_{code}",
    "HGNC": "https://www.genenames.org/data/gene-symbol-report/#!/hgnc_id/HGNC:{code}",
    "HP": "https://hpo.jax.org/browse/term/HP:{code}",
    **dict.fromkeys(("DOID", "MONDO", "CHEBI", "GO", "UBERON", "CL", "PR", "SO"), _OBO),
    "DBSNP": "https://www.ncbi.nlm.nih.gov/snp/{code}",
}
"""Prefix of an identifier → address of a concept's page, with `{prefix}` and `{code}` in it.
dbSNP's numbers, `rs113488022`, are written without their prefix."""
_RS_NUMBER = re.compile(r"rs\d{1,12}")


def concept_url(concept_id: str, addresses: Mapping[str, str] = ADDRESSES) -> str:
    """The page of a concept.

    concept_id (str): with its prefix.
    addresses (Mapping[str, str]): as `ADDRESSES`.
    RETURNS (str): e.g. `MESH:D003920` → `https://meshb.nlm.nih.gov/record/ui?ui=D003920`; empty
        where the prefix has no address.
    """
    # Cellosaurus has `CVCL_0030`, without a colon.
    prefix, _, code = concept_id.partition(":" if ":" in concept_id else "_")
    if _RS_NUMBER.fullmatch(concept_id):
        prefix, code = "DBSNP", concept_id
    if not code or prefix not in addresses:
        return ""
    return addresses[prefix].format(prefix=prefix, code=quote(code, safe=""))


class KbUrls:
    """Addresses for displaCy: `displacy.render(doc, style="ent",
    options={"kb_url_template": KbUrls()})`.

    addresses (Mapping[str, str]): as `ADDRESSES`.
    """

    def __init__(self, addresses: Mapping[str, str] = ADDRESSES) -> None:
        self._addresses = addresses

    def format(self, concept_id: str) -> str:
        """concept_id (str): with its prefix. RETURNS (str): its page, escaped for HTML; `#` where
        there is none."""
        return escape(concept_url(concept_id, self._addresses)) or "#"
