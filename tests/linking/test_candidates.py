from types import SimpleNamespace

import numpy as np

from spacy_angel import Concept, ConceptKB
from spacy_angel.linking.candidates.merging import CandidateMerger, Request
from spacy_angel.model.mention import Mention, Query
from spacy_angel.search.search import Hypothesis

KB = ConceptKB.build(
    [
        Concept("D:1", "Pneumonia", ("lung inflammation",)),
        Concept("D:2", "Insomnia", ("pneumonitis",)),
        Concept("D:3", "Heart attack"),
    ]
)


def searched(text, document, *found, allowed=None):
    hypotheses = [Hypothesis(KB.name_index(name), lp, lp, 2) for name, lp in found]
    return Request(Mention(text), document, KB.concept_ids_of, allowed), hypotheses


def gather(*items, n_similar=2):
    """Every name that the model is asked for has -9 nats."""
    generator = CandidateMerger([wanted for wanted, _ in items], KB, n_similar)
    generator.find_similar(range(len(items)))
    generator.find_close(range(len(items)))
    asked = []
    for i, (wanted, hypotheses) in enumerate(items):
        names = generator.add(i, hypotheses)
        if names:
            asked.append((wanted.mention.text, names))
            generator.answer(i, [-9.0] * len(names))
    found = generator.finish()
    names = [[(name.text, name.log_prob) for name in one.names] for one in found]
    return SimpleNamespace(found=found, names=names, asked=asked)


def test_names_in_other_words_join_too():
    kb = ConceptKB.build([Concept("D:1", "Nephrolithiasis"), Concept("D:2", "Gout")])
    merger = CandidateMerger([Request(Mention("kidney stones"), 0, kb.concept_ids_of)], kb, 1)
    merger.find_similar([0])
    [before] = merger.unsearched()
    assert (before.names, before.is_searched) == ((), False)
    merger.find_close([0])
    merger.add(0, [Hypothesis(kb.name_index("gout"), -3.0, -3.0, 2)])
    [after] = merger.finish()
    assert after.is_searched
    meanings = {name.text: name.meaning for name in after.names}
    assert meanings["nephrolithiasis"] > meanings["gout"]


def test_the_model_is_not_asked_where_it_has_decided():
    found = gather(
        searched("Pneumonia", 0, ("pneumonia", -0.5)), searched("pneumoni", 1, ("insomnia", -1.5))
    )
    assert found.names[0] == [("pneumonia", -0.5)]
    # Where it is sure of another name, the others are not above the last that it found.
    assert found.names[1][0] == ("insomnia", -1.5)
    assert ("pneumonia", -1.5) in found.names[1]
    assert found.asked == []


def test_a_name_that_only_a_silent_species_has_decides_nothing():
    cress, mouse = ("NCBITaxon:3702",), ("NCBITaxon:10090",)
    genes = [Concept("G:1", "gamma-H2AX", (), cress), Concept("G:2", "H2ax", (), mouse)]
    kb = ConceptKB.build(genes, suffixes="species")

    def names(species_context):
        mention = Mention("gamma-H2AX", species_context=species_context)
        generator = CandidateMerger([Request(mention, 0, kb.concept_ids_of)], kb, 2)
        generator.find_similar([0])
        generator.add(0, [Hypothesis(kb.name_index("gamma-H2AX"), -0.5, -0.5, 2)])
        return [name.text for name in generator.finish()[0].names]

    assert names("mus musculus") == ["gamma h2ax", "h2ax"]
    assert names("arabidopsis thaliana") == ["gamma h2ax"]


def test_a_subset_limits_both_sides():
    allowed = np.ones(KB.n_names, dtype=bool)
    allowed[KB.name_index("pneumonia")] = False
    (names,) = gather(searched("pnuemonia", 0, allowed=allowed), n_similar=1).names
    assert "pneumonia" not in dict(names)
    assert "pneumonitis" in dict(names)


def test_a_document_agrees_with_itself_in_other_words():
    items = [
        searched("lung inflammation", 0, ("lung inflammation", -0.1)),
        searched("pnuemonia", 0),
        searched("pnuemonia", 1),
    ]
    assert [found.coherent for found in gather(*items, n_similar=1).found] == [
        set(),
        {"D:1"},
        set(),
    ]


def test_every_query_brings_its_names():
    queries = (Query("lung fever", "long form"), Query("Pneumonia", "mention"))
    mention = Mention("lung fever", queries=queries)
    generator = CandidateMerger([Request(mention, 0, KB.concept_ids_of)], KB, 1)
    generator.find_similar([0])
    generator.add(0, [Hypothesis(KB.name_index("insomnia"), -6.0, -6.0, 2)])
    [found] = generator.finish()
    assert found.mention == "lung fever"
    told = {name.text: (name.query, name.is_exact) for name in found.names}
    assert told["pneumonia"] == ("mention", True)
    assert told["lung inflammation"] == ("long form", False)


def test_a_corrected_spelling_brings_no_drug_but_a_disease():
    kb = ConceptKB.build(
        [Concept("C:1", "Lapatinib", types=("Drug",)), Concept("D:1", "Gout", types=("Disease",))]
    )

    def found(written: str, meant: str) -> list[str]:
        mention = Mention(meant, queries=(Query(meant, "spelling"), Query(written, "mention")))
        generator = CandidateMerger([Request(mention, 0, kb.concept_ids_of)], kb, 1)
        generator.find_similar([0])
        generator.add(0, [Hypothesis(kb.name_index(meant), -0.1, -0.1, 2)])
        return [c.concept_id for c in generator.finish()[0].candidates]

    assert found("capmatinib", "lapatinib") == []
    assert found("goutt", "gout") == ["D:1"]
