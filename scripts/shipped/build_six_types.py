"""Build the training data of `configs/mini/six_types.cfg`: corpora and a vocabulary of diseases,
chemicals, genes, species, cell lines, and phenotypes; homonyms are distinguished by species.

    python scripts/shipped/build_six_types.py DATA OUT

DATA is the same as for `build_training_data.py`, with `hpo_gsc/` and `more/corpora/`. Every tenth
document of the corpora added here, every second one of GSC+, and all of tmVar3 are held out: they
are written as `held_NAME.json` and are in no training file. The recognizer holds out articles
itself, so it gets the whole of GSC+, and the other corpora in `raw/`, with the lines of everyday
texts and reports.
In these lines and in corpora of species, words for people may or may not be mentions.
"""

import csv
import gzip
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from build_training_data import (
    BIORED,
    CDR,
    DEV,
    NCBI,
    STEPS,
    TMVAR,
    biored,
    documents,
    number,
    phenotypes,
    silver,
)
from genes import with_names_of_the_same_symbol
from mesh import rows

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.formats.bioc import write_bioc_json
from spacy_angel.corpora.preprocessing import preprocess
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.lookup.dictionary_matcher import DictionaryMatcher
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.names.taxa import NAME, PREFIX, TAXA, WORD
from spacy_angel.vocabulary.sources.build import add_vocabulary, build_vocabulary
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary
from spacy_angel.vocabulary.storage.metadata import BuildOptions

# Name → file, label to use, prefix of its identifiers, and n: every n-th document is held out.
CORPORA = {
    "gnormplus": ("aioner/GNormPlus_Train.PubTator", "Gene", "NCBIGene", 10),
    "nlm_gene": ("aioner/NLMgene_Train.PubTator", "Gene", "NCBIGene", 10),
    "linnaeus": ("aioner/Linnaeus_Train.PubTator", "Species", "NCBITaxon", 10),
    "s800": ("aioner/SPECIES_Train.PubTator", "Species", "NCBITaxon", 10),
    "bioid": ("aioner/BioID_Train_revision.PubTator", "CellLine", "", 10),
}
RAW = (NCBI.format("train"), CDR.format("Training"), *DEV)
GSC, GSC_HELD = "hpo_gsc/GSCplus_dev_gold.tsv", 2
SHORTEST_NAME = 5
PREFIXES = {"Gene": "NCBIGene", "Species": "NCBITaxon"}
VARIANTS = frozenset({"Variant", "DNAMutation", "ProteinMutation", "SNP", "OtherMutation"})
# In order of precedence: in a text without a species, genes are human.
SPECIES = ("Homo_sapiens", "Mus_musculus", "Drosophila_melanogaster", "Danio_rerio")
TAXON_NAMES = Path(__file__).with_name("taxon_names.tsv")
COUNTED = {"Gene": ("gnormplus", "nlm_gene", "biored"), "Species": ("linnaeus", "s800", "biored")}
"""Corpora in which the concepts of a label are counted."""
Documents = list[CorpusDocument]
LINES = {"sentence": "everyday_sentences.txt", "line": "everyday_reports.txt"}
DRUGPROT = "more/corpora/drugprot_train_part.jsonl.gz"
LABELS = {"SYMPTOM": "DISEASE PHENOTYPE", "DISEASE": "DISEASE PHENOTYPE?", "DRUG": "CHEMICAL GENE?"}
LABELS |= {"SPECIES": "SPECIES DISEASE?", "VARIANT": ""}
LABELS["OPEN"] = "DISEASE? CHEMICAL? GENE? SPECIES? CELL_LINE? PHENOTYPE?"
_MARKED = re.compile(r"\{([^{}|]+)\|([A-Z_]+)\}")
_PEOPLE = re.compile(
    r"(?<!\w)(?:patients?|people|persons?|m[ae]n|wom[ae]n|child(?:ren)?|infants?|boys?|girls?|subjects?"
    r"|participants|adults|volunteers|individuals|humans?|pt|mother|father|wife|husband|son|daughter"
    r"|baby|mu?o?m|males?|females?)(?!\w)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")
_SHORT_GENUS = re.compile(r"[A-Z][a-z]{0,2}\.")
_TAXON = re.compile(r"\(Tax:\d+\)")
# Words that indicate the species of a text, but do not name a species.
_CELLS = re.compile(r"\d|cells$|hela")


