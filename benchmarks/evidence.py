"""Fit the weights of the evidence on several corpora and vocabularies, and say what they are worth.

    python benchmarks/evidence.py collect DATA evidence [--model FOLDER]
    python benchmarks/evidence.py fit evidence -o weights.json
    python benchmarks/evidence.py report evidence --weights weights.json

DATA holds `ncbi-disease/`, `bc5cdr/`, `aioner/`, `craft/`, `hpo_gsc/`, `medic/`, `mesh/` and
`vocab/`. `collect` keeps what the search and the letters find for each mention, one file a set;
a set that has its file is not collected again. `fit` chooses by cross-validation over documents and
prints it, one vocabulary left out in turn as well; it sees two thirds of the documents. `report`
measures the last third, which is for one look.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.optimize import minimize

from spacy_angel.corpora.docs import GOLD_SPANS, to_doc
from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.corpora.noise import Noise, noisy_document
from spacy_angel.corpora.registry import read_corpus
from spacy_angel.files.atomic import replacing, write_text
from spacy_angel.files.reading import open_binary
from spacy_angel.linking.evidence import Evidence, rank_by_evidence
from spacy_angel.linking.evidence_fit import evidence_loss, fit_weights
from spacy_angel.linking.ranking import NIL, Candidate, choose_link
from spacy_angel.linking.weights import DEFAULT_WEIGHTS, FEATURES, GENE_WEIGHTS, NAME_FEATURES
from spacy_angel.vocabulary.concepts import Concept
from spacy_angel.vocabulary.formats.registry import read_vocabulary
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.orthologs import with_names_of_the_same_symbol

app = typer.Typer(add_completion=False, help=__doc__)

MEDIC = "medic/medic_06Jul2012.txt"
CTD = "medic/CTD_diseases_2017-06.tsv.gz"
MESH = "mesh/mesh_2019_descriptors.tsv"
HPO = "vocab/phenotype/hp_2016-04-01.obo.gz"
CHEBI = "vocab/chemical/clulab_chebi.tsv.gz"
NCBI_DEV = "ncbi-disease/NCBIdevelopset_corpus.txt"
CDR_DEV = "bc5cdr/CDR_DevelopmentSet.PubTator.txt"
TMVAR = "aioner/tmVar3_Train.PubTator"
BIORED = "aioner/BioRED_TrainDev.PubTator"
GSC = "hpo_gsc/GSCplus_dev_gold.tsv"
CRAFT = "craft/craft_train.jsonl.gz"
GENES = "vocab/gene"
# Learned from, as most of BioRED's articles with genes are; tmVar3's genes are all a man's. Of ten
# parts the first stays out here as well.
NLM_GENE, NLM_PARTS = "aioner/NLMgene_Train.PubTator", 10
TRAINED_ON = ("ncbi-disease/NCBItrainset_corpus.txt", "bc5cdr/CDR_TrainingSet.PubTator.txt")
DISEASES = frozenset({"Disease", "SpecificDisease", "Modifier", "DiseaseClass", "CompositeMention"})
CHEMICALS = frozenset({"Chemical"})
GENE_LABEL = frozenset({"Gene"})
ALL_LABELS: frozenset[str] = frozenset()
# Of ten parts of BioRED the model that ships was not trained on the first four.
BIORED_PARTS, BIORED_UNSEEN = 10, 4
GSC_PARTS = 2
FOLDS = 4
# Chosen with each corpus of genes left out in turn.
GENE_PENALTY = 3.0
ENDING_FEATURES = ("said_ending", "other_ending", "unsaid_ending", "same_case")
SPECIES = ("Homo_sapiens", "Mus_musculus", "Drosophila_melanogaster", "Danio_rerio")


@dataclass(frozen=True)
class Setting:
    """Mentions of a corpus over a vocabulary.

    corpus (str), kb (str): paths inside DATA.
    labels (frozenset[str]): of the mentions that are taken; empty takes all.
    most (int): mentions taken, the first ones.
    noise (str): as `Noise.name`, `` for none.
    holes (float): share of the vocabulary's concepts that are taken out.
    """

    corpus: str
    kb: str
    labels: frozenset[str]
    most: int
    noise: str = ""
    holes: float = 0.0

    @property
    def key(self) -> str:
        """RETURNS (str): name of its file."""
        kind = {DISEASES: "diseases", CHEMICALS: "chemicals", GENE_LABEL: "genes"}.get(
            self.labels, "all"
        )
        parts = [_stem(self.corpus), kind, _stem(self.kb), self.noise.replace(":", "-")]
        return ".".join([*filter(None, parts), *(["holes"] if self.holes else [])])


CLEAN = (
    Setting(NCBI_DEV, MEDIC, DISEASES, 800),
    Setting(CDR_DEV, CTD, DISEASES, 1500),
    Setting(CDR_DEV, MESH, CHEMICALS, 1500),
    Setting(TMVAR, CTD, DISEASES, 1500),
    Setting(BIORED, CTD, DISEASES, 700),
    Setting(BIORED, MESH, CHEMICALS, 700),
    Setting(GSC, HPO, ALL_LABELS, 300),
    Setting(CRAFT, CHEBI, ALL_LABELS, 900),
    Setting(TMVAR, GENES, GENE_LABEL, 900),
    Setting(NLM_GENE, GENES, GENE_LABEL, 900),
    Setting(BIORED, GENES, GENE_LABEL, 1500),
)
FOREIGN = (
    Setting(CDR_DEV, CTD, CHEMICALS, 350),
    Setting(CDR_DEV, HPO, CHEMICALS, 350),
    Setting(CDR_DEV, CHEBI, DISEASES, 350),
)
SETTINGS = (
    *CLEAN,
    *FOREIGN,
    *(replace(setting, most=600, holes=0.3) for setting in CLEAN[:5]),
    *(replace(setting, most=600, noise="typo:1") for setting in CLEAN[:8]),
    *(replace(setting, most=300, noise="mixed:1") for setting in CLEAN[:6]),
    *(replace(setting, most=300, noise="typo:2") for setting in CLEAN[:6]),
)


@dataclass(frozen=True)
class Item:
    """A mention, what speaks for each candidate, and what is right.

    setting (Setting): where it is from.
    doc_id (str): its document.
    evidence (Evidence): see there.
    gold (frozenset[str]): right identifiers that the vocabulary has.
    """

    setting: Setting
    doc_id: str
    evidence: Evidence
    gold: frozenset[str]


@dataclass(frozen=True)
class Weights:
    """others (dict[str, float]), genes (dict[str, float]): for mentions of genes and all others."""

    others: dict[str, float]
    genes: dict[str, float]

    def of(self, item: Item) -> dict[str, float]:
        """RETURNS (dict[str, float]): those for a mention."""
        return self.genes if item.setting.labels == GENE_LABEL else self.others


SHIPPED_WEIGHTS = Weights(DEFAULT_WEIGHTS, GENE_WEIGHTS)


def share_of(text: str) -> float:
    """RETURNS (float): a number from 0 to 1 that belongs to the text, the same everywhere."""
    return part_of(text, 1000) / 1000


def part_of(text: str, parts: int) -> int:
    """RETURNS (int): the part, from 0, that a text belongs to, the same everywhere."""
    return int(hashlib.md5(text.encode()).hexdigest(), 16) % parts


@app.command()
def collect(
    data: Annotated[Path, typer.Argument(help="Folder of the corpora and vocabularies.")],
    output: Annotated[Path, typer.Argument(help="Folder for a file a set.")],
    model: Annotated[Path | None, typer.Option(help="In place of the one that ships.")] = None,
    part: Annotated[str, typer.Option(help="Sets to collect: `i/n`.")] = "0/1",
) -> None:
    """Search every mention of every set."""
    import spacy_angel

    output.mkdir(parents=True, exist_ok=True)
    nlp = spacy_angel.load(model=model, dtype="int8", evidence=True, correct_spelling=True)
    linker: Any = nlp.get_pipe("angel_linker")
    linker.settings = replace(linker.settings, types_by_label={}, span_key=GOLD_SPANS)
    number, parts = map(int, part.split("/"))
    vocabularies: dict[tuple[str, float], ConceptKB] = {}
    for setting in sorted(SETTINGS, key=lambda s: (s.kb, s.holes))[number::parts]:
        file = output / f"{setting.key}.jsonl"
        if file.exists():
            continue
        key = setting.kb, setting.holes
        if key not in vocabularies:
            vocabularies = {key: vocabulary(data / setting.kb, setting.holes)}
        linker.kb = vocabularies[key]
        documents = chosen(data, setting)
        docs = [to_doc(document, nlp) for document in documents]
        docs = list(nlp.pipe(docs, disable=["ner", "angel_misspelled", "angel_linker"]))
        n = 0
        with replacing(file) as lines:
            for document, doc in zip(documents, docs, strict=True):
                for item in linker.calibration_items([doc]):
                    if item.evidence is not None:
                        lines.write(json.dumps(_plain(document.doc_id, item)).encode() + b"\n")
                        n += 1
        typer.echo(f"{setting.key}: {n} mentions")


@app.command()
def fit(
    folder: Annotated[Path, typer.Argument(help="What `collect` wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSON of the weights.")],
) -> None:
    """Cross-validate over documents, leave a vocabulary out in turn, then fit on all."""
    items = [item for item in read(folder) if share_of("held" + item.doc_id) < 2 / 3]
    folds = np.array([int(FOLDS * share_of("fold" + item.doc_id)) for item in items])
    guessed: list[dict[str, float]] = [{}] * len(items)
    for fold in range(FOLDS):
        fitted = _fit([item for item, own in zip(items, folds, strict=True) if own != fold])
        for i in np.flatnonzero(folds == fold):
            guessed[i] = fitted.of(items[i])
    typer.echo(f"cross-validated, {len(items):,} mentions")
    _print_table(items, guessed)
    typer.echo("\nvocabulary left out: right of those linked at a coverage of 60, 70, 80, 90 %")
    for kb in sorted({setting.kb for setting in CLEAN}):
        others = {MEDIC, CTD} if kb in (MEDIC, CTD) else {kb}
        weights = _fit([item for item in items if item.setting.kb not in others])
        left_out = [item for item in items if item.setting in CLEAN and item.setting.kb == kb]
        shares = precision_at_coverage(left_out, weights, (0.6, 0.7, 0.8, 0.9))
        typer.echo(f"{_stem(kb):24} {len(left_out):5}  " + "  ".join(f"{s:.1f}" for s in shares))
    rounded = {
        kind: {name: round(value, 3) for name, value in weights.items()}
        for kind, weights in asdict(_fit(items)).items()
    }
    write_text(output, json.dumps(rounded, indent=2) + "\n")


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="What `collect` wrote.")],
    weights: Annotated[Path | None, typer.Option(help="Those that ship if not given.")] = None,
) -> None:
    """Measure the documents that `fit` does not see."""
    items = [item for item in read(folder) if share_of("held" + item.doc_id) >= 2 / 3]
    values = Weights(**json.loads(weights.read_text())) if weights else SHIPPED_WEIGHTS
    _print_table(items, [values.of(item) for item in items])


def chosen(data: Path, setting: Setting) -> list[CorpusDocument]:
    """RETURNS (list[CorpusDocument]): documents of a set with the mentions that count, none of them
    trained on."""
    documents = []
    left = setting.most
    for document in _documents(data, setting.corpus):
        mentions = [m for m in document.mentions if not setting.labels or m.label in setting.labels]
        if left <= 0:
            break
        if mentions:
            document = replace(document, mentions=tuple(mentions[:left]))
            left -= len(document.mentions)
            if setting.noise:
                kind, edits = setting.noise.split(":")
                document = noisy_document(document, Noise(kind, int(edits)))
            documents.append(document)
    return documents


def vocabulary(path: Path, holes: float) -> ConceptKB:
    """RETURNS (ConceptKB): of a file, without a share of its concepts."""
    if path.is_dir():
        genes = (read_vocabulary(path / f"{name}.gene_info.gz") for name in SPECIES)
        every = with_names_of_the_same_symbol(chain.from_iterable(genes))
        return ConceptKB.build(every, endings="species")
    concepts = _clulab(path) if path.name.startswith("clulab") else read_vocabulary(path)
    return ConceptKB.build(c for c in concepts if share_of("hole" + c.concept_id) >= holes)


def read(folder: Path) -> list[Item]:
    """RETURNS (list[Item]): of every set that was collected."""
    items = []
    for setting in SETTINGS:
        file = folder / f"{setting.key}.jsonl"
        for line in file.read_text(encoding="utf8").splitlines() if file.exists() else ():
            plain = json.loads(line)
            gold = frozenset() if setting in FOREIGN else frozenset(plain["gold"])
            evidence = Evidence(
                tuple(Candidate(*candidate) for candidate in plain["candidates"]),
                np.array(plain["features"], dtype=float).reshape(-1, len(NAME_FEATURES)),
                np.array(plain["nothing"]),
                np.array(plain["shares"]),
                plain["own"],
                plain["obeyed"],
            )
            items.append(Item(setting, plain["doc_id"], evidence, gold))
    return items


def precision_at_coverage(
    items: Sequence[Item], weights: "Weights", coverages: Sequence[float]
) -> list[float]:
    """RETURNS (list[float]): per cent right among the most probable links."""
    answers = [_answer(item, weights.of(item)) for item in items]
    answers.sort(key=lambda answer: -answer[0])
    right = np.array([float(is_right) for _, is_right, _ in answers])
    return [100 * float(right[: max(round(share * len(right)), 1)].mean()) for share in coverages]


def calibration_error(probabilities: np.ndarray, right: np.ndarray, bins: int = 10) -> float:
    """RETURNS (float): expected calibration error in points."""
    which = np.minimum((probabilities * bins).astype(int), bins - 1)
    gaps = [
        abs(right[which == b].mean() - probabilities[which == b].mean()) * (which == b).mean()
        for b in np.unique(which)
    ]
    return 100 * float(sum(gaps))


def _fit(items: Sequence[Item]) -> Weights:
    """Of what the document says of endings only genes tell; the other weights are fitted without
    them, and those for genes, few mentions, are drawn to all these."""
    genes = [(i.evidence, i.gold) for i in items if i.setting.labels == GENE_LABEL]
    others = [(i.evidence, i.gold) for i in items if i.setting.labels != GENE_LABEL]
    weights = fit_weights(others, dict.fromkeys(FEATURES, 0.0))
    if not genes:
        return Weights(weights, weights)

    def loss(values: np.ndarray) -> float:
        own = weights | dict(zip(ENDING_FEATURES, values.tolist(), strict=True))
        return evidence_loss(genes, own) + float(values @ values) / (2 * len(genes))

    fitted = minimize(loss, np.zeros(len(ENDING_FEATURES)), method="Nelder-Mead")
    weights |= dict(zip(ENDING_FEATURES, fitted.x.tolist(), strict=True))
    return Weights(weights, fit_weights(genes, weights, penalty=GENE_PENALTY))


def _answer(item: Item, weights: dict[str, float]) -> tuple[float, bool, bool]:
    """RETURNS (tuple[float, bool, bool]): probability, right, and linked at the limit that
    ships."""
    ranked, _ = rank_by_evidence(item.evidence, weights, obey=True)
    if not ranked:
        return 0.0, False, False
    obeyed = ranked[0].concept_id == item.evidence.own
    linked = obeyed or choose_link(ranked, 0.5) != NIL
    return ranked[0].probability, ranked[0].concept_id in item.gold, linked


def _print_table(items: Sequence[Item], weights: Sequence[dict[str, float]]) -> None:
    typer.echo("| set | mentions | right, of those with a concept | NIL, of the others | ECE |")
    typer.echo("|---|--:|--:|--:|--:|")
    answers = [_answer(item, own) for item, own in zip(items, weights, strict=True)]
    for setting in (*SETTINGS, None):
        own = [i for i, item in enumerate(items) if setting in (None, item.setting)]
        if not own:
            continue
        inside = [answers[i][1] for i in own if items[i].gold]
        nil = [not answers[i][2] for i in own if not items[i].gold]
        probabilities = np.array([answers[i][0] for i in own])
        error = calibration_error(probabilities, np.array([float(answers[i][1]) for i in own]))
        shares = (f"{100 * np.mean(some):.1f}" if some else "–" for some in (inside, nil))
        name = setting.key if setting else "all"
        typer.echo(f"| {name} | {len(own):,} | {' | '.join(shares)} | {error:.1f} |")


def _plain(doc_id: str, item: Any) -> dict[str, Any]:
    evidence = item.evidence
    return {
        "doc_id": doc_id,
        "gold": sorted(item.gold),
        "candidates": [[c.concept_id, c.name, c.score, c.log_prob] for c in evidence.candidates],
        "features": np.round(evidence.features, 5).ravel().tolist(),
        "nothing": np.round(evidence.nothing, 5).tolist(),
        "shares": evidence.shares.tolist(),
        "own": evidence.own,
        "obeyed": evidence.obeyed,
    }


def _documents(data: Path, corpus: str) -> Iterator[CorpusDocument]:
    if corpus == CRAFT:
        yield from _craft(data / corpus)
    elif corpus == GSC:
        # the other half was learned from
        yield from (d for d in _gsc(data / corpus) if part_of(d.doc_id, GSC_PARTS) == 0)
    elif corpus == NLM_GENE:
        yield from (d for d in _pubtator(data / corpus) if part_of(d.doc_id, NLM_PARTS))
    elif corpus in (BIORED, TMVAR):
        own = (*TRAINED_ON, NCBI_DEV, CDR_DEV, *([TMVAR] if corpus == BIORED else []))
        seen = {d.doc_id for other in own for d in _pubtator(data / other)}
        for document in _pubtator(data / corpus):
            part = part_of(document.doc_id, BIORED_PARTS)
            is_unseen = corpus == TMVAR or part < BIORED_UNSEEN
            if is_unseen and document.doc_id not in seen:
                yield document
    else:
        yield from _pubtator(data / corpus)


def _pubtator(path: Path) -> Iterator[CorpusDocument]:
    for document in read_corpus(path, "pubtator", strict=False):
        mentions = [
            replace(m, concept_ids=re.sub(r"\b(?=\d)", "NCBIGene:", m.concept_ids))
            if m.label in GENE_LABEL
            else m
            for m in document.mentions
        ]
        yield replace(document, mentions=tuple(mentions))


def _craft(path: Path) -> Iterator[CorpusDocument]:
    """Mentions of ChEBI in one piece, a text of a document twice at most."""
    with open_binary(path) as stream, closing(stream):
        for line in stream:
            document = json.loads(line)
            taken: dict[str, int] = {}
            mentions = []
            for label, concept_id, spans in document["mentions"]:
                text = document["text"][spans[0][0] : spans[0][1]]
                taken[text.lower()] = taken.get(text.lower(), 0) + 1
                if label == "CHEBI" and concept_id and len(spans) == 1 and taken[text.lower()] < 3:
                    start, end = spans[0]
                    mentions.append(GoldMention(start, end, text, label, concept_id))
            yield CorpusDocument(document["id"], document["text"], tuple(mentions))


def _gsc(path: Path) -> Iterator[CorpusDocument]:
    for block in path.read_text(encoding="utf8").split("\n\n"):
        doc_id, text, *rows = [*block.strip("\n").split("\n"), "", ""][: block.count("\n") + 2]
        cells = [row.split("\t") for row in rows if row.count("\t") >= 3]
        mentions = [
            GoldMention(int(start), int(end), text[int(start) : int(end)], "Phenotype", hpo)
            for start, end, _, hpo, *_ in cells
            if hpo.startswith("HP:")
        ]
        yield CorpusDocument(doc_id, text, tuple(mentions))


def _clulab(path: Path) -> Iterator[Concept]:
    """A table of name and identifier, grouped."""
    names: dict[str, list[str]] = {}
    with open_binary(path) as stream, closing(stream):
        for line in stream:
            name, concept_id, *_ = line.decode().rstrip("\r\n").split("\t")
            if ":" in concept_id:
                names.setdefault(concept_id, []).append(name)
    for concept_id, (first, *others) in names.items():
        yield Concept(concept_id, first, tuple(others))


def _stem(path: str) -> str:
    return Path(path).name.split(".")[0]


if __name__ == "__main__":
    app()
