"""Build `en_angel_bio`: diseases and chemicals as `en_angel_mini` finds them, genes, species, cell
lines and phenotypes as the encoder does, abbreviations, and the linker with the shipped weights
over a vocabulary of all six kinds that is small enough to ship.

    python tools/build_bio.py DATA RECOGNISER -o FOLDER

DATA is as for `tools/build_six_types.py`; RECOGNISER is what `spacy-angel train recogniser
recogniser` wrote. The vocabulary is MeSH as it ships; of NCBI Gene those of man and mouse that code
for a protein, and those of man that code for an RNA, without numbered loci, by symbols and full
names; taxa with what texts call them; Cellosaurus; HPO with lay words.
"""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import spacy
import typer
from build_six_types import (
    cell_lines,
    frequencies_of,
    hpo,
    of_kind,
    organisms,
    split,
)

from spacy_angel.about import DATA as SHIPPED
from spacy_angel.about import SHIPPED_NAME, __version__
from spacy_angel.files.atomic import replacing_folder, write_text
from spacy_angel.linking.loaders import load_vocabulary
from spacy_angel.pipelines.assemble import ABBREVIATIONS, CONSISTENCY, LINKER, MISSPELLED
from spacy_angel.recognition.finder import MentionFinder
from spacy_angel.search.generator import Generator
from spacy_angel.vocabulary.concepts import Concept
from spacy_angel.vocabulary.formats.registry import read_vocabulary
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.orthologs import with_names_of_the_same_symbol

RECOGNISER = "angel_recogniser"
NAMES = Path(__file__).with_name("gene_names.tsv")
GENES: dict[str, dict[str, Any]] = {
    "Homo_sapiens": {"kinds": frozenset({"protein-coding", "ncRNA"}), "designations": False},
    "Mus_musculus": {"kinds": frozenset({"protein-coding"}), "designations": False},
}
TYPES_BY_LABEL = {
    "DISEASE": ["C", "F03"],
    "CHEMICAL": ["D"],
    "GENE": ["Gene"],
    "SPECIES": ["Species"],
    "CELL_LINE": ["Cell line"],
    "PHENOTYPE": ["Phenotype"],
}

SOURCES = [
    {
        "name": "Medical Subject Headings 2019, courtesy of the U.S. National Library of Medicine, "
        "with the names that en_angel_mini adds",
        "url": "https://www.nlm.nih.gov/mesh/",
    },
    {
        "name": "NCBI Gene and NCBI Taxonomy, names of genes and species",
        "url": "https://www.ncbi.nlm.nih.gov/gene",
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
Beside the Medical Subject Headings of en_angel_mini (see NOTICE.txt there), names and identifiers
of NCBI Gene (man and mouse) and the NCBI Taxonomy, National Library of Medicine; Cellosaurus, SIB
Swiss Institute of Bioinformatics, CC BY 4.0 (https://www.cellosaurus.org; names and species were
taken);
and the Human Phenotype Ontology, release of 2025-10-22, https://hpo.jax.org (names and synonyms
were taken, definitions and hierarchy left out).
"""


def genes(folder: Path) -> Iterator[Concept]:
    """RETURNS (Iterator[Concept]): those that texts speak of."""
    with NAMES.open(encoding="utf8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        proteins = {row["symbol"]: tuple(row["names"].split("|")) for row in rows}
    for name, options in GENES.items():
        for concept in read_vocabulary(folder / f"{name}.gene_info.gz", **options):
            if not concept.canonical_name.startswith("LOC"):
                more = proteins.get(concept.canonical_name, ())
                yield replace(concept, aliases=(*concept.aliases, *more))


def vocabulary(data: Path, folder: Path) -> ConceptKB:
    """RETURNS (ConceptKB): all six kinds."""
    vocab = data / "vocab"
    taxa = list(read_vocabulary(vocab / "species/taxslim.obo.gz"))
    return ConceptKB.join(
        [
            load_vocabulary(None),
            of_kind(with_names_of_the_same_symbol(genes(vocab / "gene")), "Gene"),
            *(of_kind(own, "Species", only=True) for own in organisms(vocab / "species")),
            of_kind(cell_lines(vocab / "cell_line", taxa), "Cell line"),
            of_kind(hpo(vocab / "phenotype"), "Phenotype", only=True),
        ],
        folder,
        endings="species",
        # Of genes or taxa with one name the one that is written about more.
        frequencies=frequencies_of(split(data)[1]),
    )


def build(
    data: Annotated[Path, typer.Argument(help="Folder of the vocabularies.")],
    recogniser: Annotated[Path, typer.Argument(help="Folder of the recogniser's model.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the pipeline.")],
    model: Annotated[Path | None, typer.Option(help="In place of the one that ships.")] = None,
) -> None:
    """Write the pipeline; its linker has the settings of the one that ships, and its model: then
    the folder names it and holds none."""
    shipped = spacy.util.load_config(SHIPPED / SHIPPED_NAME / "config.cfg").interpolate()
    settings = dict(shipped["components"][LINKER])
    del settings["factory"], settings["scorer"], settings["types_by_label"]
    anew = [MISSPELLED, ABBREVIATIONS, CONSISTENCY, LINKER]
    nlp: Any = spacy.load(SHIPPED / SHIPPED_NAME, exclude=anew)
    encoder = {
        "labels": [*TYPES_BY_LABEL],
        "overwrite": False,
        # Of one place a group's mentions share what is written on them: a disease that is a
        # phenotype, too, is in `doc.ents`.
        "span_labels": [*TYPES_BY_LABEL][2:],
        # The light recogniser is right more often about these two.
        "thresholds": {"DISEASE": 0.9, "CHEMICAL": 0.8},
        "replaces": ["GENE", "SPECIES", "CELL_LINE"],
    }
    nlp.add_pipe(RECOGNISER, config=encoder).finder = MentionFinder.from_disk(recogniser)
    nlp.add_pipe("angel_matcher", MISSPELLED, config={"names": "none", "misspelled": True})
    nlp.add_pipe(ABBREVIATIONS, config={"make_serializable": True})
    nlp.add_pipe(CONSISTENCY, config={"span_key": "mentions"})
    own = {"model": None if model else SHIPPED_NAME}
    linker = nlp.add_pipe(LINKER, config={**settings, **own})
    nlp.meta.update(
        name="angel_bio",
        version=__version__,
        description="Six kinds of biomedical mentions, found and linked",
        license="MIT",
        sources=SOURCES,
        requirements=[f"spacy-angel=={__version__}"],
    )
    with TemporaryDirectory(prefix="spacy-angel-") as temporary:
        linker.kb = vocabulary(data, Path(temporary, "kb"))
        linker.types_by_label = TYPES_BY_LABEL
        if model is not None:
            stored = Path(temporary, "model")
            Generator.from_pretrained(str(model)).to_disk(stored, storage="int8")
            linker.generator = Generator.from_pretrained(stored, local_files_only=True)
        with replacing_folder(output, lambda _: True) as new:
            nlp.to_disk(new, exclude=[LINKER])
            linker.to_disk(new / LINKER, exclude=[] if model else ["model"])
            write_text(new / LINKER / "kb" / "NOTICE.txt", NOTICE)


if __name__ == "__main__":
    typer.run(build)