def build(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora and vocabularies.")],
    output: Annotated[Path, typer.Argument(help="Folder to write.")],
) -> None:
    """Write `kb/`, a file per corpus, `held_NAME.json`, and the files for the recognizer."""
    output.mkdir(parents=True, exist_ok=True)
    whole, train, held = split(data)
    kept = {d.doc_id for d in chain(documents(data, DEV), *held.values())}
    dev = {"ncbi_dev": documents(data, DEV[:1]), "cdr_dev": documents(data, DEV[1:])}
    named = {f"held_{name}": own for name, own in held.items()}
    for name, own in chain(train.items(), dev.items(), named.items()):
        prepared = list(preprocess(own, STEPS))
        n = sum(len(document.mentions) for document in prepared)
        typer.echo(f"{name}.json: {len(prepared):,} documents, {n:,} mentions")
        write_bioc_json(prepared, output / f"{name}.json")
    # GSC+ has only 57 training mentions, so names of HPO in other texts are used as well.
    some = [d for n in ("ncbi", "cdr", "silver") for d in train[n] if d.doc_id not in kept]
    write_bioc_json(with_phenotypes(some, data), output / "phenotypes.json")
    write_bioc_json(whole["gsc"], output / "whole_gsc.json")
    (output / "raw").mkdir(exist_ok=True)
    for name in LINES:
        write_bioc_json(marked_lines(name), output / "raw" / f"{name}.json")
    for name in ("linnaeus", "s800"):
        own = read_corpus(data / CORPORA[name][0], "pubtator", strict=False)
        write_bioc_json(map(with_open_people, own), output / "raw" / f"{name}.json")
    write_bioc_json(drugprot(data / DRUGPROT), output / "raw" / "drugprot.json")
    for file in (*RAW, BIORED, TMVAR, *(row[0] for row in CORPORA.values())):
        shutil.copy(data / file, output / "raw")
    kb = vocabulary(data, output, frequencies_of(train))
    typer.echo(f"kb: {len(kb):,} concepts, {kb.n_names:,} names")


def split(data: Path) -> tuple[dict[str, Documents], dict[str, Documents], dict[str, Documents]]:
    """RETURNS (tuple[dict[str, Documents], dict[str, Documents], dict[str, Documents]]): the whole
    corpora, the training documents, and the held-out documents."""
    whole = {name: list(corpus(data, *row[:3])) for name, row in CORPORA.items()}
    whole["gsc"] = list(read_gsc(data / GSC))
    every = {name: row[3] for name, row in CORPORA.items()} | {"gsc": GSC_HELD}
    held = {
        name: [d for d in own if number(d.doc_id) % every[name] == 0] for name, own in whole.items()
    }
    held["tmvar"] = list(completed(documents(data, [TMVAR])))
    kept = {d.doc_id for d in chain(documents(data, DEV), *held.values())}
    train = {name: [d for d in own if d.doc_id not in kept] for name, own in whole.items()}
    train |= {
        "ncbi": list(documents(data, [NCBI.format("train")])),
        "cdr": list(documents(data, [CDR.format("Training")])),
        "biored": [d for d in with_all_types(data) if d.doc_id not in kept],
        "silver": [d for d in silver(data) if d.doc_id not in kept],
    }
    return whole, train, held


def marked_lines(name: str) -> Iterator[CorpusDocument]:
    """name (str): a key of `LINES`. YIELDS (CorpusDocument): a document for each line of the file,
    in which mentions are written `{text|KIND}`, with the labels of each kind."""
    lines = Path(__file__).with_name(LINES[name]).read_text(encoding="utf8").splitlines()
    for i, line in enumerate(lines):
        text, end, mentions = "", 0, list[GoldMention]()
        for found in _MARKED.finditer(line):
            text += line[end : found.start()]
            for label in LABELS.get(found[2], found[2]).split():
                span = len(text), len(text) + len(found[1])
                mentions.append(GoldMention(*span, found[1], label))
            text, end = text + found[1], found.end()
        yield with_open_people(CorpusDocument(f"{name} {i}", text + line[end:], tuple(mentions)))


def drugprot(path: Path) -> Iterator[CorpusDocument]:
    """YIELDS (CorpusDocument): documents with chemicals and, as in doubt, genes and families."""
    with gzip.open(path, "rt", encoding="utf8") as file:
        for row in map(json.loads, file):
            mentions = (
                GoldMention(
                    start, end, row["text"][start:end], f"{label}?" if label == "Gene" else label
                )
                for label, _, [(start, end)] in row["mentions"]
            )
            yield CorpusDocument(f"drugprot:{row['id']}", row["text"], tuple(mentions))


def with_open_people(document: CorpusDocument) -> CorpusDocument:
    """RETURNS (CorpusDocument): the document, in which words for people are labeled `SPECIES?`."""
    taken = {offset for m in document.mentions for offset in range(m.start, m.end)}
    people = (
        GoldMention(*found.span(), found[0], "SPECIES?")
        for found in _PEOPLE.finditer(document.text)
        if taken.isdisjoint(range(*found.span()))
    )
    return replace(document, mentions=(*document.mentions, *people))


