"""Gold documents → entities that a mention recogniser is trained on.

The annotated types become the labels of `vocabulary/names/labels.yml`, those of NCBI-disease and
BC5CDR two:

    SpecificDisease, DiseaseClass, Modifier, CompositeMention, Disease → DISEASE
    Chemical → CHEMICAL

Of overlapping mentions the longest stays. A mention that begins or ends inside a token of the
tokenizer stays as well: its Doc is split there (`docs.to_doc`), so that spaCy learns nothing from
that token in training and counts the mention as missed in scoring.

NCBI-disease marks no chemicals, which does not mean that there are none. Where a text has a string
that another training corpus marks as one, its tokens are left open: spaCy then takes every answer
for right.

A label with a question mark, `DISEASE?`, leaves the mention's tokens open, too.

Two corpora show few of the names that there are. `swap_mentions` puts a vocabulary's names into
their sentences, so that the sentence is learned and not the name alone.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from ..errors import AngelError, Errors
from ..vocabulary.names.concepts import Concept, normalize_name
from ..vocabulary.names.labels import KINDS, kind_of, kinds_of
from .docs import GOLD_SPANS, to_doc
from .documents import CorpusDocument, CorpusReport, GoldMention
from .note_text import as_written
from .preprocessing import Preprocessing, preprocess, replace_spans

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# Of MeSH: diseases, mental disorders; of its chemicals those that the corpora mark, which are no
# proteins, nucleic acids or actions of drugs.
MESH_LABELS: dict[str, str] = {
    "C": "DISEASE",
    "F03": "DISEASE",
    **dict.fromkeys(("D01", "D02", "D03", "D04"), "CHEMICAL"),
}


OPEN = "?"
"""Behind a label: this may be such a mention or not."""


def to_entities(
    documents: Iterable[CorpusDocument],
    labels: Mapping[str, str] | None = None,
    report: CorpusReport | None = None,
) -> Iterator[CorpusDocument]:
    """Mentions as a recogniser learns them: few labels, no overlaps, no identifiers.

    Mentions that differ in nothing else become one.

    documents (Iterable[CorpusDocument]): e.g. from `read_corpus`.
    labels (Mapping[str, str] | None): entity label of each type of the corpora; None: by the table.
    report (CorpusReport | None): gets `overlapping_left_out`.
    RETURNS (Iterator[CorpusDocument]): in the same order.
    RAISES (AngelError): a type has no entity label.
    """
    relabelled = (
        replace(
            document, mentions=tuple(dict.fromkeys(_entity(m, labels) for m in document.mentions))
        )
        for document in documents
    )
    return preprocess(relabelled, Preprocessing(overlaps="longest"), report=report)


def _entity(mention: GoldMention, labels: Mapping[str, str] | None) -> GoldMention:
    written = mention.label.removesuffix(OPEN)
    label = kind_of(written) if labels is None else labels.get(written)
    if label is not None:
        label += mention.label[len(written) :]
    else:
        known = ", ".join(KINDS if labels is None else labels)
        raise AngelError(Errors.E431.format(label=mention.label, text=mention.text, known=known))
    return replace(mention, label=label, concept_ids="", parts=())


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
        raise AngelError(Errors.E432.format(known=", ".join((*MESH_LABELS, *KINDS))))
    return {label: sorted(of_label) for label, of_label in names.items()}


def _label_of_type(name: str) -> str | None:
    """Not of types that may be several kinds, as UMLS's proteins are."""
    return MESH_LABELS.get(name) or (kind_of(name) if len(kinds_of(name)) == 1 else None)


def mentions_by_label(documents: Iterable[CorpusDocument]) -> dict[str, list[str]]:
    """documents (Iterable[CorpusDocument]): from `to_entities`. RETURNS (dict[str, list[str]]):
    their mentions, each as often as it occurs, for each entity label."""
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

    document (CorpusDocument): from `to_entities`.
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


def unmarked_strings(
    corpus: Collection[CorpusDocument], training: Iterable[CorpusDocument]
) -> frozenset[str]:
    """What a corpus may hold without marking it.

    corpus (Collection[CorpusDocument]): all documents of one file, from `to_entities`.
    training (Iterable[CorpusDocument]): documents of all training files, from `to_entities`.
    RETURNS (frozenset[str]): mentions of the training files with labels that the corpus never
        uses, and the same with their first letter in the other case: at the beginning of a sentence
        `cholesterol` has a capital, but `be` is not the element `Be`.
    """
    used = {m.label.removesuffix(OPEN) for document in corpus for m in document.mentions}
    strings = {
        mention.text
        for document in training
        for mention in document.mentions
        if mention.label not in used and not mention.label.endswith(OPEN)
    }
    return frozenset(strings | {text[0].swapcase() + text[1:] for text in strings})


def in_all_letters(strings: Iterable[str]) -> frozenset[str]:
    """strings (Iterable[str]): e.g. from `unmarked_strings`. RETURNS (frozenset[str]): the same,
    and those of more than three letters in capitals throughout and in none."""
    long = {text for text in strings if len(text) > 3}
    return frozenset((*strings, *(text.upper() for text in long), *(text.lower() for text in long)))


def entity_docs(
    documents: Iterable[CorpusDocument],
    nlp: "Language",
    unmarked: Collection[str] = (),
    report: CorpusReport | None = None,
) -> "Iterator[Doc]":
    """Documents as Docs with gold entities.

    documents (Iterable[CorpusDocument]): from `to_entities`.
    nlp (Language): its tokenizer and vocab are used.
    unmarked (Collection[str]): strings whose tokens are left open where they stand outside of
        entities, spelled just so.
    report (CorpusReport | None): gets the entities of each label as `entities_DISEASE` and so on,
        `entities_inside_tokens` (begin or end inside a token) and `tokens_left_open`.
    RETURNS (Iterator[Doc]): with `ents`, and nothing else.
    """
    from spacy.matcher import PhraseMatcher
    from spacy.util import filter_spans

    report = report if report is not None else CorpusReport()
    matcher = PhraseMatcher(nlp.vocab)
    matcher.add("UNMARKED", [nlp.make_doc(text) for text in sorted(unmarked)])
    for document in documents:
        doc = to_doc(document, nlp)
        del doc.spans[GOLD_SPANS]
        doc.user_data.clear()
        entities = [ent for ent in doc.ents if not ent.label_.endswith(OPEN)]
        doubtful = [ent for ent in doc.ents if ent.label_.endswith(OPEN)]
        matches = matcher(doc, as_spans=True)
        others = (span for span in matches if not any(token.ent_type for token in span))
        doc.set_ents(entities, missing=filter_spans([*doubtful, *others]))
        tokens = nlp.make_doc(document.text)
        for mention in document.mentions:
            report.count(f"entities_{mention.label}")
            inside = tokens.char_span(mention.start, mention.end) is None
            report.count("entities_inside_tokens", int(inside))
        report.count("tokens_left_open", sum(token.ent_iob == 0 for token in doc))
        yield doc
