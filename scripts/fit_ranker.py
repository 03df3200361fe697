"""Fit the weights of the ranker on many vocabularies, and say what they are worth where they were
not fitted.

    python scripts/fit_ranker.py collect DATA CANDIDATES [--part 0/2]
    python scripts/fit_ranker.py fit CANDIDATES -o spacy_angel/data/ranker.json
    python scripts/fit_ranker.py fit CANDIDATES -o without_cl.json --leave-out CL
    python scripts/fit_ranker.py report CANDIDATES

DATA holds `ncbi-disease/`, `bc5cdr/`, `aioner/`, `craft/`, `hpo_gsc/`, `medic/`, `mesh/`, `more/`
and `vocab/`. `collect` keeps the candidates of each mention, one file a set of mentions and
vocabulary; a set that has its file is not collected again. `report` leaves one vocabulary out in
turn, then documents.

Genes, species and cell lines are those of `en_angel_bio`.

Sets are clean texts; the same with 30 % of the concepts taken out of the vocabulary; with slips of
the pen in every mention; mentions of another kind than the vocabulary's; and names of drugs that no
vocabulary here has, of DrugBank or made up of stems, in the place of chemicals.
"""

import csv
import gzip
import hashlib
import io
import json
import random
import re
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from noise import noisy_document

from spacy_angel.corpora.docs import GOLD_SPANS, to_doc
from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.evaluation.confidence import calibration_error
from spacy_angel.files.atomic import replacing
from spacy_angel.linking.ranking.alignment import Alignment
from spacy_angel.linking.ranking.features import CandidateName, MentionCandidates
from spacy_angel.linking.ranking.fit import FitItem, fit_weights, no_weights
from spacy_angel.linking.ranking.ranker import ALL, Ranker, Weights
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.lookup.string_similarity import Similarity
from spacy_angel.vocabulary.names.concepts import Concept, normalize_name
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

app = typer.Typer(add_completion=False, help=__doc__)

CRAFT, SHIPPED, GENES, MESH = "craft", "BIO", "GENES", "MESH"
CORPORA = {
    "ncbi": "ncbi-disease/NCBIdevelopset_corpus.txt",
    "cdr": "bc5cdr/CDR_DevelopmentSet.PubTator.txt",
    "tmvar": "aioner/tmVar3_Train.PubTator",
    "biored": "aioner/BioRED_TrainDev.PubTator",
    "nlmgene": "aioner/NLMgene_Train.PubTator",
    "gnormplus": "aioner/GNormPlus_Train.PubTator",
    "bioid": "aioner/BioID_Train_revision.PubTator",
    "linnaeus": "aioner/Linnaeus_Train.PubTator",
    "s800": "aioner/SPECIES_Train.PubTator",
    "gsc": "hpo_gsc/GSCplus_dev_gold.tsv",
}
VOCABULARIES = {
    "MEDIC": "medic/medic_06Jul2012.txt",
    "CTD": "medic/CTD_diseases_2017-06.tsv.gz",
    MESH: "mesh/mesh_2019_descriptors.tsv",
    "HPO": "vocab/phenotype/hp_2016-04-01.obo.gz",
    "CHEBI": "vocab/chemical/clulab_chebi.tsv.gz",
    "UBERON": "vocab/anatomy/uberon-basic_2015-04-23.obo.gz",
    "GO_BP": "vocab/go/clulab_bio_process.tsv.gz",
    "GO_CC": "vocab/go/clulab_GO-subcellular-locations.tsv.gz",
    "CL": "craft/onto_CL.obo.zip",
    "SO": "craft/onto_SO.obo.zip",
    "MONDO": "vocab/disease/mondo_2026_labels.tsv.gz",
}
# The same concepts: where one is left out, so is the other.
SAME = {"MEDIC": "CTD"}
LABELS = {
    "DISEASE": {"Disease", "SpecificDisease", "Modifier", "DiseaseClass", "CompositeMention"},
    "CHEMICAL": {"Chemical"},
    "GENE": {"Gene"},
    "CELL_LINE": {"CellLine"},
    "SPECIES": {"Species"},
    "PHENOTYPE": {"Phenotype"},
}
PREFIXES = {"GENE": "NCBIGene:", "SPECIES": "NCBITaxon:"}
# Behind an identifier, on its species.
REMARK = re.compile(r"\(tax:\d+\)", re.IGNORECASE)
# Documents that the model has learned from take no part: of ten parts of BioRED it has the last
# six, of GSC+ the second half. Of genes' corpora it has nine parts of ten, without which there
# would be little; the first is kept to measure on.
TRAINED_ON = ("ncbi-disease/NCBItrainset_corpus.txt", "bc5cdr/CDR_TrainingSet.PubTator.txt")
BIORED_PARTS, BIORED_UNSEEN, GENE_PARTS, GSC_PARTS = 10, 4, 10, 2
MOST_OF_A_TEXT = 2
"""Mentions of one text that are taken from a document."""
# International nonproprietary names, and syllables before them, for drugs that are none.
STEMS = (
    *("tinib", "mab", "ciclib", "parib", "rafenib", "gliptin", "gliflozin", "sartan", "pril"),
    *("olol", "statin", "azole", "oxacin", "vir", "prazole", "triptan", "setron", "dipine"),
    *("zosin", "glitazone", "caine", "barbital", "zepam", "mycin", "cillin", "nib", "lutamide"),
    *("degib", "metinib", "lisib", "grel", "xaban", "gatran", "vaptan", "entan", "afil"),
    *("tadine", "phylline"),
)
SYLLABLES = (
    *("ab", "ce", "do", "ve", "ra", "lo", "mi", "ta", "ne", "po", "xi", "zu", "fe", "gi", "ka"),
    *("bru", "tri", "pra", "cla", "nor", "vil", "sol", "mel", "dar", "pan"),
)
LEAST_DRUG = 7
# What the linker reads; sentences bound abbreviations.
BEFORE = ("sentencizer", "abbreviation_detector")
FOLDS = 4
WEIGHT_OF_NOISE = 0.5
# To take one drug for another is the worst answer there is.
DRUGS = ("drugs", "stems")
WEIGHT_OF_DRUGS, OF_CHEMICALS = 3.0, 8.0


