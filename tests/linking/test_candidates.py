"""Candidates of a batch: similar names, names of the search, and those that the model scores."""

import numpy as np
import pytest
from support.tiny_linker import settings_of

from spacy_angel import Concept, ConceptKB
from spacy_angel.linking.candidates.generator import CandidateGenerator, exact_match
from spacy_angel.linking.mentions.names import NameReader
from spacy_angel.linking.ranking.ranker import shipped_ranker
from spacy_angel.linking.types import MENTION, SPELLING, Query, Wording
from spacy_angel.model.mention import Mention
from spacy_angel.search.search import Hypothesis

KB = ConceptKB.build(
    [
        Concept("D:1", "Pneumonia", ("lung inflammation", "Inflammation, lung")),
        Concept("D:2", "Insomnia", ("pneumonitis",)),
        Concept("D:3", "Heart attack"),
    ]
)


class Space:
    """All names, or those of a mask."""

    entries = None

    def __init__(self, allowed: np.ndarray | None) -> None:
        self.allowed = {0: allowed}


class Model:
    """Finds what it was given for each mention; every name that it scores has -9 nats."""

    num_beams = 5
    prompts = None

    def __init__(self, found: dict[str, list[tuple[int, float]]]) -> None:
        self.found = found
        self.scored: dict[str, list[str]] = {}

    def search(self, mentions, space, settings, **_):
        return [
            [Hypothesis(name, lp, lp, 2) for name, lp in self.found.get(m.text, ())]
            for m in mentions
        ]

    def score_names(self, mentions, names, **_):
        self.scored |= {m.text: own for m, own in zip(mentions, names, strict=True)}
        return [[-9.0] * len(own) for own in names]


def generate(monkeypatch, *items, kb=KB, allowed=None, n_similar=2):
    """items: a query, and names of the search with their log-probability."""
    found = {q.mention.text: [(kb.name_index(n), p) for n, p in names] for q, *names in items}
    model = Model(found)
    monkeypatch.setattr(kb, "search_space", lambda *_: Space(allowed))
    queries = [q for q, *_ in items]
    settings = settings_of(rerank=True)
    reader = NameReader(kb, settings)
    generator = CandidateGenerator(model, reader, settings, shipped_ranker(), n_similar=n_similar)
    generator.generate(queries)
    return queries, model.scored


def query(text, document=0, *wordings, **values):
    return Query(Mention(text, **values), "", document, tuple(Wording(*w) for w in wordings))


def names(q):
    return {c.text: c.log_prob for c in q.candidates}


def test_names_in_other_words_join(monkeypatch):
    kb = ConceptKB.build([Concept("D:1", "Nephrolithiasis"), Concept("D:2", "Gout")])
    [q], _ = generate(monkeypatch, (query("kidney stones"), ("gout", -3.0)), kb=kb, n_similar=1)
    meanings = {c.text: c.meaning for c in q.candidates}
    assert meanings["nephrolithiasis"] > meanings["gout"]
    assert q.is_searched


def test_the_model_scores_no_name_if_it_has_decided(monkeypatch):
    queries, scored = generate(
        monkeypatch,
        (query("Pneumonia"), ("pneumonia", -0.5)),
        (query("pneumoni", 1), ("insomnia", -1.5)),
        (query("pneumoniae", 2), ("insomnia", -2.5)),
    )
    assert names(queries[0]) == {"pneumonia": -0.5}
    # If it is sure of another name, the similar ones have the least of those that it found.
    assert next(iter(names(queries[1]).items())) == ("insomnia", -1.5)
    assert names(queries[1])["pneumonia"] == -1.5
    assert scored.keys() == {"pneumoniae"}
    assert names(queries[2])["pneumonia"] == -9.0


@pytest.mark.parametrize(
    ("species", "found"),
    [("mus musculus", ["gamma h2ax", "h2ax"]), ("arabidopsis thaliana", ["gamma h2ax"])],
)
def test_a_name_that_only_an_absent_species_has_decides_nothing(monkeypatch, species, found):
    cress, mouse = ("NCBITaxon:3702",), ("NCBITaxon:10090",)
    genes = [Concept("G:1", "gamma-H2AX", (), cress), Concept("G:2", "H2ax", (), mouse)]
    kb = ConceptKB.build(genes, by_species=True)
    item = query("gamma-H2AX", species_context=species), ("gamma-H2AX", -0.5)
    [q], _ = generate(monkeypatch, item, kb=kb)
    assert list(names(q)) == found


def test_a_document_agrees_with_itself_in_other_words(monkeypatch):
    queries, _ = generate(
        monkeypatch,
        (query("lung inflammation"), ("lung inflammation", -0.1)),
        (query("pnuemonia"),),
        (query("pnuemonia", 1),),
        n_similar=1,
    )
    assert [q.coherent for q in queries] == [set(), {"D:1"}, set()]


def test_every_wording_brings_its_names(monkeypatch):
    wordings = ("lung fever", "long form"), ("Pneumonia", MENTION)
    item = query("lung fever", 0, *wordings), ("insomnia", -6.0)
    [q], _ = generate(monkeypatch, item, n_similar=1)
    found = {c.text: (c.source, c.is_query) for c in q.candidates}
    assert found["pneumonia"] == (MENTION, True)
    assert found["lung inflammation"] == ("long form", False)


@pytest.mark.parametrize(
    ("written", "meant", "ids"), [("capmatinib", "lapatinib", []), ("goutt", "gout", ["D:1"])]
)
def test_a_corrected_spelling_brings_no_drug_but_a_disease(monkeypatch, written, meant, ids):
    kb = ConceptKB.build(
        [Concept("C:1", "Lapatinib", types=("Drug",)), Concept("D:1", "Gout", types=("Disease",))]
    )
    item = query(meant, 0, (meant, SPELLING), (written, MENTION)), (meant, -0.1)
    [q], _ = generate(monkeypatch, item, kb=kb, n_similar=1)
    assert [c.concept_id for c in q.candidates] == ids


EXACT = ConceptKB.build(
    [
        Concept("D:1", "Pneumonia", ("Inflammation, lung", "Cold", "Chill")),
        Concept("D:2", "Common cold", ("Chill", "Chills")),
    ]
)


@pytest.mark.parametrize(
    ("text", "source", "name"),
    [
        ("inflammation,  LUNG", MENTION, "inflammation lung"),
        ("common cold", MENTION, "common cold"),
        # Other words, the name of two concepts, short ones, and what is spelled in another way.
        *((text, MENTION, None) for text in ("pneumonias", "chill", "cold", "c o l d")),
        ("common cold", SPELLING, None),
    ],
)
def test_the_name_of_one_concept_needs_no_search(text, source, name):
    found = exact_match(query(text, 0, (text, source)), NameReader(EXACT, settings_of()))
    assert found == (None if name is None else EXACT.name_index(name))


@pytest.mark.parametrize(
    ("text", "species", "matches"),
    [
        ("armadillo", "drosophila melanogaster", True),
        ("armadillo", "mus musculus, homo sapiens", False),
        ("armadillo", "", False),
        # Without a species people are meant.
        ("beta catenin", "", True),
    ],
)
def test_a_gene_of_a_species_that_the_document_does_not_have_is_searched(text, species, matches):
    genes = [
        Concept("G:1", "Arm", ("armadillo",), ("Gene", "NCBITaxon:7227")),
        Concept("G:2", "CTNNB1", ("beta catenin",), ("Gene", "NCBITaxon:9606")),
    ]
    kb = ConceptKB.build(genes, by_species=True)
    found = exact_match(query(text, species_context=species), NameReader(kb, settings_of()))
    assert (found is not None) == matches
