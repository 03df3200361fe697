import math

import pytest

from spacy_angel import Concept, ConceptKB
from spacy_angel.linking.candidates.caching import exact_match, first_of_equals
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
    assert take("inflammation,  LUNG") == (
        KB.name_index("inflammation, lung"),
        math.log(0.96),
        math.log(0.96),
        None,
    )


@pytest.mark.parametrize("text", ["pneumonias", "chill", "cold", "c o l d"])
def test_other_words_names_of_two_and_short_ones_are_searched(text):
    assert take(text) is None


def test_what_is_respelled_is_searched():
    assert take("common cold") is not None
    mention = Mention("common cold", queries=(Query("common cold", "spelling"),))
    assert exact_match(mention, KB.concept_ids_of, KB) is None


def test_only_concepts_that_the_mention_may_have_count():
    def second(name, suffix):
        return [c for c in KB.concept_ids_of(name) if c == "D:2"]

    assert take("pneumonia", second) is None
    assert take("chill", second) == (KB.name_index("chill"), math.log(0.96), math.log(0.96), None)


def test_a_removed_name_is_searched():
    kb = ConceptKB.build([Concept("D:1", "Pneumonia", ("Lung fever",))])
    assert exact_match(Mention("lung fever"), kb.concept_ids_of, kb) is not None
    kb.remove_name("D:1", "Lung fever")
    assert exact_match(Mention("lung fever"), kb.concept_ids_of, kb) is None


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


def test_the_first_of_equals_stands_for_all():
    assert first_of_equals("abac") == ([0, 1, 3], [0, 1, 0, 2])
    assert first_of_equals("") == ([], [])
