"""Build the vocabulary of `en_angel_bio`, which has all six types and is small enough to ship.

    python scripts/shipped/build_bio_vocabulary.py DATA -o FOLDER [--mesh FOLDER]

DATA is the same as for `build_six_types.py`, and also contains `more/` and `raw_text/`. The
vocabulary consists of the shipped MeSH, genes of ten species and gene families (see `genes`), taxa
with common words for them, Cellosaurus with its recommended names, and HPO with lay names. Names
are counted in the texts of `mentioned`. The same files give the same bytes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from build_six_types import cell_lines, frequencies_of, of_kind, organisms, split
from build_training_data import phenotypes
from genes import chosen, families, listed, species_of
from mentioned import mentioned, texts_of
from mesh import rows

from spacy_angel.files.atomic import write_text
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.names.taxa import HUMAN
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary
from spacy_angel.vocabulary.sources.installed import load_vocabulary
from spacy_angel.vocabulary.storage.metadata import BuildOptions

REGISTER = "more/vocab/cellosaurus_register_names.tsv.gz"
# Minimum frequency in texts for a gene name to count as used.
_LEAST = 2
SOURCES = [
    {
        "name": "Medical Subject Headings 2024, courtesy of the U.S. National Library of Medicine, "
        "with the names that en_angel_mini adds",
        "url": "https://www.nlm.nih.gov/mesh/",
        "license": "free of charge with a notice",
    },
    {
        "name": "NCBI Gene and HomoloGene, symbols and names of genes",
        "url": "https://www.ncbi.nlm.nih.gov/gene",
        "license": "public domain",
    },
    {
        "name": "Rat Genome Database, synonyms of genes",
        "url": "https://rgd.mcw.edu",
        "license": "CC-BY-4.0",
    },
    {
        "name": "FamPlex, families of genes and complexes",
        "url": "https://github.com/sorgerlab/famplex",
        "license": "CC0-1.0",
    },
    {
        "name": "NCBI Taxonomy, names of taxa",
        "url": "https://www.ncbi.nlm.nih.gov/taxonomy",
        "license": "public domain",
    },
    {
        "name": "Cellosaurus, SIB Swiss Institute of Bioinformatics",
        "url": "https://www.cellosaurus.org",
        "license": "CC-BY-4.0",
    },
    {
        "name": "Human Phenotype Ontology, release 2025-10-22, with its lay synonyms",
        "url": "https://hpo.jax.org",
        "license": "https://hpo.jax.org/license",
    },
]
NOTICE = """\
This vocabulary contains the Medical Subject Headings of en_angel_mini (see its NOTICE.txt) and
identifiers and names from the following sources:

* NCBI Gene, HomoloGene, and NCBI Taxonomy, U.S. National Library of Medicine
* Rat Genome Database (CC BY 4.0, https://rgd.mcw.edu): synonyms of rat genes
* FamPlex (CC0, https://github.com/sorgerlab/famplex)
* Cellosaurus, SIB Swiss Institute of Bioinformatics (CC BY 4.0, https://www.cellosaurus.org):
  names and species of cell lines
* Human Phenotype Ontology, release of 2025-10-22 (https://hpo.jax.org): names and synonyms,
  without definitions and hierarchy
"""


def build(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora and vocabularies.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")],
    mesh: Annotated[Path | None, typer.Option(help="In place of the one that ships.")] = None,
) -> None:
    """Build the vocabulary, and write the notice that its sources require."""
    kb = vocabulary(data, output, mesh)
    megabytes = sum(path.stat().st_size for path in output.iterdir() if path.is_file()) / 1e6
    typer.echo(f"{len(kb):,} concepts, {kb.n_names:,} names, {megabytes:.1f} MB")


def vocabulary(data: Path, folder: Path, mesh: Path | None = None) -> ConceptKB:
    """RETURNS (ConceptKB): the vocabulary; the notice is in its folder."""
    vocab = data / "vocab"
    taxa = list(read_vocabulary(vocab / "species/taxslim.obo.gz"))
    cells = list(cell_lines(vocab / "cell_line", taxa))
    own = listed(data)
    forms = {normalize_name(name) for concept in (*own, *cells) for name in concept.names}
    said = Counter(chain.from_iterable(mentioned(forms, texts_of(data))))
    genes = list(chosen(own, {name for name, n in said.items() if n >= _LEAST}))
    human = [gene for gene in genes if species_of(gene) == HUMAN]
    diseases_and_chemicals = load_vocabulary(mesh)
    further = [{"title": row["name"], "licence": row["license"]} for row in SOURCES[1:]]
    kb = ConceptKB.join(
        [
            diseases_and_chemicals,
            genes,
            families(data, human),
            *(
                without_scopes(of_kind(own, "Species", only=True))
                for own in organisms(vocab / "species")
            ),
            of_kind(by_register(cells, data / REGISTER, said), "Cell line"),
            without_scopes(of_kind(phenotypes(vocab / "phenotype"), "Phenotype", only=True)),
        ],
        folder,
        BuildOptions(
            endings="species",
            sources=[*diseases_and_chemicals.meta["sources"], *further],
            # Among genes or taxa with the same name, the more frequent one comes first.
            frequencies=dict(frequencies_of(split(data)[1])),
        ),
    )
    write_text(folder / "NOTICE.txt", NOTICE)
    return kb


def without_scopes(concepts: Iterable[Concept]) -> Iterator[Concept]:
    """concepts (Iterable[Concept]): any concepts. YIELDS (Concept): without scopes, which would
    take a byte per name, a megabyte in all, although few of these names have one."""
    for concept in concepts:
        yield replace(concept, scopes=())


def by_register(cells: Iterable[Concept], path: Path, said: Mapping[str, int]) -> Iterator[Concept]:
    """Make the names that Cellosaurus recommends canonical.

    cells (Iterable[Concept]): cell lines. path (Path): table of identifiers, recommended names, and
    synonyms. said (Mapping[str, int]): normal form of a name → its frequency in texts.
    YIELDS (Concept): each cell line; if it is not in the table, its most frequent name comes first.
    """
    recommended = {code: name for code, name, *_ in rows(path)}
    for cell in cells:
        most = max(cell.names, key=lambda name: said.get(normalize_name(name), 0))
        first = recommended.get(cell.concept_id, most)
        aliases = (name for name in cell.names if name != first)
        yield replace(cell, canonical_name=first, aliases=tuple(aliases))


if __name__ == "__main__":
    typer.run(build)
