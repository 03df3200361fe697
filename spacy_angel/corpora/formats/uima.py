"""UIMA CAS as INCEpTION imports and exports it, in JSON and in XMI: a file for each document.

A mention is a `NamedEntity` of DKPro Core, INCEpTION's layer of that name: its `value` is the
label, its `identifier` the identifiers as one string. Offsets count UTF-16 code units, which
dkpro-cassis converts. The title is a `Heading` at the beginning; what else UIMA has no place for
stands in `MetaDataStringField`s, of the document or at the place of a mention.

INCEpTION names the annotator in `documentId` of the `DocumentMetaData`, and the file that was
imported in `documentTitle`.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ...errors import AngelError
from ...files.formats import Format, read_head
from ...files.json_values import parse_as
from ..documents import CorpusDocument, GoldMention, Reading
from .folders import FileNames, new_folder
from .uima_files import (
    METADATA,
    TYPE_SYSTEM,
    import_cassis,
    is_json,
    is_xmi,
    load_json,
    load_xmi,
    type_system,
)

NAMED_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"

_FIELD = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.MetaDataStringField"
_HEADING = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Heading"
_OF_DOCUMENT, _OF_MENTION = "spacy-angel.document", "spacy-angel.mention"
# The document before anyone has annotated it, which INCEpTION exports beside the others.
_INITIAL = "INITIAL_CAS"
_ENDINGS = (".json", ".xmi", ".zip", ".txt")
# Of a folder so many files are looked into to tell what it holds.
_LOOKED_INTO = 3


class _DocumentExtras(BaseModel):
    doc_id: str | None = None
    split: str = ""
    steps: tuple[str, ...] = ()


class _MentionExtras(BaseModel):
    """Of the mention at the same place with this label and these identifiers: of several such, the
    one before which there are `after`."""

    label: str = ""
    concept_ids: str = ""
    after: int = 0
    parts: tuple[str, ...] = ()
    read_as: str = ""


@dataclass(frozen=True)
class _Layer:
    """Where mentions stand: a type, and its features with the label and the identifiers."""

    type: str
    label: str
    concept_ids: str


def read_uima_json(
    path: Path,
    reading: Reading,
    annotator: str = "",
    layer: str = NAMED_ENTITY,
    label_feature: str = "value",
    id_feature: str = "identifier",
) -> Iterator[CorpusDocument]:
    """Documents of UIMA CAS JSON, as INCEpTION exports it: a file, or a folder such as a project
    that was exported, with all in it.

    path (Path): file, plain or gzip, or folder.
    reading (Reading): gets counts and faults.
    annotator (str): whose files are read, by the name of the file or in it (`CURATION_USER` for
        what was curated). Without it no document may have several.
    layer (str): type of the mentions, e.g. `webanno.custom.Concept`.
    label_feature (str), id_feature (str): features of it.
    RETURNS (Iterator[CorpusDocument]): in the order of the paths.
    RAISES (AngelError): dkpro-cassis is not installed, or the layer is in no file; for other faults
        with `reading.strict`.
    """
    files = _json_files(path) if path.is_dir() else [path]
    where = _Layer(layer, label_feature, id_feature)
    return _documents(path, files, load_json, reading, annotator, where)


def read_uima_xmi(
    path: Path,
    reading: Reading,
    annotator: str = "",
    layer: str = NAMED_ENTITY,
    label_feature: str = "value",
    id_feature: str = "identifier",
) -> Iterator[CorpusDocument]:
    """Documents of UIMA CAS XMI, as INCEpTION exports it: an `.xmi` file with `TypeSystem.xml`
    beside it, a `.zip` with both, or a folder of such, with all in it.

    path (Path), reading (Reading), annotator (str), layer (str), label_feature (str), id_feature
    (str), RETURNS, RAISES: as `read_uima_json`.
    """
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in (".xmi", ".zip"))
    where = _Layer(layer, label_feature, id_feature)
    return _documents(path, files, load_xmi, reading, annotator, where)


def _documents(
    path: Path,
    files: Iterable[Path],
    load: Callable[[Path, Reading], Any],
    reading: Reading,
    annotator: str,
    layer: _Layer,
) -> Iterator[CorpusDocument]:
    import_cassis()
    read: dict[str, Path] = {}
    annotators: dict[str, None] = {}
    lacking: set[str] = set()
    for file in files:
        if file.stem == _INITIAL:
            continue
        # Whatever is wrong with a file fails in cassis, lxml or zipfile, each in its own way.
        try:
            with warnings.catch_warnings():
                # Offsets outside the text, which are told of below.
                warnings.simplefilter("ignore")
                cas = load(file, reading)
            text = cas.sofa_string
            if not isinstance(text, str):
                raise ValueError("it has no text")
            text.encode("utf8")
            metadata = next(iter(_select(cas, METADATA)), None)
            extras = _document_extras(cas)
        except AngelError as error:
            reading.fault(str(error), lost="documents_left_out")
            continue
        except Exception as error:
            problem = " ".join(str(error).split()) or type(error).__name__
            reading.fault(
                f"{file} is not a UIMA CAS, or is damaged ({problem}).", lost="documents_left_out"
            )
            continue
        by, title = (getattr(metadata, key, None) for key in ("documentId", "documentTitle"))
        doc_id = extras.doc_id or _without_ending(title or by or file.name)
        annotators |= dict.fromkeys((file.stem, by or file.stem))
        if annotator and annotator not in (file.stem, by):
            reading.report.count("other_annotators")
            continue
        if doc_id in read:
            name = by if by and by != doc_id else file.stem
            reading.fault(
                f"{file}: document {doc_id} was already read from {read[doc_id]}. Use `--option "
                f"annotator={name}`.",
                lost="documents_left_out",
            )
            continue
        read[doc_id] = file
        lacking |= _lacking(cas, layer)
        yield CorpusDocument(
            doc_id,
            text,
            tuple(_mentions(cas, layer, doc_id, replace(reading, name=str(file)))),
            extras.split or reading.split,
            next((each.end for each in _select(cas, _HEADING) if each.begin == 0), None),
            extras.steps,
        )
    if annotator and not read and annotators:
        names = ", ".join(annotators)
        raise AngelError(
            f"{path}: nothing by {annotator!r}. Known: {names} (`--option annotator=NAME`)."
        )
    if lacking:
        raise AngelError(
            f"{path}: the types have no {', '.join(sorted(lacking))}. Set the options layer, "
            "label_feature and id_feature."
        )


def _json_files(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.rglob("*.json")) if is_json(read_head(file))]


def _without_ending(name: str) -> str:
    """`1.xmi` → `1`: INCEpTION calls a document as the file that was imported."""
    path = Path(name)
    return path.stem if path.suffix in _ENDINGS else name


def _select(cas: Any, type_name: str) -> list[Any]:
    """Annotations of a type in the order in which they were made."""
    if not cas.typesystem.contains_type(type_name):
        return []
    return sorted(cas.select(type_name), key=lambda annotation: annotation.xmiID)


def _document_extras(cas: Any) -> _DocumentExtras:
    fields = (each.value for each in _select(cas, _FIELD) if each.key == _OF_DOCUMENT)
    return next((parse_as(value, _DocumentExtras) for value in fields), _DocumentExtras())


def _lacking(cas: Any, layer: _Layer) -> set[str]:
    """What of a layer that was asked for the types do not have. A file written without any mention
    need not have the usual one."""
    types = cas.typesystem
    if not types.contains_type(layer.type):
        return set() if layer.type == NAMED_ENTITY else {layer.type}
    known = {feature.name for feature in types.get_type(layer.type).all_features}
    return {f"{layer.type}:{name}" for name in (layer.label, layer.concept_ids)} - {
        f"{layer.type}:{name}" for name in known
    }


def _mentions(cas: Any, layer: _Layer, doc_id: str, reading: Reading) -> Iterator[GoldMention]:
    text = cas.sofa_string
    extras: dict[tuple[int, int, str, str, int], _MentionExtras] = {}
    seen: Counter[GoldMention] = Counter()
    for each in _select(cas, _FIELD):
        if each.key == _OF_MENTION:
            try:
                said = parse_as(each.value, _MentionExtras)
            except (TypeError, ValueError) as error:
                reading.fault(f"{reading.name} is not a UIMA CAS, or is damaged ({error}).")
                continue
            ids = reading.concept_ids(said.concept_ids, said.label)
            extras[each.begin, each.end, said.label, ids, said.after] = said
    for annotation in _select(cas, layer.type):
        begin, end = (
            -1 if place is None else place for place in (annotation.begin, annotation.end)
        )
        covered = text[begin:end] if 0 <= begin < end <= len(text) else ""
        label = getattr(annotation, layer.label, None) or ""
        ids = _joined(getattr(annotation, layer.concept_ids, None))
        found = reading.mention(text, (begin, end), covered, doc_id, annotation.xmiID, label, ids)
        if found is None:
            continue
        # What was said of a mention holds for it alone, not for one that was put in its place.
        here = (found.start, found.end, found.label, found.concept_ids, seen[found])
        seen[found] += 1
        if here in extras:
            said = extras.pop(here)
            found = replace(found, parts=said.parts, read_as=said.read_as)
        yield found
    reading.report.count("parts_left_out", len(extras))


def _joined(identifiers: Any) -> str:
    """A feature with one identifier, or with several."""
    several = getattr(identifiers, "elements", None)
    given = [identifiers] if several is None else several
    return "|".join(str(each) for each in given if each is not None)


def write_uima_json(documents: Iterable[CorpusDocument], path: Path) -> None:
    """Write a folder with a file a document, to be imported as UIMA CAS JSON.

    documents (Iterable[CorpusDocument]): written as they come.
    path (Path): a new folder.
    RAISES (AngelError): there is one with something in it, or dkpro-cassis is not installed.
    """
    import_cassis()
    from cassis.typesystem import TypeSystemMode

    types, names = type_system(), FileNames()
    with new_folder(path) as folder:
        for document in documents:
            data = _cas(document, types).to_json(type_system_mode=TypeSystemMode.MINIMAL)
            (folder / f"{names.of(document.doc_id)}.json").write_text(data, encoding="utf8")


def write_uima_xmi(documents: Iterable[CorpusDocument], path: Path) -> None:
    """Write a folder with a file a document, to be imported as UIMA CAS XMI, and their types.

    documents (Iterable[CorpusDocument]), path (Path): as `write_uima_json`.
    RAISES (AngelError): as `write_uima_json`; a text has a character that XML cannot hold.
    """
    import_cassis()
    types, names = type_system(), FileNames()
    with new_folder(path) as folder:
        types.to_xml(folder / TYPE_SYSTEM)
        for document in documents:
            try:
                data = _cas(document, types).to_xmi()
            except ValueError as error:
                raise AngelError(
                    f"Document {document.doc_id} cannot be written as XMI ({error}). Use JSON."
                ) from error
            (folder / f"{names.of(document.doc_id)}.xmi").write_text(data, encoding="utf8")


def _cas(document: CorpusDocument, types: Any) -> Any:
    cas = import_cassis().Cas(typesystem=types)
    cas.sofa_string, cas.sofa_mime = document.text, "text/plain"

    def add(name: str, begin: int, end: int, **features: Any) -> None:
        given = {key: value for key, value in features.items() if value}
        cas.add(types.get_type(name)(begin=begin, end=end, **given))

    size, title = len(document.text), document.doc_id
    add(METADATA, 0, size, documentTitle=title, documentId=title)
    extras = _DocumentExtras(doc_id=title, split=document.split, steps=document.steps)
    add(_FIELD, 0, size, key=_OF_DOCUMENT, value=extras.model_dump_json(exclude_defaults=True))
    if document.title_end is not None:
        add(_HEADING, 0, document.title_end)
    seen: Counter[GoldMention] = Counter()
    for mention in document.mentions:
        span, label, ids = (mention.start, mention.end), mention.label, mention.concept_ids
        add(NAMED_ENTITY, *span, value=label, identifier=ids)
        bare = replace(mention, parts=(), read_as="")
        if bare != mention:
            said = _MentionExtras(
                label=label,
                concept_ids=ids,
                after=seen[bare],
                parts=mention.parts,
                read_as=mention.read_as,
            )
            value = said.model_dump_json(exclude_defaults=True)
            add(_FIELD, *span, key=_OF_MENTION, value=value)
        seen[bare] += 1
    return cas


def _first(folder: Path, endings: Collection[str]) -> list[Path]:
    """Some of a folder's files with an ending."""
    files = (file for file in folder.rglob("*") if file.suffix in endings and file.is_file())
    return [file for file, _ in zip(files, range(_LOOKED_INTO), strict=False)]


def _recognises_json(path: Path, head: str) -> bool:
    if path.is_dir():
        return any(is_json(read_head(file)) for file in _first(path, (".json",)))
    return is_json(head)


def _recognises_xmi(path: Path, head: str) -> bool:
    if path.is_dir():
        return any(is_xmi(file, read_head(file)) for file in _first(path, (".xmi", ".zip")))
    return is_xmi(path, head)


JSON = Format("uima_json", read_uima_json, _recognises_json, write=write_uima_json, is_folder=True)
XMI = Format("uima_xmi", read_uima_xmi, _recognises_xmi, write=write_uima_xmi, is_folder=True)
