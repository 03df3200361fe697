"""The table of entity types: all that the package knows of each stands in its row.

How tools and corpora spell them stands in `labels.yml`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class EntityType:
    """What is known of the mentions and concepts of an entity type; what is left out is not.

    name (str): the label of such mentions.
    labels (tuple[str, ...]): plain words for it.
    types (str): a pattern of the semantic types of its concepts, by name, by the namespaces of OBO
        files, by branches of MeSH's tree; those of the UMLS stand among the labels. With it a
        mention links to no concept of another entity type.
    part_of (str): the entity type that a vocabulary may have it as part of.
    shipped (tuple[str, ...]): its semantic types in the vocabularies that ship.
    mesh_names (tuple[str, ...]): branches of MeSH whose names take the place of mentions in the
        training of a recogniser.
    id_prefix (str): of identifiers that corpora give as plain numbers.
    is_strict (bool): a similar name is another thing: drugs differ in a letter.
    is_of_species (bool): such concepts are told apart by their species.
    is_word (bool): its names are words, in which typos are corrected.
    color (str): background of its box under black text, distinguishable with color blindness.
    """

    name: str
    labels: tuple[str, ...]
    types: str = ""
    part_of: str = ""
    shipped: tuple[str, ...] = ()
    mesh_names: tuple[str, ...] = ()
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
        mesh_names=("C", "F03"),
        is_word=True,
        color="#ffd4ae",
    ),
    EntityType(
        "CHEMICAL",
        ("Chemical", "Chemicals", "Compound", "Drug", "Drugs", "Medication", "Substance"),
        types=r"chemical|drug|chebi(_ontology)?|D\d*",
        shipped=("D",),
        # those that corpora mark, which are no proteins, nucleic acids or actions of drugs
        mesh_names=("D01", "D02", "D03", "D04"),
        is_strict=True,
        is_word=True,
        color="#97b14e",
    ),
    EntityType(
        "GENE",
        ("Gene", "Genes", "Protein", "Proteins"),
        # with the types of NCBI Gene
        types=r"gene|protein|hgnc|ncbigene|protein-coding|pseudo|(nc|t|r|sn|sno|sc)RNA",
        shipped=("Gene",),
        # GNormPlus writes the gene's species behind the number
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
        # with the categories of Cellosaurus
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
        # HPO's are among MeSH's and UMLS's diseases
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
"""Those of which a similar name is another thing."""
