"""Gold documents → entities that spaCy's mention recogniser is trained on.

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
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from spacy_angel.corpora.docs import GOLD_SPANS, to_doc
from spacy_angel.corpora.documents import CorpusDocument, CorpusReport, GoldMention
from spacy_angel.corpora.preprocessing import Preprocessing, preprocess
from spacy_angel.corpora.recogniser_data import OPEN
from spacy_angel.errors import AngelError
from spacy_angel.vocabulary.names.labels import ENTITY_TYPES, entity_type_of

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


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
    label = entity_type_of(written) if labels is None else labels.get(written)
    if label is not None:
        label += mention.label[len(written) :]
    else:
        known = ", ".join(ENTITY_TYPES if labels is None else labels)
        raise AngelError(
            f"No entity label for the type {mention.label!r} of {mention.text!r}. Known: {known}. "
            "Give `labels`."
        )
    return replace(mention, label=label, concept_ids="", parts=())


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
