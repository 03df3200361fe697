"""Bases and amino acids in the notations used by papers."""

_RESIDUES = (
    ("A", "Ala", "alanine"),
    ("R", "Arg", "arginine"),
    ("N", "Asn", "asparagine"),
    ("D", "Asp", "aspartic acid", "aspartate"),
    ("C", "Cys", "cysteine", "cystine"),
    ("Q", "Gln", "glutamine"),
    ("E", "Glu", "glutamic acid", "glutamate"),
    ("G", "Gly", "glycine"),
    ("H", "His", "histidine"),
    ("I", "Ile", "isoleucine"),
    ("L", "Leu", "leucine"),
    ("K", "Lys", "lysine"),
    ("M", "Met", "methionine"),
    ("F", "Phe", "phenylalanine"),
    ("P", "Pro", "proline"),
    ("S", "Ser", "serine"),
    ("T", "Thr", "threonine"),
    ("W", "Trp", "tryptophan", "tryptophane"),
    ("Y", "Tyr", "tyrosine"),
    ("V", "Val", "valine"),
    ("U", "Sec", "selenocysteine"),
)
_STOP = ("stop", "ter", "term", "x", "*", "stop codon", "termination codon", "termination")
_BASES = {
    "adenine": "A",
    "adenosine": "A",
    "cytosine": "C",
    "cytidine": "C",
    "guanine": "G",
    "guanosine": "G",
    "thymine": "T",
    "thymidine": "T",
    "uracil": "U",
}
_CODE = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"

ONE_LETTER = "".join(one for one, *_ in _RESIDUES if one != "U")
BASE_NAMES = "|".join(_BASES)
RESIDUE_NAMES = "|".join(name for _, _, *names in _RESIDUES for name in reversed(names))
THREE_LETTERS = "|".join(three for _, three, *_ in _RESIDUES)
_THREE = {
    **{key.lower(): three for one, three, *names in _RESIDUES for key in (one, three, *names)},
    **dict.fromkeys(_STOP, "Ter"),
}


def residue(written: str) -> str:
    """written (str): a residue, e.g. `V`, `val`, `Valine`, `X`, `*`, `stop codon`. RETURNS (str):
    its three-letter code in HGVS, e.g. `Val`, `Ter`; empty if it is not a residue."""
    return _THREE.get(" ".join(written.lower().split()), "")


def residues(written: str) -> str:
    """written (str): residues in one-letter or three-letter codes, e.g. `AFF`, `GlnSer`. RETURNS
    (str): in three-letter codes, e.g. `AlaPhePhe`; empty if one is unknown."""
    if written.isupper():
        parts = [residue(one) for one in written]
    else:
        parts = [residue(written[i : i + 3]) for i in range(0, len(written), 3)]
    return "".join(parts) if all(parts) else ""


def bases(written: str) -> str:
    """written (str): letters, or the name of one base. RETURNS (str): letters of `ACGTU`."""
    return _BASES.get(written.lower(), written.upper())


def encoded(codon: str) -> str:
    """codon (str): three bases of DNA or RNA, in any case. RETURNS (str): the residue in the
    standard genetic code (`ATG` → `Met`, `TGA` → `Ter`); empty for anything else."""
    places = ["TCAG".find(one) for one in codon.upper().replace("U", "T")]
    if len(places) != 3 or min(places) < 0:
        return ""
    return residue(_CODE[16 * places[0] + 4 * places[1] + places[2]])