@dataclass(frozen=True)
class OwnWeights:
    """Weights of an entity type, drawn to those of all mentions.

    labels (tuple[str, ...]): of the sets that they are fitted on.
    penalty (float): of `fit_weights`.
    drugs (float): how much each unknown drug counts.
    is_apart (bool): the weights of all mentions are not fitted on these sets.
    """

    labels: tuple[str, ...]
    penalty: float
    drugs: float = WEIGHT_OF_DRUGS
    is_apart: bool = False


OWN = {
    "GENE": OwnWeights(("GENE",), 3.0, is_apart=True),
    "DISEASE": OwnWeights(("DISEASE", "MONDO"), 10.0),
    "CHEMICAL": OwnWeights(("CHEMICAL", "CHEBI"), 3.0, OF_CHEMICALS),
}


@dataclass(frozen=True)
class MentionSet:
    """Mentions of a corpus over a vocabulary.

    corpus (str), kb (str): keys of `CORPORA` and `VOCABULARIES`, and a few more.
    label (str): of the mentions. most (int): mentions taken, of documents in random order.
    noise (str): kind and number of edits, e.g. `typo:1`. holes (float): share of the vocabulary's
        concepts taken out.
    is_foreign (bool): the vocabulary has none of them.
    """

    corpus: str
    kb: str
    label: str
    most: int
    noise: str = ""
    holes: float = 0.0
    is_foreign: bool = False

    @property
    def key(self) -> str:
        """RETURNS (str): name of its file."""
        how = self.noise.replace(":", "") or ("holes" if self.holes else "clean")
        return f"{self.corpus}-{self.kb}-{self.label}-{how}"

    @property
    def weight(self) -> float:
        """RETURNS (float): how much each of its mentions counts, beside its number."""
        if self.corpus in DRUGS:
            return WEIGHT_OF_DRUGS
        return WEIGHT_OF_NOISE if self.noise else 1.0


