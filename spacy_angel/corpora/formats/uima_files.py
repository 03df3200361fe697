"""Files of UIMA CAS, in JSON and in XMI, opened with dkpro-cassis: bytes in, a CAS out."""

import io
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...errors import AngelError, missing_package
from ...files.reading import check_packing, whole
from ..documents import Reading

TYPE_SYSTEM = "TypeSystem.xml"
# A document is in memory whole.
MAX_BYTES = 2**26
_TOO_LONG = f"it has more than {MAX_BYTES} bytes"
METADATA = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"


def import_cassis() -> Any:
    """RETURNS (Any): `cassis`. RAISES (AngelError): it is not installed."""
    try:
        import cassis
    except ImportError as error:
        raise AngelError(
            missing_package("UIMA CAS (INCEpTION)", "dkpro-cassis", "inception")
        ) from error
    return cassis


def is_json(head: str) -> bool:
    """head (str): of a file. RETURNS (bool): whether it is UIMA CAS JSON."""
    return head.startswith("{") and ('"%TYPES"' in head or '"%FEATURE_STRUCTURES"' in head)


def _bytes(file: Path, reading: Reading) -> bytes:
    """RETURNS (bytes): of a whole file. RAISES (ValueError): it has more than MAX_BYTES."""
    data = whole(file, MAX_BYTES, reading)
    if data is None:
        raise ValueError(_TOO_LONG)
    return data


def load_json(file: Path, reading: Reading) -> Any:
    """file (Path), reading (Reading): what is read. RETURNS (Any): a `cassis.Cas`; its own types go
    before those of DKPro Core."""
    text = _bytes(file, reading).decode("utf-8-sig")
    has_types = '"%TYPES"' in text
    types = None if has_types else type_system()
    return import_cassis().load_cas_from_json(
        text, typesystem=types, lenient=True, merge_typesystem=has_types
    )


def load_xmi(file: Path, reading: Reading) -> Any:
    """file (Path), reading (Reading): what is read. RETURNS (Any): a `cassis.Cas`."""
    data = _bytes(file, reading)
    types: bytes | None = None
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            members = {Path(info.filename).name: info for info in packed.infolist()}
            size = sum(info.file_size for info in members.values())
            check_packing(size, len(data), str(file))
            if size > MAX_BYTES:
                raise ValueError(_TOO_LONG)
            names = [name for name in members if name.endswith(".xmi")]
            if len(names) != 1:
                raise ValueError(f"one .xmi file was expected in it, {len(names)} came")
            data = packed.read(members[names[0]])
            if TYPE_SYSTEM in members:
                types = packed.read(members[TYPE_SYSTEM])
    elif (beside := file.with_name(TYPE_SYSTEM)).exists():
        types = _bytes(beside, reading)
    return import_cassis().load_cas_from_xmi(
        io.BytesIO(data), typesystem=type_system(types), lenient=True
    )


# The files of a folder share one, which takes longer to read than a document.
@lru_cache(maxsize=2)
def type_system(written: bytes | None = None) -> Any:
    """written (bytes | None): what `TypeSystem.xml` holds.

    RETURNS (Any): its types; without it DKPro Core's, and that of a document's name, which cassis
        leaves out.
    """
    if written is not None:
        return import_cassis().load_typesystem(io.BytesIO(written))
    types = import_cassis().load_dkpro_core_typesystem()
    if not types.contains_type(METADATA):
        metadata = types.create_type(METADATA, supertypeName="uima.tcas.DocumentAnnotation")
        names = ("documentTitle", "documentId", "documentUri", "collectionId", "documentBaseUri")
        for name in names:
            types.create_feature(metadata, name, "uima.cas.String")
        types.create_feature(metadata, "isLastSegment", "uima.cas.Boolean")
    return types


def is_xmi(path: Path, head: str) -> bool:
    """path (Path), head (str): of a file. RETURNS (bool): whether it is UIMA CAS XMI, or packed."""
    if head.startswith("PK"):
        try:
            with zipfile.ZipFile(path) as packed:
                return any(name.endswith(".xmi") for name in packed.namelist())
        except (OSError, zipfile.BadZipFile):
            return False
    return head.startswith("<") and "http://www.omg.org/XMI" in head
