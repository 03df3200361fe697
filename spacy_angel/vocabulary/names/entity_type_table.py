"""The table of entity types, with all properties of each. The spellings of tools and corpora are in
`labels.yml`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class EntityType:
    """Properties of an entity type.

    name (str): the label of its mentions.
    labels (tuple[str, ...]): other words for it.
    types (str): pattern of the semantic types of its concepts: names, namespaces of OBO files, or
        branches of the MeSH tree; UMLS types are among the labels. With a pattern, its mentions do
        not link to concepts of other entity types.
    part_of (str): an entity type that includes it in some vocabularies.
    shipped (tuple[str, ...]): its semantic types in the shipped vocabularies.
    id_prefix (str): prefix of identifiers that corpora give as plain numbers.
    is_strict (bool): similar names mean different things, like drugs that differ by a letter.
    is_of_species (bool): its concepts are distinguished by species.
    is_word (bool): its names are words, so typos are corrected.
    color (str): background color under black text, distinguishable with color blindness.
    """

    name: str
    labels: tuple[str, ...]
    types: str = ""
    part_of: str = ""
    shipped: tuple[str, ...] = ()
    id_prefix: str = ""
    is_strict: bool = False
    is_of_species: bool = False
    is_word: bool = False
    color: str = ""


ENTITY_TYPE_TABLE = (
    EntityType(
        "DISEASE",
        ("Disease", "Disorder", "Diseases", "Illness", "Syndrome"),
        types=r"disease|disorder|phenotype|symptom|disease_ontology|human_phenotype(\.\w+)?|mondo"
        r"|C\d*|F03",
        shipped=("C", "F03"),
        is_word=True,
        color="#ffd4ae",
    ),
    EntityType(
        "CHEMICAL",
        ("Chemical", "Chemicals", "Compound", "Drug", "Drugs", "Medication", "Substance"),
        types=r"chemical|drug|chebi(_ontology)?|D\d*",
        shipped=("D",),
        is_strict=True,
        is_word=True,
        color="#97b14e",
    ),
    EntityType(
        "GENE",
        ("Gene", "Genes", "Protein", "Proteins"),
        # includes the types of NCBI Gene
        types=r"gene|protein|hgnc|ncbigene|protein-coding|pseudo|(nc|t|r|sn|sno|sc)RNA",
        shipped=("Gene",),
        # GNormPlus writes the species of the gene after the number
        id_prefix="NCBIGene",
        is_strict=True,
        is_of_species=True,
        color="#8b9ef6",
    ),
    EntityType(
        "SPECIES",
        ("Species", "Organism", "Organisms", "Taxon"),
        types=r"species|taxon|organism|ncbi_taxonomy|B\d*",
        shipped=("Species",),
        id_prefix="NCBITaxon",
        is_strict=True,
        color="#f2f78d",
    ),
    EntityType(
        "CELL_LINE",
        ("Cell line", "Cell lines"),
        # includes the categories of Cellosaurus
        types=r"cell ?line|.* cell line|hybridoma"
        r"|(?:embryonic|induced pluripotent|somatic) stem cell",
        shipped=("Cell line",),
        is_strict=True,
        is_of_species=True,
        color="#71d6f9",
    ),
    EntityType(
        "PHENOTYPE",
        ("Phenotype", "Phenotypes", "Phenotypic abnormality"),
        # MeSH and the UMLS have them among diseases
        part_of="DISEASE",
        shipped=("Phenotype",),
        color="#ae9fb0",
    ),
    EntityType("CELL_TYPE", ("Cell type", "Cell types"), part_of="ANATOMY"),
    EntityType("ANATOMY", ("Anatomy", "Body part", "Tissue", "Organ")),
    EntityType("VARIANT", ("Variant", "Variants", "Mutation", "Mutations")),
    EntityType("GENE_FAMILY", ("Gene family", "Protein family"), part_of="GENE"),
    EntityType("CELLULAR_COMPONENT", ("Cellular component",)),
    EntityType("BIOLOGICAL_PROCESS", ("Biological process",)),
    EntityType("MOLECULAR_FUNCTION", ("Molecular function",)),
    EntityType("PROCEDURE", ("Procedure", "Procedures")),
)
"""All entity types, the most frequent first."""
STRICT = frozenset(one.name for one in ENTITY_TYPE_TABLE if one.is_strict)
"""Entity types with `is_strict`."""