CLEAN = (
    MentionSet("ncbi", "MEDIC", "DISEASE", 800),
    MentionSet("cdr", "CTD", "DISEASE", 1000),
    MentionSet("cdr", MESH, "CHEMICAL", 1000),
    MentionSet("tmvar", "CTD", "DISEASE", 600),
    MentionSet("biored", "CTD", "DISEASE", 600),
    MentionSet("biored", MESH, "CHEMICAL", 600),
    MentionSet("gsc", "HPO", "PHENOTYPE", 300),
    MentionSet(CRAFT, "CHEBI", "CHEBI", 800),
    MentionSet(CRAFT, "CL", "CL", 800),
    MentionSet(CRAFT, "UBERON", "UBERON", 900),
    MentionSet(CRAFT, "SO", "SO", 700),
    MentionSet(CRAFT, "GO_BP", "GO_BP", 800),
    MentionSet(CRAFT, "GO_CC", "GO_CC", 600),
    MentionSet(CRAFT, "MONDO", "MONDO", 500),
    MentionSet("tmvar", GENES, "GENE", 700),
    MentionSet("nlmgene", GENES, "GENE", 900),
    MentionSet("biored", GENES, "GENE", 900),
    MentionSet("gnormplus", GENES, "GENE", 900),
    MentionSet("bioid", SHIPPED, "CELL_LINE", 600),
    MentionSet("linnaeus", SHIPPED, "SPECIES", 400),
    MentionSet("s800", SHIPPED, "SPECIES", 500),
)
FOREIGN = (
    MentionSet("cdr", "CTD", "CHEMICAL", 250, is_foreign=True),
    MentionSet("cdr", "HPO", "CHEMICAL", 250, is_foreign=True),
    MentionSet("cdr", "CHEBI", "DISEASE", 250, is_foreign=True),
    MentionSet("drugs", MESH, "CHEMICAL", 600, is_foreign=True),
    MentionSet("stems", MESH, "CHEMICAL", 300, is_foreign=True),
)
SETS = (
    *CLEAN,
    *FOREIGN,
    *(replace(s, holes=0.3, most=min(s.most, 500)) for s in CLEAN if s.kb != SHIPPED),
    *(replace(s, noise="typo:1", most=300) for s in CLEAN[:14]),
    *(replace(s, noise="typo:2", most=120) for s in CLEAN[:8]),
    *(replace(s, noise="mixed:1", most=150) for s in CLEAN[:8]),
)
# Looked at once, for docs/notebook/ranker.md.
HELD = (
    *(MentionSet("craft_dev", s.kb, s.label, 10_000) for s in CLEAN if s.corpus == CRAFT),
    *(
        MentionSet("craft_dev", s.kb, s.label, 10_000, holes=0.3)
        for s in CLEAN
        if s.corpus == CRAFT
    ),
    MentionSet("drugs_held", SHIPPED, "CHEMICAL", 600, is_foreign=True),
)


@dataclass(frozen=True)
class Item:
    """A mention: its set, its document, what was found for it, and its right concepts that the
    vocabulary has."""

    of: MentionSet
    doc_id: str
    label: str
    found: MentionCandidates
    gold: frozenset[str]


@app.command()
def collect(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora and vocabularies.")],
    output: Annotated[Path, typer.Argument(help="Folder for a file a set.")],
    part: Annotated[str, typer.Option(help="Vocabularies to collect: `i/n`.")] = "0/1",
    held: Annotated[bool, typer.Option("--held", help="Sets that are looked at once.")] = False,
) -> None:
    """Find the candidates of every mention of every set."""
    import spacy_angel

    output.mkdir(parents=True, exist_ok=True)
    number, parts = map(int, part.split("/"))
    pipelines: dict[bool, Any] = {}
    opened: dict[tuple[str, float], ConceptKB] = {}
    for one in sorted(HELD if held else SETS, key=lambda s: (s.kb, s.holes)):
        file = output / f"{one.key}.jsonl"
        if file.exists() or part_of(f"{one.kb} {one.holes}", parts) != number:
            continue
        is_shipped = one.kb in (SHIPPED, GENES)
        if is_shipped not in pipelines:
            name = "en_angel_bio" if is_shipped else "en_angel_mini"
            pipelines[is_shipped] = spacy_angel.load(name, dtype="int8")
        nlp = pipelines[is_shipped]
        linker = nlp.get_pipe("angel_linker")
        linker.span_key = GOLD_SPANS
        if not is_shipped:
            linker.types_by_label = {}
            if (one.kb, one.holes) not in opened:
                opened = {(one.kb, one.holes): vocabulary(data, one.kb, one.holes)}
            linker.kb = opened[one.kb, one.holes]
        documents = list(chosen(data, one))
        others = [name for name in nlp.pipe_names if name not in BEFORE]
        docs = list(nlp.pipe((to_doc(d, nlp) for d in documents), disable=others))
        n = 0
        with replacing(file) as lines:
            for document, doc in zip(documents, docs, strict=True):
                for item in linker.calibration_items([doc]):
                    if item.found is not None:
                        found, gold = item.found, set() if one.is_foreign else set(item.gold)
                        if is_shipped and one.holes:
                            ids = {*gold, *(c for name in found.names for c in name.concepts)}
                            gone = {c for c in ids if _is_hole(c, one.holes)}
                            found, gold = found.without(gone), gold - gone
                        plain = {"doc": document.doc_id, "label": item.label, "gold": sorted(gold)}
                        plain |= _plain(found)
                        lines.write(json.dumps(plain).encode() + b"\n")
                        n += 1
        typer.echo(f"{one.key}: {n} mentions")


