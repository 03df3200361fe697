"""Which species a text is about, and how concepts are sorted by it."""

from spacy_angel import Concept, ConceptKB
from spacy_angel.vocabulary.names.taxa import TAXA
from spacy_angel.vocabulary.species.reader import SpeciesWord

HUMAN, MOUSE, FISH = "NCBITaxon:9606", "NCBITaxon:10090", "NCBITaxon:5555"
GENES = [
    Concept("G:1", "TP53", (), (HUMAN,)),
    Concept("G:2", "Trp53", ("TP53",), (MOUSE,)),
    Concept("G:3", "tp53", (), (FISH,)),
    Concept(FISH, "Piscis novus", (), ("species",)),
]
KB = ConceptKB.build(GENES, by_species=True)
EVERY = ConceptKB.build(
    [*GENES, *(Concept(f"G:of {taxon}", "TP53", (), (taxon,)) for taxon in TAXA)],
    by_species=True,
)


def fields(text, kb=KB, spans=()):
    return [(text[s.start : s.end], s.species) for s in kb.species_reader.find(text, spans)]


def test_species_are_known_by_their_words():
    text = "Patients and mice, a fruit-fly; D. melanogaster; Jurkat cells, the Pten(flox/+) allele"
    assert fields(text, EVERY) == [
        ("Patients", "homo sapiens"),
        ("mice", "mus musculus"),
        ("fruit-fly", "drosophila melanogaster"),
        ("D. melanogaster", "drosophila melanogaster"),
        # cells and tools
        ("Jurkat", "homo sapiens"),
        ("flox", "mus musculus"),
    ]


def test_mentions_of_species_stand_in_the_place_of_words():
    text = "the brown mouse"
    spans = [(4, 15, "NCBITaxon:10116"), (0, 3, "MESH:D1")]
    assert fields(text, spans=spans) == [("brown mouse", "rattus norvegicus")]


def test_a_virus_is_no_species_unless_the_vocabulary_has_its_genes():
    text = "CCR5 in human immunodeficiency virus 1 infection of mice"
    spans = [(8, 38, "NCBITaxon:11676")]
    taxon = Concept("NCBITaxon:11676", "Human immunodeficiency virus 1", (), ("species",))
    kb = ConceptKB.build([*GENES, taxon], by_species=True)
    assert fields(text, kb, spans) == [("mice", "mus musculus")]
    gene = Concept("G:4", "tat", (), ("NCBITaxon:11676",))
    kb = ConceptKB.build([*GENES, taxon, gene], by_species=True)
    virus = ("human immunodeficiency virus 1", "human immunodeficiency virus 1")
    assert fields(text, kb, spans) == [virus, ("mice", "mus musculus")]


def test_methods_are_no_species_and_mice_that_are_hosts_are_none():
    assert fields("a yeast two-hybrid screen with anti-mouse IgG") == []
    assert fields("a yeast two-hybrid screen of yeast") == [("yeast", "saccharomyces cerevisiae")]
    text = "BALB/c nude mice, other mice and rats"
    expected = [("nude mice", "homo sapiens"), ("rats", "rattus norvegicus")]
    assert fields(text, EVERY) == expected
    # also where the recogniser has found the mice
    assert fields(text, EVERY, [(12, 16, MOUSE), (24, 28, MOUSE)]) == expected


def test_species_without_genes_in_the_vocabulary_count_where_no_other_is_named():
    # a line of a hamster's cells gives the vocabulary none of its genes
    line = Concept("CVCL_0213", "CHO", (), ("Cell line", "NCBITaxon:10029"))
    coli = Concept("NCBITaxon:562", "Escherichia coli", (), ("species",))
    kb = ConceptKB.build([*GENES, line, coli], by_species=True)
    spans = [(13, 29, "NCBITaxon:562")]
    text = "expressed in Escherichia coli"
    assert fields(text, kb, spans) == [("Escherichia coli", "escherichia coli")]
    assert fields(f"{text} of mice", kb, spans) == [("mice", "mus musculus")]
    assert fields("Chinese hamster and mice", kb) == [("mice", "mus musculus")]
    assert not kb.species_reader.has_genes_of("NCBITaxon:10029")
    assert kb.species_reader.has_genes_of(MOUSE)
    # as it is now
    kb.add(Concept("G:5", "TP53", (), ("NCBITaxon:10029",)))
    assert len(fields("Chinese hamster and mice", kb)) == 2


