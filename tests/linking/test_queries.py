"""What a mention is read as."""

import pytest
import spacy
from spacy.tokens import Doc, Span
from support.tiny_linker import settings_of

from spacy_angel import Concept, ConceptKB
from spacy_angel.linking.mentions import wordings
from spacy_angel.linking.mentions.names import NameReader
from spacy_angel.linking.mentions.reading import ABBREVIATIONS, ReadDocument
from spacy_angel.model.mention import Mention

KB = ConceptKB.build(
    [
        Concept("G:1", "OGT", ("O-linked N-acetylglucosamine transferase",), ("Gene",)),
        Concept("D:1", "Hypertension", (), ("Disease",)),
    ]
)
LONG = "O-GlcNAc transferase"


def read_wordings(mention, span, kb, settings):
    document, names = ReadDocument(span.doc), NameReader(kb, settings)
    return wordings.read_wordings(mention, span.text, span.label_, document, names, settings)


@pytest.mark.parametrize(
    ("written", "label", "long", "rerank", "read"),
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
def test_a_gene_s_symbol_stays(written, label, long, rerank, read):
    span = Span(Doc(spacy.blank("en").vocab, [written, "rose"]), 0, 1, label=label)
    found = read_wordings(Mention(long), span, KB, settings_of(rerank=rerank))
    assert found[0].text == (read or long)


def test_what_is_said_in_full_is_read_as_the_symbol_that_the_document_gives():
    words = ["O-GlcNAc", "Transferase", "(", "OGT", ")", "rose"]
    doc = Doc(spacy.blank("en").vocab, words)
    doc.user_data[ABBREVIATIONS] = [{"short_start": 3, "short_end": 4, "long_text": LONG}]
    span = Span(doc, 0, 2, label="GENE")
    settings = settings_of(rerank=True)
    assert read_wordings(Mention(span.text), span, KB, settings)[0].text == "OGT"
    disease = Span(doc, 0, 2, label="DISEASE")
    assert read_wordings(Mention(span.text), disease, KB, settings)[0].text == span.text


def test_a_name_of_something_else_is_none():
    kb = ConceptKB.build(
        [
            Concept("T:1", "Cancer", (), ("Species",)),
            Concept("D:1", "Neoplasms", (), ("Disease",)),
            Concept("G:1", "CAT", (), ("Gene",)),
            Concept("T:2", "OGT", (), ("Species",)),
        ]
    )
    words = ["cancer", "OGT", "CAT"]
    doc = Doc(spacy.blank("en").vocab, words)
    settings = settings_of(rerank=True, rewrite=True)

    def read(place: int, text: str, label: str) -> str:
        return read_wordings(Mention(text), Span(doc, place, place + 1, label), kb, settings)[
            0
        ].text

    assert read(0, "cancer", "DISEASE") == "neoplasms"
    assert read(0, "cancer", "SPECIES") == "cancer"
    # Without a label that says so, it may be the crab.
    assert read(0, "cancer", "THING") == "cancer"
    # A species is no symbol of a gene.
    assert read(1, LONG, "GENE") == LONG
    assert read(2, "catalase", "GENE") == "CAT"
    limited = settings_of(rerank=True, rewrite=True, types_by_label={"DISEASE": ["Species"]})
    assert (
        read_wordings(Mention("cancer"), Span(doc, 0, 1, "DISEASE"), kb, limited)[0].text
        == "cancer"
    )


def test_greek_letters_are_spelled_out_where_the_vocabulary_has_that():
    names = ("NF-\u03baB", "NF-kappaB", "I\u03baB")
    kb = ConceptKB.build([Concept(f"G:{n}", name, (), ("Gene",)) for n, name in enumerate(names)])
    settings = settings_of(rerank=True, rewrite=True)

    def read(text: str) -> list[str]:
        span = Span(Doc(spacy.blank("en").vocab, [text]), 0, 1, label="GENE")
        return [text for text, _ in read_wordings(Mention(text), span, kb, settings)]

    # Both are names; the model can read the second.
    assert read("NF-\u03baB") == ["NF-kappaB", "NF-\u03baB"]
    # Known as it stands only, and in neither way.
    assert read("I\u03baB") == ["I\u03baB"]
    assert read("\u03b1B") == ["alphaB", "\u03b1B"]


def test_letters_and_figures_stand_as_the_vocabulary_has_them():
    names = ("SIRT1", "Talin 1", "IL-2", "IL2", "CCR5")
    genes = [Concept(f"G:{n}", name, (), ("Gene",)) for n, name in enumerate(names)]
    kb = ConceptKB.build([*genes, Concept("T:1", "cep1", (), ("Species",))])
    settings = settings_of(rerank=True, rewrite=True)

    def read(text: str) -> str:
        span = Span(Doc(spacy.blank("en").vocab, [text]), 0, 1, label="GENE")
        return read_wordings(Mention(text), span, kb, settings)[0].text

    assert [read(text) for text in ("SIRT-1", "Talin1")] == ["SIRT1", "Talin 1"]
    # A name as it stands, one of another kind, and none either way.
    assert [read(text) for text in ("IL-2", "IL2", "CEP-1", "CCR-7")] == [
        *("IL-2", "IL2", "CEP-1", "CCR-7")
    ]


def test_british_spellings_are_read_as_american_names_of_the_vocabulary():
    names = ("Hematemesis", "Esophageal Varices", "Paeony Rash", "TE")
    kb = ConceptKB.build(
        [Concept(f"D:{n}", name, (), ("Disease",)) for n, name in enumerate(names)]
    )
    settings = settings_of(rerank=True, rewrite=True)

    def read(text: str) -> str:
        span = Span(Doc(spacy.blank("en").vocab, [text]), 0, 1, label="DISEASE")
        return read_wordings(Mention(text), span, kb, settings)[0].text

    assert read("haematemesis") == "hematemesis"
    assert read("OESOPHAGEAL VARICES") == "ESOPHAGEAL VARICES"
    # A name as it is, and a short form.
    assert [read(text) for text in ("Paeony rash", "TAE")] == ["Paeony rash", "TAE"]