@app.command()
def fit(
    folder: Annotated[Path, typer.Argument(help="What `collect` wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON of the weights.")],
    leave_out: Annotated[list[str] | None, typer.Option(help="Vocabularies, e.g. `CL`.")] = None,
) -> None:
    """Fit the weights on all sets, or without those of some vocabularies."""
    fit_ranker(read(folder), leave_out or ()).to_disk(output)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="What `collect` wrote.")],
    ranker: Annotated[Path | None, typer.Option(help="Measure this one; fit nothing.")] = None,
    held: Annotated[bool, typer.Option("--held", help="The sets that are looked at once.")] = False,
) -> None:
    """Print a table: each vocabulary by weights that were fitted without it, and each document by
    weights of the others."""
    items = read(folder, HELD if held else SETS)
    if ranker is not None:
        one = Ranker.from_disk(ranker)
        _print_table("measured", items, [one] * len(items))
        return
    if held:
        fitted = read(folder)
        by_kb = {kb: fit_ranker(fitted, [kb]) for kb in sorted({i.of.kb for i in items})}
        _print_table("vocabulary left out", items, [by_kb[item.of.kb] for item in items])
        return
    groups = sorted({SAME.get(item.of.kb, item.of.kb) for item in items})
    left_out = {group: fit_ranker(items, [group]) for group in groups}
    _print_table(
        "vocabulary left out", items, [left_out[SAME.get(i.of.kb, i.of.kb)] for i in items]
    )
    folds = [part_of("fold" + item.doc_id, FOLDS) for item in items]
    by_fold = [
        fit_ranker([item for item, own in zip(items, folds, strict=True) if own != fold])
        for fold in range(FOLDS)
    ]
    _print_table("documents left out", items, [by_fold[fold] for fold in folds])


def fit_ranker(items: Sequence[Item], leave_out: Iterable[str] = ()) -> Ranker:
    """items (Sequence[Item]): of all sets. leave_out (Iterable[str]): vocabularies.
    RETURNS (Ranker): fitted on the others; the types of `OWN` have weights of their own."""
    out = {SAME.get(kb, kb) for kb in leave_out}
    used = [item for item in items if SAME.get(item.of.kb, item.of.kb) not in out]
    apart = {label for own in OWN.values() if own.is_apart for label in own.labels}
    general = [item for item in used if item.of.label not in apart]
    every = fit_weights(_weighted(general, WEIGHT_OF_DRUGS), no_weights())
    by_type, shares = {}, {ALL: _nil_share(general)}
    for kind, own in OWN.items():
        labelled = [i for i in used if i.of.label in own.labels]
        some = _weighted(labelled, own.drugs)
        if some:
            by_type[kind] = _rounded(fit_weights(some, every, penalty=own.penalty))
            shares[kind] = _nil_share(labelled)
    return Ranker(_rounded(every), by_type, shares)


