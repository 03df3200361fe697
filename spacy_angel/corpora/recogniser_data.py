"""Names of vocabularies and corpora in the place of the mentions that a recogniser is trained on.

Two corpora show few of the names that there are. `swap_mentions` puts a vocabulary's names into
their sentences, so that the sentence is learned and not the name alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from ..errors import AngelError
from ..vocabulary.names.concepts import Concept, normalize_name
from ..vocabulary.names.entity_type_table import ENTITY_TYPE_TABLE
from ..vocabulary.names.labels import ENTITY_TYPES, entity_type_of, entity_types_of
from .documents import CorpusDocument
from .note_text import as_written
from .text_changes import replace_spans

MESH_LABELS = {branch: one.name for one in ENTITY_TYPE_TABLE for branch in one.mesh_names}
"""Branches of MeSH → label."""


OPEN = "?"
"""Behind a label: this may be such a mention or not."""


def names_by_label(concepts: Iterable[Concept]) -> dict[str, list[str]]:
    """Names to put in the place of mentions.

    concepts (Iterable[Concept]): with types that are spelled as labels are, `Disease`, `Cell line`,
        or with MeSH's, see `MESH_LABELS`.
    RETURNS (dict[str, list[str]]): for each entity label the different names in their original
        spelling, sorted; names with a comma are left out, since nobody writes
        `Infarction, Myocardial` in a sentence.
    RAISES (AngelError): no concept has one of these types.
    """
    names: dict[str, set[str]] = {}
    for concept in concepts:
        for label in {label for name in concept.types if (label := _label_of_type(name))}:
            of_label = names.setdefault(label, set())
            of_label.update(n for n in (concept.canonical_name, *concept.aliases) if "," not in n)
    if not names:
        raise AngelError(
            "The vocabulary has no concept of a type that the recognizer knows: "
            f"{', '.join((*MESH_LABELS, *ENTITY_TYPES))}."
        )
    return {label: sorted(of_label) for label, of_label in names.items()}


def _label_of_type(name: str) -> str | None:
    """Not of types that may be several kinds, as UMLS's proteins are."""
    return MESH_LABELS.get(name) or (
        entity_type_of(name) if len(entity_types_of(name)) == 1 else None
    )


def mentions_by_label(documents: Iterable[CorpusDocument]) -> dict[str, list[str]]:
    """documents (Iterable[CorpusDocument]): with labels of `labels.yml`.
    RETURNS (dict[str, list[str]]): for each their mentions, each as often as it occurs."""
    mentions: dict[str, list[str]] = {}
    for document in documents:
        for mention in document.mentions:
            mentions.setdefault(mention.label, []).append(mention.text)
    return mentions


def short_forms_by_label(
    forms: Mapping[str, Sequence[str]], names: Iterable[Mapping[str, Sequence[str]]]
) -> dict[str, list[str]]:
    """Short forms, lay words and brands with the label of what they stand for.

    forms (Mapping[str, Sequence[str]]): the names that each stands for, in normal form.
    names (Iterable[Mapping[str, Sequence[str]]]): from `names_by_label`.
    RETURNS (dict[str, list[str]]): for each entity label the forms of which a name has it; those
        in small letters also with a capital (`lipitor`, `Lipitor`).
    """
    labels = {
        normalize_name(name): label
        for by_label in names
        for label, of_label in by_label.items()
        for name in of_label
    }
    found: dict[str, list[str]] = {}
    for form, long_forms in forms.items():
        if label := next((labels[name] for name in long_forms if name in labels), ""):
            found.setdefault(label, []).extend(dict.fromkeys((form, form[0].upper() + form[1:])))
    return found


def swap_mentions(
    document: CorpusDocument, names: Mapping[str, Sequence[str]], rng: Random
) -> CorpusDocument:
    """The same document about other diseases and chemicals.

    Equal mentions get equal names. Half of the names are lower-cased, as they mostly are in running
    text, but for those with capitals inside a word (`IDDM`, `GnRH`).

    document (CorpusDocument): whose labels are those of `vocabulary/names/labels.yml`.
    names (Mapping[str, Sequence[str]]): from `names_by_label`; mentions of other labels stay.
    rng (Random): makes the choice.
    RETURNS (CorpusDocument): offsets moved with the text.
    """
    chosen: dict[str, str] = {}
    for mention in document.mentions:
        if mention.label in names and mention.text not in chosen:
            chosen[mention.text] = as_written(rng.choice(names[mention.label]), rng)
    places = sorted((m.start, m.end, chosen[m.text]) for m in document.mentions if m.text in chosen)
    return replace_spans(document, places)
