"""The wordings of a mention: what the model reads, and what else is looked up."""

import pytest
import spacy
from spacy.tokens import Doc, Span
from support.tiny_linker import settings_of

from spacy_angel import Concept, ConceptKB
from spacy_angel.linking.candidates.names import NameReader
from spacy_angel.linking.mentions.reading import ABBREVIATIONS, ReadDocument
from spacy_angel.linking.mentions.wordings import (
    correct_spelling,
    expand_short_form,
    is_other_text,
    read_wordings,
)
from spacy_angel.model.mention import Mention

VOCAB = spacy.blank("en").vocab
LONG = "O-GlcNAc transferase"


def build(names):
    """names (dict[str, str]): name → type of its concept. RETURNS (ConceptKB): the vocabulary."""
    return ConceptKB.build(
        Concept(f"X:{n}", name, (), (kind,)) for n, (name, kind) in enumerate(names.items())
    )


def read_span(kb, span, long_form="", **settings):
    """RETURNS (str): what the model reads for a mention."""
    own = settings_of(**{"rerank": True, "rewrite": True, **settings})
    mention = Mention(long_form or span.text)
    document, names = ReadDocument(span.doc), NameReader(kb, own)
    return read_wordings(mention, span.text, span.label_, document, names, own)[0]


def mention(text, label):
    return Span(Doc(VOCAB, [text, "rose"]), 0, 1, label=label)


def read(kb, text, label, long_form="", **settings):
    """RETURNS (str): what the model reads for a mention."""
    return read_span(kb, mention(text, label), long_form, **settings)


@pytest.mark.parametrize(
    ("written", "label", "long", "rerank", "expected"),
    [
        # The vocabulary has the symbol, but not what the text calls it in full.
        ("OGT", "GENE", LONG, True, "OGT"),
        ("OGT", "Protein", LONG, True, "OGT"),
        ("OGT", "GENE", "O-linked N-acetylglucosamine transferase", True, None),
        ("GlcT", "GENE", LONG, True, None),
        # Short forms of diseases are those of many.
        ("OGT", "DISEASE", LONG, True, None),
        # As published.
        ("OGT", "GENE", LONG, False, None),
    ],
)
def test_a_gene_s_symbol_stays(written, label, long, rerank, expected):
    kb = build({"OGT": "Gene", "O-linked N-acetylglucosamine transferase": "Gene"})
    assert read(kb, written, label, long, rerank=rerank, rewrite=False) == (expected or long)


def test_what_is_said_in_full_is_read_as_the_symbol_that_the_document_gives():
    kb = build({"OGT": "Gene", "Hypertension": "Disease"})
    doc = Doc(VOCAB, ["O-GlcNAc", "Transferase", "(", "OGT", ")", "rose"])
    doc.user_data[ABBREVIATIONS] = [{"short_start": 3, "short_end": 4, "long_text": LONG}]
    assert read_span(kb, Span(doc, 0, 2, label="GENE")) == "OGT"
    assert read_span(kb, Span(doc, 0, 2, label="DISEASE")) == "O-GlcNAc Transferase"