def _weighted(items: Sequence[Item], drugs: float) -> list[FitItem]:
    """drugs (float): how much each unknown drug counts. RETURNS (list[FitItem]): of a set each
    counts the less the more there are, so that a large set does not decide alone; 1 in the mean."""
    sizes = Counter(item.of.key for item in items)
    weights = [
        (drugs if item.of.corpus in DRUGS else item.of.weight) / sizes[item.of.key] ** 0.5
        for item in items
    ]
    mean = sum(weights) / max(len(weights), 1)
    return [
        FitItem(item.found, item.gold, weight / mean)
        for item, weight in zip(items, weights, strict=True)
    ]


def _nil_share(items: Sequence[Item]) -> float:
    """RETURNS (float): share of mentions without a concept; unknown drugs, of which there are far
    more than in texts, do not count."""
    some = _weighted([item for item in items if item.of.corpus not in DRUGS], 0.0)
    return round(sum(i.weight for i in some if not i.gold) / max(sum(i.weight for i in some), 1), 3)


def read(folder: Path, sets: Sequence[MentionSet] = SETS) -> list[Item]:
    """RETURNS (list[Item]): of every set that was collected."""
    items = []
    for one in sets:
        file = folder / f"{one.key}.jsonl"
        for line in file.read_text(encoding="utf8").splitlines() if file.exists() else ():
            plain = json.loads(line)
            gold = frozenset(plain["gold"])
            items.append(Item(one, plain["doc"], plain["label"], _found(plain), gold))
    return items


def part_of(text: str, parts: int) -> int:
    """RETURNS (int): the part, from 0, that a text belongs to, the same everywhere."""
    return int(hashlib.md5(text.encode()).hexdigest(), 16) % parts


def share_of(text: str) -> float:
    """RETURNS (float): a number from 0 to 1 that belongs to the text, the same everywhere."""
    return part_of(text, 1000) / 1000


def vocabulary(data: Path, name: str, holes: float) -> ConceptKB:
    """RETURNS (ConceptKB): of a key of `VOCABULARIES`, without a share of its concepts."""
    concepts = _concepts(data / VOCABULARIES[name])
    return ConceptKB.build(c for c in concepts if not _is_hole(c.concept_id, holes))


def _is_hole(concept_id: str, holes: float) -> bool:
    return share_of("hole" + concept_id) < holes


def chosen(data: Path, one: MentionSet) -> Iterator[CorpusDocument]:
    """YIELDS (CorpusDocument): documents with the mentions that count."""
    documents = list(_documents(data, one))
    random.Random(1).shuffle(documents)
    left = one.most
    for document in documents:
        if left <= 0:
            return
        seen: dict[str, int] = {}
        mentions = []
        for mention in document.mentions:
            seen[mention.text.lower()] = seen.get(mention.text.lower(), 0) + 1
            is_own = mention.label in LABELS.get(one.label, (one.label,))
            if is_own and seen[mention.text.lower()] <= MOST_OF_A_TEXT:
                mentions.append(_labelled(mention, one))
        if not mentions:
            continue
        document = replace(document, mentions=tuple(mentions[:left]))
        left -= len(document.mentions)
        if one.noise:
            kind, edits = one.noise.split(":")
            document = noisy_document(document, kind, int(edits))
        yield document


def _labelled(mention: GoldMention, one: MentionSet) -> GoldMention:
    prefix = PREFIXES.get(one.label, "")
    ids = REMARK.sub("", mention.concept_ids)
    ids = re.sub(r"(?<![\w:])(?=\d)", prefix, ids) if prefix else ids
    label = mention.label if one.corpus.startswith(CRAFT) else one.label
    return replace(mention, label=label, concept_ids=ids)


