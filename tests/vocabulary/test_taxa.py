"""The table of species."""

from collections import Counter

from spacy_angel.vocabulary.names.taxa import HOST, METHODS, NAME, SIGN, TAXA, WORD


def test_every_phrase_stands_for_one_species_and_is_in_small_letters():
    counts = Counter(p for taxon in TAXA.values() for own in taxon.phrases.values() for p in own)
    counts.update(METHODS)
    assert len(counts) > 200
    assert set(counts.values()) == {1}
    assert all(phrase == phrase.lower().strip() for phrase in counts)


def test_every_species_has_one_scientific_name_and_known_roles():
    assert all(len(taxon.phrases[NAME]) == 1 for taxon in TAXA.values())
    assert {role for taxon in TAXA.values() for role in taxon.phrases} == {NAME, WORD, SIGN, HOST}


def test_what_a_species_is_called():
    mouse = TAXA["NCBITaxon:10090"]
    assert mouse.name == "mus musculus"
    assert mouse.of(NAME, WORD)[:3] == ("mus musculus", "mouse", "mice")
    assert "loxp" in mouse.of(SIGN)
    assert "yeast two hybrid" in METHODS
    assert "nude mice" in TAXA["NCBITaxon:9606"].of(HOST)
