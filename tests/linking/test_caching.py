import math

import pytest

from spacy_angel import Concept, ConceptKB
from spacy_angel.linking.candidates.caching import exact_match
from spacy_angel.model.mention import Mention, Query

KB = ConceptKB.build(
    [
        Concept("D:1", "Pneumonia", ("Inflammation, lung", "Cold", "Chill")),
        Concept("D:2", "Common cold", ("Chill", "Chills")),
    ]
)


def take(text, concepts=KB.concept_ids_of):
    return exact_match(Mention(text), concepts, KB)


def test_a_name_of_one_concept_is_taken_in_normal_form():
    taken = take("inflammation,  LUNG")
    assert (taken.name, taken.log_prob) == (KB.name_index("inflammation, lung"), math.log(0.96))


@pytest.mark.parametrize("text", ["pneumonias", "chill", "cold", "c o l d"])
def test_other_words_names_of_two_and_short_ones_are_searched(text):
    assert take(text) is None


def test_what_is_respelled_is_searched():
    assert take("common cold") is not None
    mention = Mention("common cold", queries=(Query("common cold", "spelling"),))
    assert exact_match(mention, KB.concept_ids_of, KB) is None


def test_a_gene_of_a_species_that_the_document_does_not_have_is_searched():
    genes = [
        Concept("G:1", "Arm", ("armadillo",), ("Gene", "NCBITaxon:7227")),
        Concept("G:2", "CTNNB1", ("beta catenin",), ("Gene", "NCBITaxon:9606")),
    ]
    kb = ConceptKB.build(genes, suffixes="species")

    def is_unsearched(text, species_context):
        return (
            exact_match(Mention(text, species_context=species_context), kb.concept_ids_of, kb)
            is not None
        )

    assert is_unsearched("armadillo", "drosophila melanogaster")
    assert not is_unsearched("armadillo", "mus musculus, homo sapiens")
    # without a species people are meant
    assert is_unsearched("beta catenin", "")
    assert not is_unsearched("armadillo", "")