def _documents(data: Path, one: MentionSet) -> Iterator[CorpusDocument]:
    if one.corpus.startswith(CRAFT):
        name = "craft_dev" if one.corpus == "craft_dev" else "craft_train"
        yield from craft_documents(data, name, one.label)
    elif one.corpus == "gsc":
        # the other half was learned from
        documents = read_corpus(data / CORPORA["gsc"], "gsc", strict=False)
        yield from (d for d in documents if part_of(d.doc_id, GSC_PARTS) == 0)
    elif one.corpus in ("drugs", "drugs_held"):
        is_held = one.corpus == "drugs_held"
        names = [n for n in unknown_drugs(data) if (share_of("drug" + n) >= 0.5) == is_held]
        yield from with_drugs(data, names)
    elif one.corpus == "stems":
        yield from with_drugs(data, made_up_drugs())
    else:
        others = (
            [*TRAINED_ON, *(CORPORA[c] for c in ("ncbi", "cdr"))]
            if one.corpus
            in (
                "biored",
                "tmvar",
            )
            else []
        )
        others += [CORPORA["tmvar"]] if one.corpus == "biored" else []
        seen = {d.doc_id for other in others for d in _pubtator(data / other)}
        for document in _pubtator(data / CORPORA[one.corpus]):
            is_left_out = (
                one.corpus == "biored" and part_of(document.doc_id, BIORED_PARTS) >= BIORED_UNSEEN
            ) or (
                one.corpus in ("nlmgene", "gnormplus") and not part_of(document.doc_id, GENE_PARTS)
            )
            if not is_left_out and document.doc_id not in seen:
                yield document


def unknown_drugs(data: Path) -> list[str]:
    """RETURNS (list[str]): DrugBank's drugs of one word of which MeSH has no name, of 2019 or 2024,
    descriptors or supplementary."""
    known = {normalize_name(n) for c in _concepts(data / VOCABULARIES[MESH]) for n in c.names}
    for table in (
        "more/vocab/mesh_2024_descriptors.tsv.gz",
        "vocab/chemical/mesh_supplementary_names_partial.tsv.gz",
    ):
        with gzip.open(data / table, "rt", encoding="utf8") as lines:
            cells = chain.from_iterable(re.split(r"[\t|]", line.rstrip("\n")) for line in lines)
            known |= {normalize_name(cell) for cell in cells}
    drugs = set()
    with gzip.open(data / "vocab/chemical/drugbank_vocabulary_CC0.csv.gz") as stream:
        for row in csv.DictReader(io.TextIOWrapper(stream, "utf8")):
            name = row["Common name"]
            names = [name, *filter(None, row["Synonyms"].split(" | "))]
            is_word = name.isalpha() and name.isascii() and len(name) >= LEAST_DRUG
            if is_word and known.isdisjoint(map(normalize_name, names)):
                drugs.add(name.lower())
    return sorted(drugs)


def made_up_drugs(n: int = 400) -> list[str]:
    """RETURNS (list[str]): syllables and stems, the same each time."""
    rng = random.Random(7)
    names = {
        "".join(rng.choices(SYLLABLES, k=rng.randint(2, 3))) + rng.choice(STEMS) for _ in range(n)
    }
    return sorted(names)


def with_drugs(data: Path, names: Sequence[str]) -> Iterator[CorpusDocument]:
    """YIELDS (CorpusDocument): of BC5CDR, with each chemical that a document names replaced by
    another of the names, the same one in all places; the first of them is its mention."""
    shuffled = random.Random(3).sample(names, len(names))
    left = iter(shuffled)
    for document in _pubtator(data / CORPORA["cdr"]):
        given: dict[str, str] = {}
        mentions: dict[str, GoldMention] = {}
        text, end = "", 0
        for mention in sorted(document.mentions, key=lambda m: m.start):
            if mention.label not in LABELS["CHEMICAL"] or mention.start < end:
                continue
            name = given.get(mention.text.lower()) or next(left, None)
            if name is None:
                return
            given[mention.text.lower()] = name
            text += document.text[end : mention.start]
            own = GoldMention(len(text), len(text) + len(name), name, "Chemical", "")
            mentions.setdefault(name, own)
            text, end = text + name, mention.end
        if mentions:
            text += document.text[end:]
            yield CorpusDocument(document.doc_id, text, tuple(mentions.values()))


def _concepts(path: Path) -> Iterator[Concept]:
    if path.suffix == ".zip":
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(path) as archive:
            (name,) = (n for n in archive.namelist() if n.endswith(".obo"))
            yield from read_vocabulary(Path(archive.extract(name, folder)))
    elif path.name.startswith(("clulab", "mondo")):
        yield from _table(path)
    else:
        yield from read_vocabulary(path)


