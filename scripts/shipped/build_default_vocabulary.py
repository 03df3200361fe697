"""Build the vocabulary of `en_angel_mini` from the parts of MeSH that mentions refer to.

    python scripts/shipped/build_default_vocabulary.py DATA -o FOLDER

DATA is the same as for `build_training_data.py`, and also contains `more/` and `raw_text/`. The
vocabulary has the descriptors of MeSH 2024 with additional names of 2019 (see `mesh`), and the
supplementary records chosen by `supplementary`; newer drugs have their identifiers in DrugBank.
The same files give the same bytes.

Common names that MeSH lacks (`lockjaw`, `CKD`) come from `common_names.tsv` and `mesh_names.tsv` in
this folder, which were written for this package, and brands from RxNorm. A name in
`common_names.tsv` is removed from other concepts of MeSH; those in `mesh_names.tsv` are only added.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import mesh
import typer
from build_training_data import CDR, SILVER, biored, documents
from mentioned import raw_texts
from supplementary import brands, newer_drugs, old_identifiers, supplementary

from spacy_angel.files.atomic import write_text
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary
from spacy_angel.vocabulary.storage.metadata import BuildOptions

NAMES = Path(__file__).with_name("common_names.tsv")
MORE_NAMES = Path(__file__).with_name("mesh_names.tsv")
# Anatomy, organisms, diseases, chemicals and drugs, procedures, psychiatry and psychology,
# phenomena. Disciplines, humanities, health care, publication types, and places are excluded.
TREES = frozenset("ABCDEFG")
NOTICE = """\
This vocabulary contains Medical Subject Headings (MeSH), 2024 edition, with additional names from
the 2019 edition, courtesy of the U.S. National Library of Medicine.

It includes the identifiers, names, and parents of the descriptors in trees A to G, and the
identifiers and names of some supplementary records. Scope notes and all other fields are omitted.
MeSH assigns no tree to supplementary records; their tree letters were derived from other tables
and are not provided by the National Library of Medicine. Names of diseases and chemicals from
other sources were added, and newer drugs with their identifiers in DrugBank.

This is not the newest edition of MeSH, and it does not reflect the most current data available
from the National Library of Medicine (https://www.nlm.nih.gov/mesh). The National Library of
Medicine has neither created nor endorsed this package.

The added names come from the following sources. They are unchanged; ambiguous names were removed.

* DrugBank Open Data, vocabulary (CC0, https://go.drugbank.com)
* PubChem and the prescribable content of RxNorm (U.S. National Library of Medicine,
  https://www.nlm.nih.gov/research/umls/rxnorm)
* Mondo Disease Ontology (CC BY 4.0, https://mondo.monarchinitiative.org) and, through its mappings:
  Orphanet Rare Disease Ontology 2.6 (CC BY 4.0, https://www.orphadata.com/ordo), NCI Thesaurus
  (CC BY 4.0, https://ncithesaurus.nci.nih.gov), and Human Disease Ontology (CC0,
  https://disease-ontology.org)
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
    """Build the vocabulary, and write the notice that its sources require."""
    left_out: Counter[str] = Counter()
    vocab = data / "vocab"
    source = {
        "source": "mesh",
        "title": "Medical Subject Headings",
        "release": "2024",
        "earlier_names": "2019",
        "path": Path(mesh.DESCRIPTORS).name,
        "licence": "National Library of Medicine, free of charge with this notice",
        "notice": NOTICE,
        "skipped": left_out,
    }
    written = [
        {"path": f"scripts/shipped/{table.name}", "title": title, "licence": "MIT"}
        for table, title in (
            (NAMES, "Common names, written for this package"),
            (MORE_NAMES, "Common names, written for this package by a language model"),
        )
    ]
    further = [*_names_of(NAMES)]
    own = [[*_as_people_say(_of_trees(mesh.descriptors(data), left_out), further)], further]
    descriptors = [*ConceptKB.join(own)]
    annotated = documents(data, SILVER)
    records = [*supplementary(descriptors, vocab, annotated, raw_texts(data))]
    earlier = [*documents(data, [CDR.format("Training")]), *biored(data)]
    replaced = [*old_identifiers(descriptors, vocab, earlier)]
    concepts = [*ConceptKB.join([descriptors, records])]
    drugs = [*newer_drugs(concepts, vocab / "chemical")]
    named = [*brands([*concepts, *drugs], vocab / "chemical")]
    more = _names_of(MORE_NAMES)
    kb = ConceptKB.join(
        [*own, records, replaced, drugs, named, more],
        output,
        BuildOptions(sources=[source, *written, *MORE]),
    )
    write_text(output / "NOTICE.txt", NOTICE)
    megabytes = sum(path.stat().st_size for path in output.iterdir() if path.is_file()) / 1e6
    typer.echo(f"{len(replaced)} earlier identifiers, {sum(len(c.aliases) for c in named)} brands")
    typer.echo(f"{len(kb):,} concepts, {kb.n_names:,} names, {megabytes:.1f} MB; {dict(left_out)}")


def _names_of(table: Path) -> Iterator[Concept]:
    """Yield concepts with additional names, without their types."""
    for concept in read_vocabulary(table):
        yield replace(concept, types=())


def _as_people_say(concepts: Iterable[Concept], common: Iterable[Concept]) -> Iterator[Concept]:
    """Remove names that commonly mean another descriptor: in MeSH, `Cirrhosis` means fibrosis, and
    `Lockjaw` trismus."""
    owners = {normalize_name(name): c.concept_id for c in common for name in c.aliases}
    for concept in concepts:
        own = concept.concept_id
        kept = (n for n in concept.aliases if owners.get(normalize_name(n), own) == own)
        yield replace(concept, aliases=tuple(kept))


def _of_trees(concepts: Iterable[Concept], left_out: Counter[str]) -> Iterator[Concept]:
    for concept in concepts:
        if TREES.intersection(concept.types):
            yield concept
        else:
            left_out["descriptors of other trees"] += 1


if __name__ == "__main__":
    typer.run(build)
