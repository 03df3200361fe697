"""The table of species."""

from spacy_angel.vocabulary.names.taxa import HOST, METHODS, NAME, SIGN, TAXA, WORD


def test_what_a_species_is_called():
    mouse = TAXA["NCBITaxon:10090"]
    assert mouse.name == "mus musculus"
    assert mouse.of(NAME, WORD)[:3] == ("mus musculus", "mouse", "mice")
    assert "loxp" in mouse.of(SIGN)
    assert "yeast two hybrid" in METHODS
    assert "nude mice" in TAXA["NCBITaxon:9606"].of(HOST)