def test_a_name_of_something_else_is_none():
    kb = build({"Cancer": "Species", "Neoplasms": "Disease", "CAT": "Gene", "OGT": "Species"})
    assert read(kb, "cancer", "DISEASE") == "neoplasms"
    assert read(kb, "cancer", "SPECIES") == "cancer"
    # Without a label that says so, it may be the crab.
    assert read(kb, "cancer", "THING") == "cancer"
    # A species is no symbol of a gene.
    assert read(kb, "OGT", "GENE", LONG) == LONG
    assert read(kb, "CAT", "GENE", "catalase") == "CAT"
    assert read(kb, "cancer", "DISEASE", types_by_label={"DISEASE": ["Species"]}) == "cancer"


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        # Both are names; the model can read the second. Known as it stands only; in neither way.
        ("NF-\u03baB", "GENE", "NF-kappaB"),
        ("I\u03baB", "GENE", "I\u03baB"),
        ("\u03b1B", "GENE", "alphaB"),
        ("SIRT-1", "GENE", "SIRT1"),
        ("Talin1", "GENE", "Talin 1"),
        # A name as it stands, one of another kind, and none either way.
        *((text, "GENE", text) for text in ("IL-2", "IL2", "CEP-1", "CCR-7")),
        ("haematemesis", "DISEASE", "hematemesis"),
        ("leucopenia", "DISEASE", "leukopenia"),
        ("OESOPHAGEAL VARICES", "DISEASE", "ESOPHAGEAL VARICES"),
        # A name as it is, and a short form.
        *((text, "DISEASE", text) for text in ("Paeony rash", "TAE")),
        ("Shiga toxin-producing Escherichia coli", "SPECIES", "Escherichia coli"),
    ],
)
def test_other_spellings(text, label, expected):
    genes = ("NF-\u03baB", "NF-kappaB", "I\u03baB", "SIRT1", "Talin 1", "IL-2", "IL2", "CCR5")
    diseases = ("Hematemesis", "Esophageal Varices", "Paeony Rash", "TE", "Leukopenia")
    species = ("cep1", "Escherichia coli")
    kinds = {"Gene": genes, "Disease": diseases, "Species": species}
    kb = build({name: kind for kind, names in kinds.items() for name in names})
    assert read(kb, text, label) == expected


KB = ConceptKB.build(
    [
        Concept("D:1", "Hypertension"),
        Concept("D:2", "Multiple Sclerosis"),
        Concept("D:3", "Myocardial Infarction"),
        Concept("C:1", "Acetaminophen", ("Paracetamol", "Panadol")),
        Concept("G:1", "AF"),
        Concept("D:4", "Atrial Fibrillation"),
        Concept("C:2", "Infliximab", ("cA2",)),
        Concept("C:3", "Calcium"),
        Concept("D:6", "Pneumonia"),
        Concept("D:7", "Liver failure"),
        Concept("D:8", "Graves-Basedow athsma"),
    ]
)


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("HTN", "hypertension"),
        ("htn", "htn"),
        ("MS", "multiple sclerosis"),
        # A name of the vocabulary.
        ("AF", "AF"),
        ("A-fib", "atrial fibrillation"),
        # Its meaning is not in the vocabulary.
        ("COPD", "COPD"),
        ("TYLENOL", "acetaminophen"),
        ("Panadol", "Panadol"),
        ("Heart attack", "myocardial infarction"),
        # Not the antibody, whose name has the same letters.
        ("Ca2+", "calcium"),
        ("cA2", "cA2"),
    ],
)
def test_short_forms_and_everyday_words(text, expanded):
    reader = NameReader(KB, settings_of())
    assert expand_short_form(text, reader, lambda t: KB.name_index(t) is not None) == expanded


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("pnuemonia", "pneumonia"),
        ("severe Pnuemonia, left", "severe pneumonia, left"),
        ("PNUEMONIA", "pneumonia"),
        # A name of the vocabulary precedes a frequent word (`over`).
        ("oiver failure", "liver failure"),
        ("pnuemonia and liver failrue", "pneumonia and liver failure"),
        # Words of the vocabulary and of abstracts, a short form, words with digits.
        *((text, text) for text in ("athsma", "nephrotoxicity", "PNUEM", "il2 defici3ncy", "")),
        ("qqxqqxqq", "qqxqqxqq"),
    ],
)
def test_unknown_words_are_corrected(text, corrected):
    assert correct_spelling(text, NameReader(KB, settings_of())) == corrected


@pytest.mark.parametrize(
    ("text", "label", "following", "expected"),
    [
        ("ESR", "GENE", " was", True),
        ("ESR", "DISEASE", " was", False),
        ("ESR1", "GENE", " was", False),
        ("ALLERGIES", "DISEASE", ": penicillin", True),
        ("allergies", "DISEASE", " to penicillin", False),
        ("Asthma", "DISEASE", ": stable", False),
    ],
)
def test_laboratory_tests_and_headers_are_no_mentions(text, label, following, expected):
    assert is_other_text(text, label, following) == expected
