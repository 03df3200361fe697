"""Build the vocabulary that ships: what a mention can stand for of MeSH.

    python tools/build_default_vocabulary.py DATA -o FOLDER

DATA is as for `tools/build_training_data.py`, with `raw_text/` beside. Of MeSH it has descriptors
and supplementary records of 2019 and 2020 and tree numbers of 2015; descriptors that came after get
the letter of their tree as `mesh_types` finds it, and of the records those are taken that
`supplementary` finds.

Names that people say and write, and MeSH does not list (`lockjaw`, `CKD`), come from
`common_names.tsv` beside this file, which was written for this package, and brands from RxNorm.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from build_training_data import CDR, SILVER, biored, documents
from mesh_types import find_trees
from supplementary import brands, old_identifiers, supplementary

from spacy_angel.files.atomic import write_text
from spacy_angel.vocabulary.concepts import Concept
from spacy_angel.vocabulary.formats.registry import read_vocabulary
from spacy_angel.vocabulary.kb import ConceptKB

NAMES = Path(__file__).with_name("common_names.tsv")
# Anatomy, organisms, diseases, chemicals and drugs, procedures, psychiatry and psychology,
# phenomena. Disciplines, humanities, health care, publication types and places stay out.
TREES = frozenset("ABCDEFG")
_TREES_OF = {"Disease": "C", "Chemical": "D"}
NOTICE = """\
Medical Subject Headings (MeSH), edition of 2019 with tree numbers of 2015, courtesy of the U.S.
National Library of Medicine.

Of each descriptor of the trees A to G, and of those that have no tree number of 2015, identifier,
names, tree numbers, and their letters and branches are here, and identifiers and names of some
supplementary records; scope notes and all else are left out. Where a descriptor came after 2015,
the letter of its tree is not the National Library of Medicine's statement but was found from other
tables and the names of other descriptors, and so was that of a supplementary record. Names of
diseases and chemicals that are not MeSH's own were added.
It is not the newest edition and does not reflect the most current data that the National Library
of Medicine has; that is at https://www.nlm.nih.gov/mesh. The National Library of Medicine has
neither made nor endorsed this package.

Names were added from the DrugBank Open Data vocabulary (CC0, https://go.drugbank.com), from PubChem
and RxNorm (National Library of Medicine, https://www.nlm.nih.gov/research/umls/rxnorm; prescribable
content), from Mondo (CC BY 4.0, https://mondo.monarchinitiative.org) and, as it maps them, from the
Orphanet Rare Disease Ontology (ORDO 2.6, CC BY 4.0, https://www.orphadata.com/ordo), the NCI
Thesaurus (CC BY 4.0, https://ncithesaurus.nci.nih.gov) and the Human Disease Ontology (CC0,
https://disease-ontology.org). They are as there, without those that stand for something else as
well.
"""
MORE = [
    {"title": "DrugBank Open Data, vocabulary", "licence": "CC0-1.0"},
    {"title": "PubChem, names of substances", "licence": "public domain"},
    {"title": "RxNorm, prescribable content of 2025-10", "licence": "public domain"},
    {"title": "Mondo Disease Ontology, labels and mappings", "licence": "CC-BY-4.0"},
    {"title": "Orphanet Rare Disease Ontology 2.6", "licence": "CC-BY-4.0"},
    {"title": "NCI Thesaurus, diseases, 2018-06-08", "licence": "CC-BY-4.0"},
    {"title": "Human Disease Ontology", "licence": "CC0-1.0"},
]


def build(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora and vocabularies.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")],
) -> None:
    """Build the vocabulary, and put the notice that its sources ask for beside it."""
    left_out: Counter[str] = Counter()
    mesh, vocab = data / "mesh", data / "vocab"
    path = mesh / "mesh_2019_descriptors.tsv"
    numbers = str(mesh / "mesh_2015_tree_numbers.tsv")
    rows = list(read_vocabulary(path, "table", prefix="MESH", tree_numbers=numbers))
    found = find_trees(
        rows,
        identifiers={
            vocab / "disease/clulab_mesh-disease.tsv.gz": "C",
            vocab / "chemical/pubchem_mesh_map.tsv.gz": "D",
        },
        names={
            vocab / "species/taxslim.obo.gz": "B",
            vocab / "chemical/drugbank_vocabulary_CC0.csv.gz": "D",
        },
        mappings=[
            vocab / "disease/mondo_mesh.sssom.tsv.gz",
            vocab / "mappings/biomappings_positive.sssom.tsv.gz",
        ],
    )
    source = {
        "source": "mesh",
        "title": "Medical Subject Headings",
        "release": "2019",
        "tree_numbers": "2015",
        "path": path.name,
        "licence": "National Library of Medicine, free of charge with this notice",
        "notice": NOTICE,
        "skipped": left_out,
        "later_types": {"agreement with the numbers that are known": found.agreement},
    }
    common = {"path": f"tools/{NAMES.name}", "title": "Common names, written for this package"}
    untyped: set[str] = set()
    own = [[*_of_trees(rows, found.trees, left_out, untyped)], [*_common_names(untyped)]]
    descriptors = [*ConceptKB.join(own)]
    annotated = documents(data, SILVER)
    records = [*supplementary(descriptors, vocab, annotated, _texts(data / "raw_text"))]
    earlier = [*documents(data, [CDR.format("Training")]), *biored(data)]
    replaced = [*old_identifiers(descriptors, vocab, earlier)]
    concepts = [*ConceptKB.join([descriptors, records])]
    named = [*brands(concepts, vocab / "chemical")]
    kb = ConceptKB.join([*own, records, replaced, named], output, sources=[source, common, *MORE])
    write_text(output / "NOTICE.txt", NOTICE)
    megabytes = sum(path.stat().st_size for path in output.iterdir() if path.is_file()) / 1e6
    for name, agreement in found.agreement.items():
        typer.echo(f"{name}: agrees on {agreement}")
    n_untyped = sum(not concept.types for concept in kb)
    typer.echo(f"{len(found.trees):,} trees found, {n_untyped:,} concepts without a type")
    typer.echo(f"{len(replaced)} earlier identifiers, {sum(len(c.aliases) for c in named)} brands")
    typer.echo(f"{len(kb):,} concepts, {kb.n_names:,} names, {megabytes:.1f} MB; {dict(left_out)}")


def _texts(folder: Path) -> Iterator[str]:
    """Abstracts, and articles as far as they are there."""
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf8") as file:
            for line in file:
                yield " ".join(map(str, json.loads(line).values()))


def _common_names(untyped: set[str]) -> Iterator[Concept]:
    """Further names of descriptors, and the tree of those that have no tree number."""
    for concept in read_vocabulary(NAMES):
        trees = tuple(_TREES_OF[name] for name in concept.types)
        types = trees if concept.concept_id in untyped else ()
        yield replace(concept, types=types)


def _of_trees(
    concepts: Iterable[Concept],
    later: Mapping[str, Set[str]],
    left_out: Counter[str],
    untyped: set[str],
) -> Iterator[Concept]:
    for concept in concepts:
        if not concept.types:
            # Of other trees only those are left out whose number says so.
            concept = replace(concept, types=tuple(later.get(concept.concept_id, set()) & TREES))
        if not concept.types:
            untyped.add(concept.concept_id)
        if not concept.types or TREES.intersection(concept.types):
            yield concept
        else:
            left_out["descriptors of other trees"] += 1


if __name__ == "__main__":
    typer.run(build)
