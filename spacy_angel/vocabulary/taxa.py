"""Species that texts speak of in words of their own: laboratory animals, model organisms, people.

Numbers and scientific names are NCBI Taxonomy's. A vocabulary of NCBI Taxonomy knows many more
names, but that a patient, a woman or a child is a human being stands in none.
"""

from collections.abc import Mapping
from typing import NamedTuple

PREFIX = "NCBITaxon:"
HUMAN = f"{PREFIX}9606"

_WORDS = {
    "9606": (
        "homo sapiens",
        *("human", "humans", "patient", "patients", "man", "men", "woman", "women", "person"),
        *("people", "persons", "child", "children", "boy", "boys", "girl", "girls", "infant"),
        *("infants", "newborn", "newborns", "adolescent", "adolescents", "participant"),
        *("participants", "volunteer", "volunteers", "proband", "probands", "hek293", "hela"),
    ),
    "10090": (
        "mus musculus",
        *("mouse", "mice", "murine", "c57bl", "balb", "3t3", "nih3t3"),
    ),
    "10116": ("rattus norvegicus", "rat", "rats", "sprague dawley", "wistar"),
    "7227": (
        "drosophila melanogaster",
        *("drosophila", "d. melanogaster", "fruit fly", "fruit flies", "fly", "flies", "s2 cells"),
    ),
    "7955": ("danio rerio", "zebrafish", "zebra fish", "d. rerio"),
    "4932": (
        "saccharomyces cerevisiae",
        *("s. cerevisiae", "yeast", "yeasts", "budding yeast", "baker's yeast"),
    ),
    "4896": ("schizosaccharomyces pombe", "s. pombe", "fission yeast"),
    "6239": (
        "caenorhabditis elegans",
        *("c. elegans", "nematode", "nematodes", "worm", "worms"),
    ),
    "9031": ("gallus gallus", "chicken", "chickens", "chick", "chicks", "avian"),
    "8355": ("xenopus laevis", "xenopus", "x. laevis", "frog", "frogs"),
    "8364": ("xenopus tropicalis", "x. tropicalis", "silurana tropicalis"),
    "9913": ("bos taurus", "bovine", "cow", "cows", "cattle"),
    "9823": ("sus scrofa", "porcine", "pig", "pigs", "swine", "piglets"),
    "9615": ("canis lupus familiaris", "dog", "dogs", "canine", "canines"),
    "9685": ("felis catus", "feline"),
    "9940": ("ovis aries", "sheep", "ovine"),
    "9796": ("equus caballus", "horse", "horses", "equine"),
    "9986": ("oryctolagus cuniculus", "rabbit", "rabbits"),
    "9544": ("macaca mulatta", "rhesus", "macaque", "macaques", "rhesus monkeys"),
    "9598": ("pan troglodytes", "chimpanzee", "chimpanzees"),
    "10029": ("cricetulus griseus", "chinese hamster", "cho cells"),
    "10036": ("mesocricetus auratus", "syrian hamster", "golden hamster", "hamster", "hamsters"),
    "10141": ("cavia porcellus", "guinea pig", "guinea pigs"),
    "3702": ("arabidopsis thaliana", "arabidopsis", "a. thaliana"),
}

# Cells and tools: whose genes a text is about, though they are no names of the species.
_SIGNS = {
    "9606": (
        *("hek 293", "hek293t", "293t", "huvec", "huvecs", "pbmc", "pbmcs", "hepg2", "hep g2"),
        *("mcf 7", "mcf7", "mda mb 231", "a549", "hct116", "hct 116", "u2os", "k562", "jurkat"),
        *("thp 1", "lncap", "sh sy5y", "caco 2", "hacat", "hl 60", "u937", "ht29", "ht 29"),
    ),
    "10090": (
        *("cre", "creer", "creert2", "flox", "floxed", "loxp", "littermate", "littermates"),
        *("mefs", "bmdm", "bmdms", "raw264", "raw 264", "raw264 7", "raw 264 7", "c2c12"),
        *("mc3t3", "b16", "b16f10", "b16 f10", "129sv", "c57", "c57bl6"),
    ),
}
NO_SPECIES = (
    *("yeast two hybrid", "yeast 2 hybrid", "yeast one hybrid", "yeast three hybrid"),
    *("yeast artificial chromosome", "yeast artificial chromosomes", "yeast expression"),
    *("xenopus oocyte", "xenopus oocytes", "xenopus laevis oocyte", "xenopus laevis oocytes"),
    *("mouse monoclonal", "mouse antibody", "anti mouse", "mouse anti", "mouse igg"),
    *("rabbit polyclonal", "rabbit antibody", "rabbit antiserum", "rabbit anti", "rabbit igg"),
    *("anti rabbit", "rabbit reticulocyte", "rabbit reticulocyte lysate", "anti goat", "goat anti"),
    *("bovine serum", "bovine serum albumin", "fetal bovine serum", "horse serum"),
    *("chinese hamster ovary", "cho cells", "mouse hybrid", "mouse hybrids", "hamster hybrid"),
    *("hamster hybrids", "rodent hybrids", "sheep erythrocytes", "sheep red blood cells"),
)
"""Words of a species that stand for a method, a reagent, or a host of others' genes."""
HOSTS = (
    *("nude mice", "nude mouse", "athymic mice", "athymic nude mice", "scid mice", "scid mouse"),
    *("nod scid", "nod scid mice", "immunodeficient mice", "immunocompromised mice"),
    *("xenograft", "xenografts", "xenografted", "xenotransplanted", "mouse xenograft"),
    *("mouse xenografts", "murine xenograft", "murine xenografts", "xenograft mice"),
    *("mouse xenograft model", "xenograft mouse model", "xenograft mouse"),
)
"""Mice that carry tissue of people, whose genes are looked at."""
HOST = f"{PREFIX}10090"


def is_taxon(name: str) -> bool:
    """name (str): identifier or semantic type. RETURNS (bool): whether it is a taxon's."""
    return name.startswith(PREFIX)


def is_virus(name: str) -> bool:
    """name (str): of a taxon. RETURNS (bool): e.g. of `human papillomavirus type 16`."""
    return "virus" in name.lower()


class Taxon(NamedTuple):
    """A species and what it is called.

    concept_id (str): e.g. `NCBITaxon:10090`.
    name (str): the scientific name, small letters, e.g. `mus musculus`.
    words (tuple[str, ...]): all that names it in a text, the scientific name among them.
    signs (tuple[str, ...]): what tells of it without naming it.
    """

    concept_id: str
    name: str
    words: tuple[str, ...]
    signs: tuple[str, ...]


TAXA: Mapping[str, Taxon] = {
    f"{PREFIX}{number}": Taxon(f"{PREFIX}{number}", words[0], words, _SIGNS.get(number, ()))
    for number, words in _WORDS.items()
}
"""By identifier."""
