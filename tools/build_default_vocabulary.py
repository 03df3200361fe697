"""Build the vocabulary that ships: what a mention can stand for of MeSH.

    python tools/build_default_vocabulary.py DESCRIPTORS.tsv TREE_NUMBERS.tsv -o FOLDER \
        --identifiers C=MESH_DISEASES.tsv.gz --identifiers D=PUBCHEM_MESH.tsv.gz \
        --names B=TAXA.obo.gz --mappings MONDO_MESH.sssom.tsv.gz --mappings BIOMAPPINGS.sssom.tsv.gz

Names that people say and write, and MeSH does not list (`lockjaw`, `CKD`, brands), come from
`common_names.tsv` beside this file, which was written for this package.

DESCRIPTORS.tsv: identifier, name, synonyms with `|` between them. TREE_NUMBERS.tsv: identifier,
name, tree number. Both are tables of Medical Subject Headings, of 2019 and of 2015. The options
give the letter of the tree to descriptors that came after 2015: see `mesh_types`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from mesh_types import find_trees

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
names, tree numbers, and their letters and branches are here; scope notes and all else are left
out. Where a descriptor came after 2015, the letter of its tree is not the National Library of
Medicine's statement but was found from other tables and the names of other descriptors. Names of
common diseases and chemicals that are not MeSH's own were added to its descriptors.
It is not the newest edition and does not reflect the most current data that the National Library
of Medicine has; that is at https://www.nlm.nih.gov/mesh. The National Library of Medicine has
neither made nor endorsed this package.
"""


def build(
    descriptors: Annotated[Path, typer.Argument(help="Identifier, name, synonyms.")],
    tree_numbers: Annotated[Path, typer.Argument(help="Identifier, name, tree number.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write.")],
    identifiers: Annotated[
        list[str] | None, typer.Option(help="TREE=FILE that lists descriptors of one tree.")
    ] = None,
    names: Annotated[
        list[str] | None, typer.Option(help="TREE=VOCABULARY whose names are of one tree.")
    ] = None,
    mappings: Annotated[list[Path] | None, typer.Option(help="SSSOM table.")] = None,
) -> None:
    """Build the vocabulary, and put the notice that its source asks for beside it."""
    left_out: Counter[str] = Counter()
    source = {
        "source": "mesh",
        "title": "Medical Subject Headings",
        "release": "2019",
        "tree_numbers": "2015",
        "path": descriptors.name,
        "licence": "National Library of Medicine, free of charge with this notice",
        "notice": NOTICE,
        "skipped": left_out,
    }
    numbers = str(tree_numbers)
    rows = list(read_vocabulary(descriptors, "table", prefix="MESH", tree_numbers=numbers))
    found = find_trees(
        rows,
        identifiers=_by_file(identifiers),
        names=_by_file(names),
        mappings=mappings or (),
    )
    source["later_types"] = {"agreement with the numbers that are known": found.agreement}
    more = {"path": f"tools/{NAMES.name}", "title": "Common names, written for this package"}
    untyped: set[str] = set()
    vocabularies = [_of_trees(rows, found.trees, left_out, untyped), _common_names(untyped)]
    kb = ConceptKB.join(vocabularies, output, sources=[source, more])
    write_text(output / "NOTICE.txt", NOTICE)
    megabytes = sum(path.stat().st_size for path in output.iterdir() if path.is_file()) / 1e6
    for name, agreement in found.agreement.items():
        typer.echo(f"{name}: agrees on {agreement}")
    n_untyped = sum(not concept.types for concept in kb)
    typer.echo(f"{len(found.trees):,} trees found, {n_untyped:,} concepts without a type")
    typer.echo(f"{len(kb):,} concepts, {kb.n_names:,} names, {megabytes:.1f} MB; {dict(left_out)}")


def _common_names(untyped: set[str]) -> Iterator[Concept]:
    """Further names of descriptors, and the tree of those that have no tree number."""
    for concept in read_vocabulary(NAMES):
        trees = tuple(_TREES_OF[name] for name in concept.types)
        types = trees if concept.concept_id in untyped else ()
        yield replace(concept, types=types)


def _by_file(values: list[str] | None) -> dict[Path, str]:
    """`["C=diseases.tsv"]` → `{Path("diseases.tsv"): "C"}`."""
    pairs = (value.partition("=") for value in values or ())
    return {Path(path): tree for tree, _, path in pairs}


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