def _table(path: Path) -> Iterator[Concept]:
    """A table of names and identifiers, in one order or the other, grouped."""
    names: dict[str, list[str]] = {}
    with gzip.open(path, "rt", encoding="utf8") as lines:
        for line in lines:
            first, second, *_ = [*line.rstrip("\n").split("\t"), ""]
            name, concept_id = (second, first) if path.name.startswith("mondo") else (first, second)
            if ":" in concept_id and name:
                names.setdefault(concept_id, []).append(name)
    for concept_id, (first, *others) in names.items():
        yield Concept(concept_id, first, tuple(others))


def _pubtator(path: Path) -> Iterator[CorpusDocument]:
    return iter(read_corpus(path, "pubtator", strict=False))


def craft_documents(data: Path, name: str, label: str) -> Iterator[CorpusDocument]:
    """data (Path), name (str): `craft_train` or `craft_dev`. label (str): an ontology. YIELDS
    (CorpusDocument): with its mentions in one piece."""
    with gzip.open(data / f"craft/{name}.jsonl.gz", "rt", encoding="utf8") as lines:
        for line in lines:
            document = json.loads(line)
            mentions = [
                GoldMention(start, end, document["text"][start:end], label, concept_id)
                for own, concept_id, spans in document["mentions"]
                for start, end in spans
                if own == label and concept_id and len(spans) == 1
            ]
            yield CorpusDocument(document["id"], document["text"], tuple(mentions))


def _plain(found: MentionCandidates) -> dict[str, Any]:
    plain = asdict(found)
    plain["coherent"] = sorted(found.coherent)
    for name in plain["names"]:
        for key in ("canonical", "same_case", "second"):
            name[key] = sorted(name[key])
    return plain


def _found(plain: dict[str, Any]) -> MentionCandidates:
    names = []
    for name in plain["names"]:
        values: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in name.items()
        }
        values |= {key: frozenset(name[key]) for key in ("canonical", "same_case", "second")}
        values |= {
            "similarity": Similarity(*name["similarity"]),
            "alignment": Alignment(*name["alignment"]),
        }
        names.append(CandidateName(**values))
    return MentionCandidates(plain["mention"], tuple(names), frozenset(plain["coherent"]))


def _rounded(weights: Weights) -> Weights:
    return Weights(
        *(
            {name: round(value, 3) for name, value in table.items()}
            for table in (
                weights.concept,
                weights.link,
            )
        )
    )


def _print_table(title: str, items: Sequence[Item], rankers: Sequence[Ranker]) -> None:
    """A line a set: mentions; of those with a concept right first, and right as written; of the
    others linked; expected calibration error; and of a set with holes what is lost as written where
    a tenth of those without a concept are linked."""
    typer.echo(f"\n{title}\n")
    typer.echo("| set | mentions | strict | as written | false links | ECE | lost at 10 % |")
    typer.echo("|---|--:|--:|--:|--:|--:|--:|")
    rows: dict[str, list[tuple[float, bool, bool]]] = {}
    for item, ranker in zip(items, rankers, strict=True):
        kinds = (kind for kind, own in OWN.items() if item.of.label in own.labels)
        concepts = ranker.rank(item.found, next(kinds, item.label)).concepts
        top = concepts[0] if concepts else None
        answer = (top.probability, top.concept_id in item.gold) if top else (0.0, False)
        rows.setdefault(item.of.key, []).append((*answer, bool(item.gold)))
    for key, some in rows.items():
        p, right, inside = (np.array(column) for column in zip(*some, strict=True))
        strict, written = _share(right[inside]), _share((right & (p >= 0.5))[inside])
        false = _share((p >= 0.5)[~inside])
        lost = ""
        if "holes" in key and inside.any() and not inside.all():
            limit = np.sort(p[~inside])[::-1][int(0.1 * (~inside).sum())]
            lost = f"{strict - _share((right & (p > limit))[inside]):.1f}"
        error = calibration_error(p.tolist(), right.tolist())
        typer.echo(
            f"| {key} | {len(some)} | {strict:.1f} | {written:.1f} | {false:.1f} | {error:.1f} "
            f"| {lost} |"
        )


def _share(some: np.ndarray) -> float:
    return 100 * float(some.mean()) if len(some) else float("nan")


if __name__ == "__main__":
    app()