def test_the_most_frequent_and_nearest_come_first():
    species_reader = KB.species_reader
    species_words = [SpeciesWord(0, 5, "mus musculus"), SpeciesWord(90, 95, "homo sapiens")]
    assert species_reader.context_of(species_words, 100, 104) == "homo sapiens, mus musculus"
    assert species_reader.context_of(species_words, 10, 14) == "mus musculus, homo sapiens"
    # 0.95 for the one at hand, 0.34 + 0.33 for two far away, 0.51 for one
    far = [SpeciesWord(i, i + 5, "danio rerio") for i in (300, 310)]
    assert (
        species_reader.context_of([*species_words, *far], 100, 104) == "homo sapiens, danio rerio"
    )
    assert species_reader.context_of([], 0, 4) == ""


def sort(kb, name, species_context="", orthologs=False):
    return kb.species_reader.sort(kb.name_index(name), species_context, orthologs=orthologs)


def test_without_a_sign_people_come_first_and_the_others_as_they_were():
    taxa = {"Z": "NCBITaxon:7955", "M": MOUSE, "H": HUMAN}
    genes = [Concept(i, "x", (), (taxon,)) for i, taxon in taxa.items()]
    kb = ConceptKB.build([*genes, Concept("N", "x")], by_species=True)
    assert sort(kb, "x") == ["H", "Z", "M", "N"]
    assert sort(kb, "x", "mus musculus, danio rerio") == ["M", "Z", "H", "N"]


def test_of_one_species_the_gene_of_that_symbol_comes_first_then_that_of_the_second_name():
    genes = [
        Concept("A", "IL12B", ("other", "p40"), (HUMAN,)),
        Concept("B", "PSMD7", ("p40",), (HUMAN,)),
        Concept("C", "P-40", (), (HUMAN,)),
    ]
    kb = ConceptKB.build(genes, by_species=True)
    kb.add_names("C", ["p40"])
    assert sort(kb, "p40") == ["C", "B", "A"]


def test_how_far_a_concept_is_from_what_the_document_speaks_of():
    owners = ("G:1", "G:2", "G:3")
    assert KB.species_ranks(owners, "") == (1, 3, 3)
    assert KB.species_ranks(owners, "mus musculus") == (3, 1, 3)
    assert KB.species_ranks(owners, "piscis novus, mus musculus") == (3, 2, 1)
    # a species has none
    assert KB.species_ranks([FISH], "mus musculus") == (0,)
    assert ConceptKB.build(GENES).species_ranks(owners, "mus musculus") == ()


def test_a_name_means_the_gene_of_its_symbol_in_the_species_of_the_text():
    rat, fly = "NCBITaxon:10116", "NCBITaxon:7227"
    genes = [
        Concept("G:1", "PAK2", ("p21 activated kinase 2",), (HUMAN,)),
        Concept("G:2", "Pak2", (), (rat,)),
        Concept("G:3", "pak2", (), (fly,)),
    ]
    kb = ConceptKB.build(genes, by_species=True)
    name = "p21 activated kinase 2"
    assert sort(kb, name, "rattus norvegicus", orthologs=True) == ["G:2", "G:1"]
    assert sort(kb, name, "rattus norvegicus") == ["G:1"]
    # It has man's already, mice have none, and symbols of flies are of their own.
    for species_context in ("homo sapiens", "", "mus musculus", "drosophila melanogaster"):
        assert sort(kb, name, species_context, orthologs=True) == ["G:1"]
    kb.add(Concept("G:4", "Pak2", ("rodent kinase",), (MOUSE,)))
    assert sort(kb, name, "mus musculus", orthologs=True) == ["G:4", "G:1"]
    assert sort(kb, "rodent kinase", "", orthologs=True) == ["G:1", "G:4"]