def read_gsc(path: Path) -> Iterator[CorpusDocument]:
    """path (Path): GSC+ in PhenoTagger's format: identifier, text, then a line for each mention.
    YIELDS (CorpusDocument): each abstract with its phenotypes."""
    for block in path.read_text(encoding="utf8").strip().split("\n\n"):
        doc_id, text, *rows = block.splitlines()
        cells = (row.split("\t") for row in rows)
        mentions = (
            GoldMention(int(start), int(end), text[int(start) : int(end)], "Phenotype", ids)
            for start, end, _, ids in cells
        )
        yield CorpusDocument(doc_id.strip(), text, tuple(mentions))


def frequencies_of(train: Mapping[str, Documents]) -> dict[str, int]:
    """RETURNS (dict[str, int]): gene or taxon → number of training documents that mention it."""
    counts = Counter(
        concept_id
        for label, names in COUNTED.items()
        for name in names
        for document in train[name]
        for concept_id in {
            f"{PREFIXES[label]}:{number}"
            for mention in document.mentions
            if mention.label == label
            for number in _NUMBER.findall(mention.concept_ids)
        }
    )
    return dict(sorted(counts.items()))


def corpus(data: Path, file: str, label: str, prefix: str) -> Iterator[CorpusDocument]:
    """RETURNS (Iterator[CorpusDocument]): documents with mentions of the label that have an
    identifier; species notes are removed from the identifiers."""
    for document in read_corpus(data / file, "pubtator", strict=False, prefix=prefix):
        mentions = [
            replace(m, concept_ids=_TAXON.sub("", m.concept_ids))
            for m in document.mentions
            if m.label == label and m.concept_ids
        ]
        if mentions:
            yield replace(document, mentions=tuple(mentions))


def with_all_types(data: Path) -> Iterator[CorpusDocument]:
    """RETURNS (Iterator[CorpusDocument]): the documents of BioRED used for training."""
    trained = {document.doc_id for document in biored(data)}
    for document in completed(documents(data, [BIORED])):
        if document.doc_id in trained:
            yield document


def completed(own: Iterable[CorpusDocument]) -> Iterator[CorpusDocument]:
    """RETURNS (Iterator[CorpusDocument]): documents without variants, with prefixed identifiers of
    genes and species."""
    for document in own:
        mentions = [
            replace(m, concept_ids=_with_prefix(m.concept_ids, PREFIXES.get(m.label, "")))
            for m in document.mentions
            if m.label not in VARIANTS
        ]
        yield replace(document, mentions=tuple(mentions))


def _with_prefix(concept_ids: str, prefix: str) -> str:
    return re.sub(r"(?<![\w:])(\d+)", rf"{prefix}:\1", concept_ids) if prefix else concept_ids


def vocabulary(data: Path, folder: Path, frequencies: Mapping[str, int]) -> ConceptKB:
    """RETURNS (ConceptKB): `kb/` of the folder; the first type of a concept is its entity type."""
    medic = ("medic/medic_06Jul2012.txt", "medic/CTD_diseases_2017-06.tsv.gz")
    build_vocabulary([data / file for file in medic], folder / "base")
    diseases = {concept.concept_id for concept in ConceptKB.from_disk(folder / "base")}
    trees = {"tree_numbers": str(data / "mesh/mesh_2015_tree_numbers.tsv")}
    add_vocabulary(folder / "base", data / "mesh/mesh_2019_descriptors.tsv", options=trees)
    vocab = data / "vocab"
    genes = (read_vocabulary(vocab / "gene" / f"{name}.gene_info.gz") for name in SPECIES)
    every = chain.from_iterable(genes)
    taxa = list(read_vocabulary(vocab / "species/taxslim.obo.gz"))
    return ConceptKB.join(
        [
            of_mesh(ConceptKB.from_disk(folder / "base"), diseases),
            of_kind(with_names_of_the_same_symbol(every), "Gene"),
            *(of_kind(own, "Species", only=True) for own in organisms(vocab / "species")),
            of_kind(cell_lines(vocab / "cell_line", taxa), "Cell line"),
            of_kind(phenotypes(vocab / "phenotype"), "Phenotype", only=True),
        ],
        folder / "kb",
        BuildOptions(endings="species", frequencies=dict(frequencies)),
    )


def of_mesh(concepts: Iterable[Concept], diseases: set[str]) -> Iterator[Concept]:
    """RETURNS (Iterator[Concept]): concepts with `Disease` or `Chemical` as first type, if MEDIC or
    the branch of the tree shows it."""
    for concept in concepts:
        branches = {name[:1] for name in concept.types}
        kinds = ["Disease"] if concept.concept_id in diseases or "C" in branches else []
        kinds += ["Chemical"] if "D" in branches else []
        # A concept without a type can be linked from any label.
        yield replace(concept, types=(*kinds, *concept.types) or ("Other",))


