"""Names of organisms as texts have them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_angel.linking.organisms import expand_genus, read_organism
from spacy_angel.model.mention import Mention

NAMES = {
    "Mycoplasma bovis",
    "M. bovis",
    "Trypanosoma cruzi",
    "Escherichia coli",
    "E. coli",
    "rice",
    "house fly",
    "ash",
    "Influenza A virus",
}


def is_name(text: str) -> bool:
    return text in NAMES


@pytest.mark.parametrize(
    ("mention", "text", "read"),
    [
        ("T. cruzi", "Trypanosoma cruzi is a parasite; T. cruzi enters", "Trypanosoma cruzi"),
        ("T.cruzi", "Trypanosoma cruzi is a parasite", "Trypanosoma cruzi"),
        ("T. cruzi infection", "T. cruzi (Trypanosoma cruzi)", "Trypanosoma cruzi infection"),
        ("Tr. cruzi", "Trypanosoma cruzi is a parasite", "Trypanosoma cruzi"),
        # The document's name is the better one of two that the vocabulary knows.
        ("M. bovis", "Mycoplasma bovis is a mollicute", "Mycoplasma bovis"),
        # It knows the short one, and not what the document says.
        ("M. bovis", "Moraxella bovis causes pinkeye", "M. bovis"),
        ("T. cruzi", "Leishmania donovani and T. cruzi", "T. cruzi"),
        ("cruzi", "Trypanosoma cruzi", "cruzi"),
    ],
)
def test_a_genus_in_short_is_the_document_s(mention, text, read):
    assert expand_genus(Mention(mention, "a", "b"), text, is_name) == Mention(read, "a", "b")


@pytest.mark.parametrize(
    ("mention", "read"),
    [
        ("rice plants", "rice"),
        ("rice plant leaves", "rice"),
        ("rice (Oryza)", "rice"),
        ("house flies", "house fly"),
        ("ashes", "ash"),
        ("Influenza A viruses", "Influenza A virus"),
        ("Shiga toxin-producing Escherichia coli", "Escherichia coli"),
        ("E. coli strain 4795/97", "E. coli"),
        ("Trypanosoma cruzi Y", "Trypanosoma cruzi"),
        # A name stays, and so does what has none in it.
        ("E. coli", "E. coli"),
        ("rice blast fungus", "rice blast fungus"),
        ("plants", "plants"),
    ],
)
def test_what_is_said_of_an_organism_is_no_part_of_its_name(mention, read):
    assert read_organism(Mention(mention), is_name).text == read


@given(st.text(max_size=40))
def test_any_mention_is_read_as_a_name_or_as_it_is(text):
    assert read_organism(Mention(text), is_name).text in {text, *NAMES}
