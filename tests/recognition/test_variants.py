"""The grammar of variants: what is found, what is not, and normal forms."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mutalyzer_hgvs_parser import to_model

from spacy_angel.recognition.variants.grammar import (
    FoundVariant,
    find_variants,
    normal_form,
)

FORMS = {
    # Bases in one place.
    "c.35G>A": "c.35G>A",
    "c.263 G>C": "c.263G>C",
    "C.35G>A": "c.35G>A",
    "c.712A->G": "c.712A>G",
    "c712A->G": "c.712A>G",
    "m.3243A>G": "m.3243A>G",
    "r.76a>u": "r.76a>u",
    "135G-->C": "c.135G>C",
    "-308 G/A": "c.-308G>A",
    "-308G>A": "c.-308G>A",
    "\u2212308G>A": "c.-308G>A",
    "c.2452G\u2009>\u2009A": "c.2452G>A",
    "c.*32G>A": "c.*32G>A",
    "1796T to A": "c.1796T>A",
    "C677T": "c.677C>T",
    "G-308A": "c.-308G>A",
    "C(-3)G": "c.-3C>G",
    "T1270533G": "g.1270533T>G",
    "C-174C": "c.-174=",
    "G894-->T": "c.894G>T",
    # What extracts from PDF make of `>`.
    "c.108C4A": "c.108C>A",
    "c.-174=": "c.-174=",
    "NM_000546.5:c.215C>G": "NM_000546.5:c.215C>G",
    # In introns.
    "c.360+1G>C": "c.360+1G>C",
    "621 + 1G-->T": "c.621+1G>T",
    "3849 + 10kb C > T": "c.3849+10kbC>T",
    "IVS2+1G>A": "c.IVS2+1G>A",
    "IVS10nt546": "",
    "IVS-13(+5)": "",
    "IVS10+1, g-->t": "c.IVS10+1G>T",
    "IVS2+1(g-t)": "c.IVS2+1G>T",
    # Deleted, inserted, doubled.
    "c.35delG": "c.35del",
    "35delG": "c.35del",
    "2626\u20132627delAA": "c.2626_2627del",
    "1782-83delAG": "c.1782_1783del",
    "c.899-1142del": "c.899_1142del",
    "c.1983-5delGAG": "c.1983-5_1983-3del",
    "1494del6": "c.1494_1499del",
    "c.436_436+1delAG": "c.436_436+1del",
    "3020insC": "c.3020_3021insC",
    "-2insC": "c.-2_-1insC",
    "-1insC": "c.-1_1insC",
    "c.2115ins35bp": "c.2115_2116insN[35]",
    "c.304ins(GCG)(7)": "c.304_305insGCG[7]",
    "c.681dupA": "c.681dup",
    "1308_1316 dup9": "c.1308_1316dup",
    "c.1065-6delGCinsTA": "c.1065-6_1065-5delinsTA",
    "c.1852_1853AA>GC": "c.1852_1853delinsGC",
    "2183AA-->G": "c.2183_2184delinsG",
    # Proteins.
    "V600E": "p.Val600Glu",
    "p.V600E": "p.Val600Glu",
    "p.Val600Glu": "p.Val600Glu",
    "p.(Glu818Lys)": "p.Glu818Lys",
    "Arg399Gln": "p.Arg399Gln",
    "Arg(303)-->Gln": "p.Arg303Gln",
    "Pro165----Arg": "p.Pro165Arg",
    "tyr231-->ter": "p.Tyr231Ter",
    "R34X": "p.Arg34Ter",
    "Q279Q": "p.Gln279=",
    "p.Gln279=": "p.Gln279=",
    "p.Pro246HisfsX13": "p.Pro246HisfsTer13",
    "p.L4177Ffs*29": "p.Leu4177PhefsTer29",
    "R58fs": "p.Arg58fs",
    "\u0394F508": "p.Phe508del",
    "F508del": "p.Phe508del",
    "p.Val1724_Thr1739del": "p.Val1724_Thr1739del",
    "p.Lys2_Leu3insGlnSer": "p.Lys2_Leu3insGlnSer",
    # In words.
    "A-to-G transition at nucleotide 276": "c.276A>G",
    "guanine to adenine substitution of nucleotide -308": "c.-308G>A",
    "adenine deletion at nucleotide 202": "c.202del",
    "deletion of C at nucleotide 888": "c.888del",
    "cytosine insertion at position 3020": "c.3020_3021insC",
    "codon 26, GAG-->GCG": "p.Glu26Ala",
    "stop codon for glutamine at codon 298": "p.Gln298Ter",
    "glutamic acid 333 by aspartic acid": "p.Glu333Asp",
    "arginine by glutamine at amino acid position 714": "p.Arg714Gln",
    # By number.
    "rs113488022": "rs113488022",
    "CYP2D6*4": "CYP2D6*4",
    "HLA-B*5701": "HLA-B*57:01",
    # No place, or nothing that HGVS has a form for.
    "4-bp deletion": "",
    "deletion of 6 bp at position 1494": "",
    "ins/del 6 bp": "",
    "Delta32": "",
    "(CCTTT)14": "",
    "codons 41/42 (-TTCT)": "",
    "T deletion mutation at position 11311": "c.11311del",
    # Residues, with a subunit, in a helix, at several places.
    "εA411P": "p.Ala411Pro",
    "CGA-TGA at codon 117": "p.Arg117Ter",
    "D2.50(83)N": "p.Asp83Asn",
    "K24/25/27R": "",
    "K(24/25)R": "",
}


@pytest.mark.parametrize(("written", "identifier"), FORMS.items())
def test_a_form_is_found_whole_and_has_its_normal_form(written, identifier):
    text = f"Of these, {written}, a mutation."
    (found,) = find_variants(text)
    assert text[found.start : found.end] == written
    assert found.identifier == identifier
    assert normal_form(written) == identifier


@pytest.mark.parametrize("form", sorted({one for one in FORMS.values() if one}))
def test_a_normal_form_is_hgvs_and_its_own_normal_form(form):
    assert normal_form(form) == form
    # `10kb` is what papers call a place in CFTR's intron 19; HGVS has the bases counted.
    if re.match(r"[cgmrp]\.", form) and not re.search("IVS|kb", form):
        assert to_model(f"{'NP' if form[0] == 'p' else 'NM'}_000001.1:{form}")


@pytest.mark.parametrize(
    "text",
    [
        "H2O and CO2, 5H2O",
        "T47D, K562, A549, L929, HEK293T, MCF10A, T98G and H295R cells",
        "C57BL/6 and C3H mice, R26R reporter",
        "E2F1, P2X7, S6K1, p53, PI3K, PP2A, A2A, E1A, HER2, CD4, IL2",
        "T4 and T7 phages, M13 phage, phiX174",
        "wells A1, B12 and H12; from A1 to C3",
        "London W12 0NN, Toronto M5G 1X5 and H3A 1A1, M13 9PL",
        "antibodies against Akt (Ser473), pS473, Thr308, pT308 and Tyr1068",
        "type 2 diabetes (T2D), T1D",
        "serine/threonine kinase (Ser/Thr)",
        "H3K27me3, H3K9ac, H3K4",
        "copper T380A and Eudragit L30D-55",
        "1930 DEL MONTE, the 26 del Rio street",
        "2A/2C subunits; 10/12 A/B; 3-5 G",
        "from 10 to 20 C and 5 to 7 A; pH 7.4-G; 12:30 A.M.",
        "the QT interval at 450 ms (P = 0.05), 95% CI 1.2-3.4",
        "grade 3 A tumours, stage T2N0M0, G3 tumour",
        "doi 10.1093/nar/gkq123, GSE12345, NM_000546.5, PMC123456",
        "vitamin B12, C18:1, delta-9-THC, Delta12 desaturase, 17beta-estradiol",
        "mass 123.45 m/z, 100 c.p.m., i.e. 5 mg p.o.",
        "rs12 and the rsync program",
    ],
)
def test_other_things_are_no_variants(text):
    assert [text[one.start : one.end] for one in find_variants(text)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the D2N mutant", ["D2N"]),
        ("the D2N domain", []),
        ("the G/A genotype", ["G/A"]),
        ("the G/A ratio", []),
        ("leucine to methionine substitution", ["leucine to methionine"]),
        ("from leucine to methionine", []),
    ],
)
def test_what_needs_more_than_its_form(text, found):
    assert [text[one.start : one.end] for one in find_variants(text)] == found


def test_letters_that_are_bases_and_residues():
    assert [one.identifier for one in find_variants("A53T and E46K")] == [
        "p.Ala53Thr",
        "p.Glu46Lys",
    ]
    assert [one.identifier for one in find_variants("A53T")] == ["c.53A>T"]
    assert [one.identifier for one in find_variants("E46K, A1298C")] == ["p.Glu46Lys", "c.1298A>C"]


def test_a_number_beside_a_form_is_its_identifier_wherever_it_stands_again():
    found = find_variants("V600E (rs113488022), E46K and V600E. rs2168101 G>T.")
    assert found == [
        FoundVariant(0, 5, "rs113488022", "p.Val600Glu"),
        FoundVariant(7, 18, "rs113488022", ""),
        FoundVariant(21, 25, "p.Glu46Lys", "p.Glu46Lys"),
        FoundVariant(30, 35, "rs113488022", "p.Val600Glu"),
        FoundVariant(37, 46, "rs2168101", ""),
        FoundVariant(47, 50, "rs2168101", ""),
    ]


PIECES = st.sampled_from(
    [
        *FORMS,
        *("c.", "p.", "IVS", "+1", "G>A", "del", "ins", "(", ")", "[", "1", "12", "codon ", "Ala"),
        *(" to ", "stop", "*", "_", "-->", "rs", "Δ", "/", " at nucleotide ", "\n", " ", "\u2009"),
    ]
)


@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map("".join)))
@example("+0AA--G")
@example("stop codon for glutamine at codon 100689")
@example("stop codon for glutamineat codon 2")
@example("r.0au>au, r.10_11au>gg, r.3_4insAU")
def test_any_text(text):
    found = find_variants(text)
    end = 0
    for one in found:
        assert end <= one.start < one.end <= len(text)
        end = one.end
        if one.hgvs and "kb" not in one.hgvs:
            assert normal_form(one.hgvs) == one.hgvs


HOSTILE = [
    *("1+", "c.", "c.1_", "p.V", "1", "ACGT", "acgt ", "alanine to ", "del", "1del1ins"),
    *("codon 1 ", "IVS1+1", "(", " ", "-->", "G>A ", "A to G at nucleotide position "),
    *("V600E ", "A1_", "rs1 rs12", "A*1:01:01", "deletion of a the ", "1.5kb+1.5kb", "1/1/"),
    "at the amino acid residue number ",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_length(piece):
    seconds = []
    for length in (5_000, 10_000, 20_000):
        text = (piece * (length // len(piece) + 1))[:length]
        rounds = []
        for _ in range(2):
            start = time.process_time()
            find_variants(text)
            rounds.append(time.process_time() - start)
        seconds.append(min(rounds))
    # Four times the text: 4 where time is in proportion, 16 where it grows with the square.
    assert seconds[2] < 8 * max(seconds[0], 0.004)
