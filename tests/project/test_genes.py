"""Which genes and families ship, and what counts as a text's mention of a name."""

import csv
import gzip
import io
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from support.helpers import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from build_bio_vocabulary import by_register
from genes import (
    FAMILIES,
    FAMILY_NAMES,
    MEMBERS,
    NAMES,
    NAMESAKES,
    chosen,
    families,
    without_namesakes,
)
from mentioned import mentioned

from spacy_angel.vocabulary.names.concepts import Concept, normalize_name

MAN, MOUSE, RAT, FISH, CRESS = (
    ("protein-coding", f"NCBITaxon:{n}") for n in (9606, 10090, 10116, 7955, 3702)
)
LONG = ("kinase of the old snark", "kinase of a new snark")
GENES = [
    Concept("NCBIGene:1", "SNRK", ("snark kinase", "SK1", *LONG, "putative snark kinase"), MAN),
    Concept("NCBIGene:2", "Snrk", ("Snk", "AW060991", "2610305K15Rik"), MOUSE),
    Concept("NCBIGene:3", "Gm7", ("boojum",), MOUSE),
    Concept("NCBIGene:4", "Gm8", ("jubjub",), MOUSE),
    Concept("NCBIGene:5", "Snrk", ("Rsnk", "rat kinase of all snarks"), RAT),
    Concept("NCBIGene:6", "snrk", (), FISH),
    Concept("NCBIGene:7", "AT3G09720", (), CRESS),
    Concept("NCBIGene:8", "AT3G09730", (), CRESS),
]


def test_short_names_ship_and_others_where_texts_have_them() -> None:
    told = {"boojum", "snk", "at3g09730", LONG[1]}
    assert {gene.concept_id: gene.names for gene in chosen(GENES, told)} == {
        # No long names, no clones, none that only says that there is a protein.
        "NCBIGene:1": ("SNRK", "snark kinase", "SK1", LONG[1], "Snrk", "Snk"),
        "NCBIGene:2": ("Snrk", "Snk", "SNRK", "snark kinase", "SK1", LONG[1]),
        # A numbered locus with a name that a text has.
        "NCBIGene:3": ("Gm7", "boojum"),
        # Short ones, and of what its orthologs are called what texts say; no other case of a name.
        "NCBIGene:5": ("Snrk", "Rsnk", LONG[1], "Snk"),
        "NCBIGene:6": ("snrk", LONG[1], "Snk"),
        "NCBIGene:8": ("AT3G09730",),
    }
    assert {gene.types[0] for gene in chosen(GENES, told)} == {"Gene"}


def test_longer_names_ship_of_genes_that_texts_name() -> None:
    aliases = ("boojum kinase", "snark boojum", "snark boojum kinase")
    gene = Concept("NCBIGene:9", "BJK", aliases, MAN)
    (shipped,) = chosen([gene], told=set())
    assert shipped.names == ("BJK", *aliases[:2])
    (shipped,) = chosen([gene], told={"bjk"})
    assert shipped.names == ("BJK", *aliases)


def test_an_alias_that_means_another_gene_does_not_ship() -> None:
    names = ("full name", "Protein-C", "Pa")
    genes = [
        Concept("NCBIGene:5554", "PRH1", names, MAN),
        Concept("NCBIGene:19131", "Prh1", names, MOUSE),
        Concept("NCBIGene:5624", "PROC", names, MAN),
        Concept("NCBIGene:1", "PRH1", ("protein C", "Pa"), MAN),
        Concept("NCBIGene:2", "Prh1", names, RAT),
    ]
    assert [gene.aliases for gene in without_namesakes(genes)] == [
        ("full name", "Pa"),
        ("full name", "Pa"),
        names,
        ("protein C", "Pa"),
        names,
    ]


def test_written_names_mean_one_gene() -> None:
    rows = list(csv.DictReader(NAMESAKES.open(encoding="utf8", newline=""), delimiter="\t"))
    assert len({normalize_name(row["name"]) for row in rows}) == len(rows) > 2000
    assert not any(row["symbol"] in row["others"].split("|") for row in rows)
    owners: dict[str, set[str]] = {}
    for row in csv.DictReader(NAMES.open(encoding="utf8", newline=""), delimiter="\t"):
        for name in row["names"].split("|"):
            owners.setdefault(normalize_name(name), set()).add(row["symbol"].upper())
    assert len(owners) > 11_000
    # the mouse has two genes of insulin
    assert {name for name, genes in owners.items() if len(genes) > 1} == {"insulin"}


def test_families_have_their_members_and_names_of_their_own(tmp_path: Path) -> None:
    files = {
        FAMILIES: [["SNRK"], ["Snark_complex"]],
        FAMILY_NAMES: [
            ["snark kinases", "FPLX", "SNRK", "", ""],
            ["SK", "UP", "P1", "", ""],
            ["snarks", "FPLX", "SNRK", "", ""],
            ["Snarks", "FPLX", "Snark_complex", "", ""],
        ],
        MEMBERS: [
            ["HGNC", "SNRK", "isa", "FPLX", "SNRK"],
            ["HGNC", "ABSENT", "isa", "FPLX", "SNRK"],
            ["UP", "P1", "isa", "FPLX", "SNRK"],
            ["FPLX", "SNRK", "partof", "FPLX", "Snark_complex"],
        ],
    }
    for name, table in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        text = io.StringIO()
        csv.writer(text).writerows(table)
        (tmp_path / name).write_bytes(gzip.compress(text.getvalue().encode()))
    kinds = ("Gene", "Gene family")
    assert [*families(tmp_path, GENES[:1])] == [
        Concept("FPLX:SNRK", "SNRK", ("snark kinases",), kinds, parts=("NCBIGene:1",)),
        Concept("FPLX:Snark_complex", "Snark_complex", (), kinds, parts=("FPLX:SNRK",)),
    ]


def test_cell_lines_under_the_register_s_names(tmp_path: Path) -> None:
    table = tmp_path / "register.tsv"
    table.write_text("id\tname\tsynonyms\nCVCL_1\tHeLa\tHe La\n", "utf8")
    cells = [
        Concept("CVCL_1", "He La", ("HeLa", "Hela")),
        Concept("CVCL_2", "COS 7", ("COS-7", "Cos7", "COS7")),
    ]
    assert [c.names for c in by_register(cells, table, {"cos7": 9, "cos 7": 2})] == [
        ("HeLa", "He La", "Hela"),
        ("Cos7", "COS 7", "COS-7", "COS7"),
    ]


@given(st.lists(st.lists(st.sampled_from("ab"), max_size=9).map(" ".join), max_size=4))
def test_a_name_is_counted_wherever_it_stands(texts: list[str]) -> None:
    names = ("a", "a b", "b b a", "a a a a a a")
    windows = [
        " ".join(words[start:end])
        for words in map(str.split, texts)
        for start in range(len(words))
        for end in range(start + 1, len(words) + 1)
    ]
    expected = {name: windows.count(name) for name in names if name in windows}
    assert mentioned(names, texts) == expected
