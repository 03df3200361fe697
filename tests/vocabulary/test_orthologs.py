"""Names of genes of one symbol."""

from spacy_angel import Concept
from spacy_angel.vocabulary.species.orthologs import with_names_of_the_same_symbol

HUMAN, MOUSE = "NCBITaxon:9606", "NCBITaxon:10090"
GENES = [
    Concept("G:1", "ESPL1", ("ESP1",), (HUMAN,)),
    Concept("G:2", "Espl1", ("separase", "ESP1"), (MOUSE,)),
    Concept("G:3", "TP53", (), (HUMAN,)),
]


def test_each_has_what_the_others_are_called_behind_its_own_names():
    assert [gene.names for gene in with_names_of_the_same_symbol(GENES)] == [
        ("ESPL1", "ESP1", "Espl1", "separase"),
        ("Espl1", "separase", "ESP1", "ESPL1"),
        ("TP53",),
    ]


def test_symbols_of_flies_are_their_own():
    fly = Concept("G:4", "Trh", ("tryptophan hydroxylase",), ("NCBITaxon:7227",))
    man = Concept("G:5", "TRH", ("thyrotropin releasing hormone",), (HUMAN,))
    untold = Concept("G:6", "trh", ("TRH-like",), ("protein-coding",))
    assert list(with_names_of_the_same_symbol([fly, man])) == [fly, man]
    # Where the vocabulary tells no species, it has one.
    assert [gene.names for gene in with_names_of_the_same_symbol([man, untold])] == [
        ("TRH", "thyrotropin releasing hormone", "trh", "TRH-like"),
        ("trh", "TRH-like", "TRH", "thyrotropin releasing hormone"),
    ]