def of_kind(concepts: Iterable[Concept], kind: str, *, only: bool = False) -> Iterator[Concept]:
    """RETURNS (Iterator[Concept]): concepts with an entity type before their types, or alone."""
    for concept in concepts:
        yield replace(concept, types=(kind,) if only else (kind, *concept.types))


def organisms(folder: Path) -> list[list[Concept]]:
    """RETURNS (list[list[Concept]]): the taxa of two lists with common words for them, such as
    `patients` and `maize`, which are removed from other taxa: `mouse` is a species and not a genus,
    and `maize` not a subspecies."""
    taxa = list(read_vocabulary(folder / "taxslim.obo.gz"))
    further = list(more_names(folder))
    by_name = {name: taxon.concept_id for taxon in further for name in taxon.names}
    by_name |= {taxon.canonical_name: taxon.concept_id for taxon in taxa}
    words = {
        concept_id: [word for word in taxon.of(NAME, WORD) if not _CELLS.search(word)]
        for concept_id, taxon in TAXA.items()
    }
    with TAXON_NAMES.open(encoding="utf8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            words.setdefault(by_name[row["taxon"]], []).extend(row["names"].split("|"))
    owners = {normalize_name(word): own for own, some in words.items() for word in some}

    def named(taxon: Concept) -> Iterator[Concept]:
        names = [
            name
            for name in dict.fromkeys((*taxon.names, *words.get(taxon.concept_id, ())))
            if owners.get(normalize_name(name), taxon.concept_id) == taxon.concept_id
        ]
        if names:
            yield replace(taxon, canonical_name=names[0], aliases=tuple(names[1:]))

    return [list(chain.from_iterable(map(named, own))) for own in (taxa, further)]


def with_phenotypes(own: Iterable[CorpusDocument], data: Path) -> Iterator[CorpusDocument]:
    """RETURNS (Iterator[CorpusDocument]): documents in which only names of HPO are mentions."""
    kb = ConceptKB.build(phenotypes(data / "vocab" / "phenotype"))
    names = DictionaryMatcher(kb, everything=True, min_length=SHORTEST_NAME)
    for document in preprocess(own, STEPS):
        mentions = [
            GoldMention(
                found.start,
                found.end,
                document.text[found.start : found.end],
                "Phenotype",
                kb.concept_ids_of(found.name)[0],
            )
            for found in names.find(document.text)
        ]
        if mentions:
            yield replace(document, mentions=tuple(mentions))


def more_names(folder: Path) -> Iterator[Concept]:
    """RETURNS (Iterator[Concept]): taxa and their names, including `A. aegypti`; short names are
    canonical only if there is no other."""
    names: dict[str, list[str]] = {}
    for file in ("clulab_Species.tsv.gz", "clulab_Species_exhaustive.tsv.gz"):
        for name, taxon, *_ in rows(folder / file):
            if taxon.isdecimal():
                names.setdefault(f"{PREFIX}{taxon}", []).append(name)
    for concept_id, own in names.items():
        # `S. ocellatus` shows that `Sciaenops ocellatus` is the scientific name, not `Red drum`.
        of_genus = {name for name in own if _shortened(name) in own}
        whole = [name for name in own if not _SHORT_GENUS.match(name)]
        ranked = (*(n for n in whole if n in of_genus), *whole, *own)
        first, *others = dict.fromkeys(ranked)
        yield Concept(concept_id, first, tuple(others))


def _shortened(name: str) -> str:
    genus, _, rest = name.partition(" ")
    return f"{genus[:1]}. {rest}"


def cell_lines(folder: Path, taxa: Iterable[Concept]) -> Iterator[Concept]:
    """RETURNS (Iterator[Concept]): the cell lines of Cellosaurus with their names and species."""
    by_name = {taxon.canonical_name: taxon.concept_id for taxon in taxa}
    names: dict[str, dict[str, None]] = {}
    species: dict[str, dict[str, None]] = {}
    for name, accession, *rest in rows(folder / "clulab_Cellosaurus.tsv.gz"):
        names.setdefault(accession, {})[name] = None
        for text in filter(None, rest):
            if text in by_name:
                species.setdefault(accession, {})[by_name[text]] = None
    for accession, name, *_ in rows(folder / "cellosaurus_human_synonyms_2020.tsv.gz"):
        names.setdefault(accession, {})[name] = None
    for accession, own in names.items():
        first, *others = own
        yield Concept(accession, first, tuple(others), tuple(species.get(accession, ())))


if __name__ == "__main__":
    typer.run(build)
