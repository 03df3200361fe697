"""Train the encoder of names that the linker compares mentions with.

    python scripts/name_encoder.py train DATA MINILM WORK
    python scripts/name_encoder.py save WORK spacy_angel/data/name_encoder

DATA holds the vocabularies (`vocab/`, `more/`, `medic/`, `doid/`), the lay language (`aap/`,
`psytar/`) and the raw texts (`raw_text/`) named below. MINILM is the unpacked folder of
`sentence-transformers/all-MiniLM-L6-v2` (Apache 2.0).

The student keeps four of MiniLM's six layers and the word pieces that biomedical names and everyday
phrases use. It first imitates the whole of MiniLM, then learns synonyms: two names of a concept
should be closer to each other than to the names of similar concepts of the same vocabulary
(cross-entropy with in-batch and near negatives; SapBERT, Liu et al. 2021, section 2.2), and one
scale for all vocabularies tells synonyms from other pairs (the sigmoid loss of SigLIP, Zhai et al.
2023, section 3.2). Everyday phrases keep the neighbors that MiniLM gives them.

None of the vocabularies PO, ZFA, PATO, ECO, BTO and CL is used: the linker is measured on them.
"""

import csv
import gzip
import hashlib
import json
import lzma
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from scipy import sparse
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, normalize
from transformers import BertModel, BertTokenizerFast

from spacy_angel.model.linear import quantize_weight
from spacy_angel.model.name_encoder import STATIC
from spacy_angel.model.weights import SCALE_SUFFIX, SHARED, write_weights
from spacy_angel.vocabulary.names.concepts import normalize_name
from spacy_angel.vocabulary.sources.formats.registry import read_vocabulary

app = typer.Typer(add_completion=False, help=__doc__)

READ = {
    "HPO": "vocab/phenotype/hp_2016-04-01.obo.gz",
    "UBERON": "vocab/anatomy/uberon-basic_2015-04-23.obo.gz",
    "DOID": "doid/doid.obo",
    "CTD": "medic/CTD_diseases_2017-06.tsv.gz",
}
# Column of the identifier, and those of names.
TABLES = {
    "MESH": ("more/vocab/mesh_2024_descriptors.tsv.gz", 0, (1, 2)),
    "MONDO": ("more/ontologies/MONDO_2026_synonyms.tsv.gz", 0, (1, 2)),
    "ICD10CM": ("more/ontologies/ICD10CM_2026.tsv.gz", 0, (1, 2)),
    "GARD": ("vocab/disease/gard_synonyms.tsv.gz", 1, (0, 2)),
    "DRUGCENTRAL": ("vocab/chemical/drugcentral_54_synonyms.tsv.gz", 1, (0,)),
    "GO_BP": ("vocab/go/clulab_bio_process.tsv.gz", 1, (0,)),
    "GO_CC": ("vocab/go/clulab_GO-subcellular-locations.tsv.gz", 1, (0,)),
    "FAMILY": ("vocab/gene/clulab_ProteinFamilies.tsv.gz", 1, (0,)),
    "GENE": ("vocab/gene/Homo_sapiens.gene_info.gz", 1, (2, 4, 8)),
    "LAY": ("vocab/phenotype/hpo_layperson-synonyms.tsv.gz", 0, (1, 2)),
    "ASK": ("aap/AskAPatient.fold-0.train.txt", 0, (1, 2)),
}
GRAPHS = {
    "NCIT": "vocab/disease/ncit-disease-2018-06-08.json.gz",
    "ORDO": "vocab/disease/ordo-2_6-2018-07-12.json.gz",
}
MENTIONS = ("medmentions/st21pv_train.rebuilt.pubtator.gz",)
TEXTS = "raw_text/bmc_abstracts.txt.xz"
POSTS = "psytar/all_train.txt.gz"

LAYERS = (0, 1, 3, 5)
N_PIECES = 10_240
MAX_LENGTH = 24
MAX_NAMES = 24
"""Names of a concept that are used, chosen at random."""
N_PHRASES = 60_000
N_STATIC, STATIC_WIDTH, RIDGE = 250_000, 128, 0.3
DISTILL_BATCH, DISTILL_RATE = 384, 4e-4
SEEDS, NEIGHBORS, PHRASES = 20, 7, 32
TEMPERATURE, RATE = 0.05, 1.5e-4
SIGMOID_WEIGHT, KEEP_WEIGHT = 0.25, 0.5
SCALE, SYNONYM = 10.0, 0.6
"""Of the sigmoid loss: two names with a greater cosine than `SYNONYM` are taken for synonyms."""
MINE_EVERY, SAVE_EVERY, LOG_EVERY = 400, 100, 20
CYCLES = "1400 900"
SEED = 1
HELD_OUT = 8
"""One concept in so many is not learned, nor are its names as names of other concepts: a ranker
can be fitted on them as on names that the encoder has never seen."""


@app.command()
def train(
    data: Annotated[Path, typer.Argument(help="Folder of the vocabularies and texts.")],
    minilm: Annotated[Path, typer.Argument(help="Unpacked all-MiniLM-L6-v2.")],
    work: Annotated[Path, typer.Argument(help="Folder of checkpoints; a run goes on there.")],
    distill_steps: Annotated[int, typer.Option(help="Updates of imitation.")] = 300,
    cycles: Annotated[str, typer.Option(help="Updates on synonyms before each restart.")] = CYCLES,
) -> None:
    """Train the student; an interrupted run starts again from its last checkpoint."""
    random.seed(SEED)
    torch.manual_seed(SEED)
    work.mkdir(parents=True, exist_ok=True)
    if not (work / "synonyms.json").exists():
        names = synonyms(data)
        phrases = everyday_phrases(data, N_PHRASES)
        (work / "synonyms.json").write_text(json.dumps([names, phrases]), encoding="utf8")
    vocabularies, phrases = json.loads((work / "synonyms.json").read_text(encoding="utf8"))
    every = [n for concepts in vocabularies for names in concepts for n in names]
    typer.echo(
        f"{len(vocabularies)} vocabularies, {sum(map(len, vocabularies))} concepts, "
        f"{len(every)} names, {len(phrases)} phrases"
    )
    teacher = Encoder(
        BertModel.from_pretrained(minilm, add_pooling_layer=False, attn_implementation="eager"),
        BertTokenizerFast.from_pretrained(minilm),
    )
    if not (work / "start" / "model.safetensors").exists():
        cut(teacher, [*random.sample(every, 150_000), *phrases], work / "start")
    student = Encoder.from_disk(work / "start")
    distill(student, teacher, [*every, *phrases], work / "distilled", distill_steps)
    learn(student, teacher, vocabularies, phrases, work / "trained", [*map(int, cycles.split())])


@app.command()
def save(
    work: Annotated[Path, typer.Argument(help="What `train` wrote.")],
    output: Annotated[Path, typer.Argument(help="Folder to write, e.g. of the package's data.")],
) -> None:
    """Fit the static vectors of the word pieces, and write both in int8."""
    random.seed(SEED)
    vocabularies, phrases = json.loads((work / "synonyms.json").read_text(encoding="utf8"))
    every = [n for concepts in vocabularies for names in concepts for n in names]
    student = Encoder.from_disk(work / "trained")
    texts = [*random.sample(every, N_STATIC), *phrases]
    pieces, targets = student.static_vectors(texts, student.embed(texts))
    typer.echo(f"cosine of static vectors with the encoder's: {targets:.3f}")
    weights = {}
    for name, tensor in {**bart_names(student.model), STATIC: pieces}.items():
        if tensor.dim() == 2 and "embed_positions" not in name:
            weights[name], weights[name + SCALE_SUFFIX] = quantize_weight(tensor)
        else:
            weights[name] = tensor
    output.mkdir(parents=True, exist_ok=True)
    write_weights(output, weights)
    config = student.model.config
    shape = {
        "d_model": config.hidden_size,
        "encoder_layers": config.num_hidden_layers,
        "encoder_attention_heads": config.num_attention_heads,
        "activation_function": config.hidden_act,
        "scale_embedding": False,
    }
    (output / "config.json").write_text(json.dumps(shape, indent=1) + "\n", encoding="utf8")
    by_piece = student.tokenizer.get_vocab()
    vocabulary = "\n".join(sorted(by_piece, key=by_piece.__getitem__)) + "\n"
    (output / "vocab.txt").write_text(vocabulary, encoding="utf8")


def bart_names(model: BertModel) -> dict[str, torch.Tensor]:
    """RETURNS (dict[str, Tensor]): the weights under the names of BART's encoder, which has the
    same layers: the embedding of the only segment is part of the positions', which begin at 2."""
    state = {name: tensor.detach() for name, tensor in model.state_dict().items()}
    embeddings = "embeddings."
    positions = state[embeddings + "position_embeddings.weight"][: MAX_LENGTH + 8]
    positions = positions + state[embeddings + "token_type_embeddings.weight"][0]
    own = {
        SHARED: state[embeddings + "word_embeddings.weight"],
        "model.encoder.embed_positions.weight": torch.cat(
            [torch.zeros_like(positions[:2]), positions]
        ),
    }
    names = {
        "attention.self.query": "self_attn.q_proj",
        "attention.self.key": "self_attn.k_proj",
        "attention.self.value": "self_attn.v_proj",
        "attention.output.dense": "self_attn.out_proj",
        "attention.output.LayerNorm": "self_attn_layer_norm",
        "intermediate.dense": "fc1",
        "output.dense": "fc2",
        "output.LayerNorm": "final_layer_norm",
    }
    for part in ("weight", "bias"):
        own[f"model.encoder.layernorm_embedding.{part}"] = state[f"{embeddings}LayerNorm.{part}"]
        for i in range(model.config.num_hidden_layers):
            for theirs, name in names.items():
                own[f"model.encoder.layers.{i}.{name}.{part}"] = state[
                    f"encoder.layer.{i}.{theirs}.{part}"
                ]
    return own


class Encoder:
    """A BERT model that gives a text the normalized mean of its last hidden states.

    model (BertModel): with eager attention. tokenizer (BertTokenizerFast): of its word pieces.
    """

    def __init__(self, model: BertModel, tokenizer: BertTokenizerFast) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.model.config.hidden_dropout_prob = 0.0
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0

    @classmethod
    def from_disk(cls, path: Path) -> "Encoder":
        """path (Path): folder. RETURNS (Encoder): of it."""
        model = BertModel.from_pretrained(
            path, add_pooling_layer=False, attn_implementation="eager"
        )
        return cls(model, BertTokenizerFast.from_pretrained(path))

    def to_disk(self, path: Path) -> None:
        """path (Path): folder to write."""
        self.model.save_pretrained(path)
        self.tokenizer.save_pretrained(path)

    def __call__(self, texts: Sequence[str], chunks: int = 4) -> torch.Tensor:
        """texts (Sequence[str]): n. chunks (int): parts of equal lengths that they are read in.
        RETURNS (Tensor): float32[n, width], normalized."""
        pieces = self.tokenizer(list(texts), truncation=True, max_length=MAX_LENGTH)["input_ids"]
        order = sorted(range(len(texts)), key=lambda i: len(pieces[i]))
        size = -(-len(order) // chunks)
        vectors = []
        for start in range(0, len(order), size):
            own = [pieces[i] for i in order[start : start + size]]
            longest = len(own[-1])
            ids = torch.tensor([p + [0] * (longest - len(p)) for p in own])
            mask = torch.tensor([[1] * len(p) + [0] * (longest - len(p)) for p in own])
            with torch.autocast("cpu", torch.bfloat16):
                hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
            weights = mask[..., None].float()
            vectors.append(normalize((hidden.float() * weights).sum(1) / weights.sum(1), dim=-1))
        inverse = torch.empty(len(order), dtype=torch.long)
        inverse[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(vectors)[inverse]

    @torch.no_grad()
    def embed(self, texts: Sequence[str], size: int = 1024) -> torch.Tensor:
        """texts (Sequence[str]): n. RETURNS (Tensor): float32[n, width], without gradients."""
        return torch.cat([self(texts[i : i + size], 16) for i in range(0, len(texts), size)])

    def static_vectors(
        self, texts: Sequence[str], vectors: torch.Tensor
    ) -> tuple[torch.Tensor, float]:
        """Vectors of the word pieces whose sum comes closest to a text's: by ridge regression on
        the texts' vectors in the directions of their greatest variance.

        texts (Sequence[str]): n. vectors (Tensor): float32[n, width], of them.
        RETURNS (tuple[Tensor, float]): float32[n_pieces, STATIC_WIDTH], and the mean cosine of the
            sums with the vectors in those directions.
        """
        rows = self.tokenizer(list(texts), truncation=True, max_length=MAX_LENGTH)["input_ids"]
        rows = [row[1:-1] for row in rows]
        counts = np.array([len(row) for row in rows])
        matrix = sparse.csr_matrix(
            (
                np.repeat(1 / np.maximum(counts, 1), counts).astype(np.float32),
                np.array([piece for row in rows for piece in row], dtype=np.int32),
                np.concatenate([[0], counts.cumsum()]),
            ),
            shape=(len(rows), self.tokenizer.vocab_size),
        )
        axes = np.linalg.eigh((vectors.T @ vectors).numpy())[1][:, -STATIC_WIDTH:]
        wanted = normalize(vectors @ torch.tensor(axes), dim=-1).numpy()
        squares = (matrix.T @ matrix).toarray()
        squares[np.diag_indices_from(squares)] += RIDGE
        solved = np.linalg.solve(squares, matrix.T @ wanted).astype(np.float32)
        sums = matrix @ solved
        sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return torch.tensor(solved), float((sums * wanted).sum(axis=1).mean())


def cut(teacher: Encoder, texts: Sequence[str], path: Path) -> None:
    """Write the student before its training: some layers and word pieces of the teacher.

    texts (Sequence[str]): whose most frequent word pieces are kept, with all of one character.
    path (Path): folder to write.
    """
    by_piece = teacher.tokenizer.get_vocab()
    counts = Counter(
        i
        for start in range(0, len(texts), 10_000)
        for ids in teacher.tokenizer(list(texts[start : start + 10_000]))["input_ids"]
        for i in ids
    )
    special = set(teacher.tokenizer.all_special_ids)
    single = {i for p, i in by_piece.items() if len(p.removeprefix("##")) == 1 and p.isascii()}
    frequent = [i for i, _ in counts.most_common() if i not in special | single]
    kept = sorted(special | single | set(frequent[: N_PIECES - len(special | single)]))
    covered = sum(counts[i] for i in kept) / sum(counts.values())
    typer.echo(f"{len(kept)} word pieces cover {100 * covered:.2f} % of the texts")
    piece_of = {i: p for p, i in by_piece.items()}
    path.mkdir(parents=True, exist_ok=True)
    (path / "vocab.txt").write_text("\n".join(piece_of[i] for i in kept) + "\n", encoding="utf8")
    config = teacher.model.config.__class__(**teacher.model.config.to_dict())
    config.vocab_size, config.num_hidden_layers = len(kept), len(LAYERS)
    student = BertModel(config, add_pooling_layer=False)
    state = teacher.model.state_dict()
    own = {}
    for name in student.state_dict():
        layer = re.match(r"encoder\.layer\.(\d+)\.(.*)", name)
        source = f"encoder.layer.{LAYERS[int(layer[1])]}.{layer[2]}" if layer else name
        own[name] = state[source]
    own["embeddings.word_embeddings.weight"] = state["embeddings.word_embeddings.weight"][kept]
    student.load_state_dict(own)
    tokenizer = BertTokenizerFast(vocab_file=str(path / "vocab.txt"), do_lower_case=True)
    Encoder(student, tokenizer).to_disk(path)


def distill(
    student: Encoder, teacher: Encoder, texts: Sequence[str], path: Path, steps: int
) -> None:
    """Train the student to give texts the teacher's vectors and similarities; what is at `path`
    is loaded in place of it.

    path (Path): folder to write. steps (int): updates.
    """
    if (path / "model.safetensors").exists():
        student.model.load_state_dict(Encoder.from_disk(path).model.state_dict())
        return
    optimizer, schedule = _optimizer(student.model.parameters(), DISTILL_RATE, steps)
    began = time.time()
    for step in range(steps):
        batch = random.sample(texts, DISTILL_BATCH)
        target = teacher.embed(batch)
        own = student(batch)
        loss = (1 - (own * target).sum(-1)).mean()
        loss = loss + 5 * (own @ own.T - target @ target.T).square().mean()
        _update(loss, optimizer, schedule)
        if step % LOG_EVERY == 0:
            typer.echo(f"imitation {step}: {loss.item():.3f}, {time.time() - began:.0f} s")
    student.to_disk(path)


def learn(
    student: Encoder,
    teacher: Encoder,
    vocabularies: Sequence[Sequence[Sequence[str]]],
    phrases: Sequence[str],
    path: Path,
    cycles: Sequence[int],
) -> None:
    """Train the student on synonyms.

    vocabularies (Sequence[Sequence[Sequence[str]]]): names by concept and vocabulary.
    phrases (Sequence[str]): everyday ones, which no concept is named by.
    path (Path): folder to write. cycles (Sequence[int]): updates of each; the rate falls in each,
        and begins the later ones at 0.7 of the first (warm restarts, Loshchilov and Hutter 2017).
    """
    optimizer, schedule = _optimizer(student.model.parameters(), RATE, *cycles)
    checkpoint = path / "checkpoint.pt"
    first = 0
    if checkpoint.exists():
        saved = torch.load(checkpoint, weights_only=True)
        student.model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        schedule.load_state_dict(saved["schedule"])
        first = saved["step"]
    path.mkdir(parents=True, exist_ok=True)
    sizes = [len(concepts) ** 0.75 for concepts in vocabularies]
    mined: list[torch.Tensor] = []
    used: list[list[int]] = []
    began = time.time()
    for step in range(first, sum(cycles)):
        if not mined or step % MINE_EVERY == 0:
            mined, used = _mine(student, vocabularies)
        rng = random.Random(step)
        (number,) = rng.choices(range(len(vocabularies)), sizes)
        concepts, vectors, rows = vocabularies[number], mined[number], used[number]
        seeds = rng.sample(range(len(rows)), min(SEEDS, len(rows)))
        near = (vectors[seeds] @ vectors.T).topk(min(NEIGHBORS + 1, len(rows))).indices
        chosen = [rows[i] for i in dict.fromkeys(near.flatten().tolist())]
        pairs = [rng.sample(concepts[i], 2) for i in chosen]
        others = rng.sample(phrases, PHRASES)
        n = len(pairs)
        vectors_ = student([*(_altered(a, rng) for a, _ in pairs), *(b for _, b in pairs), *others])
        left, right, other = vectors_[:n], vectors_[n : 2 * n], vectors_[2 * n :]
        sets = [set(concepts[i]) for i in chosen]
        shared = torch.tensor(
            [[i != j and bool(sets[i] & sets[j]) for j in range(n)] for i in range(n)]
        )
        cosines = left @ right.T
        against = torch.cat([cosines.masked_fill(shared, -1.0), left @ other.T], dim=1)
        labels = torch.arange(n)
        loss = cross_entropy(against / TEMPERATURE, labels) / 2
        loss = loss + cross_entropy(cosines.masked_fill(shared, -1.0).T / TEMPERATURE, labels) / 2
        is_pair = torch.cat([torch.eye(n), torch.zeros(n, len(others))], dim=1)
        weight = torch.where(is_pair > 0, 1.0, 2.0 / n)
        weight[:, :n] = weight[:, :n].masked_fill(shared, 0.0)
        raw = torch.cat([cosines, left @ other.T], dim=1) * SCALE - SCALE * SYNONYM
        sigmoid = binary_cross_entropy_with_logits(raw, is_pair, weight, reduction="sum") / n
        kept = teacher.embed(others)
        keep = (other @ other.T - kept @ kept.T).square().mean() * 10
        _update(loss + SIGMOID_WEIGHT * sigmoid + KEEP_WEIGHT * keep, optimizer, schedule)
        if step % LOG_EVERY == 0:
            typer.echo(
                f"{step}: {loss.item():.3f} {sigmoid.item():.3f} {keep.item():.3f}, "
                f"{time.time() - began:.0f} s"
            )
        if (step + 1) % SAVE_EVERY == 0:
            torch.save(
                {
                    "model": student.model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "schedule": schedule.state_dict(),
                    "step": step + 1,
                },
                checkpoint,
            )
    student.to_disk(path)


def _mine(
    student: Encoder, vocabularies: Sequence[Sequence[Sequence[str]]], most: int = 4000
) -> tuple[list[torch.Tensor], list[list[int]]]:
    """Vectors of the first names of some concepts with two names or more, which near neighbors are
    chosen among."""
    mined, used = [], []
    for concepts in vocabularies:
        rows = [i for i, names in enumerate(concepts) if len(names) > 1]
        rows = sorted(random.sample(rows, min(most, len(rows))))
        mined.append(student.embed([concepts[i][0] for i in rows]))
        used.append(rows)
    return mined, used


def _altered(name: str, rng: random.Random) -> str:
    """RETURNS (str): the name, one in five with a slip of the pen or in another order."""
    chance, words = rng.random(), name.split()
    if chance < 0.08 and len(name) > 5:
        i = rng.randrange(len(name) - 1)
        return name[:i] + rng.choice((name[i + 1] + name[i], name[i + 1])) + name[i + 2 :]
    if chance < 0.14 and len(words) > 2:
        return " ".join(rng.sample(words, len(words)))
    if chance < 0.2 and len(words) == 2:
        return f"{words[1]} of {words[0]}"
    return name


def _optimizer(parameters: Any, rate: float, *cycles: int) -> tuple[Any, Any]:
    """RETURNS (tuple[Any, Any]): AdamW and the schedule of its rate."""

    def share(step: int) -> float:
        top = min(1.0, (step + 1) / 50)
        for length in cycles:
            if step < length:
                return top * max(0.02, 1 - step / length)
            top, step = 0.7, step - length
        return 0.02

    optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01)
    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, share)


def _update(loss: torch.Tensor, optimizer: Any, schedule: Any) -> None:
    optimizer.zero_grad()
    loss.backward()
    for group in optimizer.param_groups:
        torch.nn.utils.clip_grad_norm_(group["params"], 1.0)
    optimizer.step()
    schedule.step()


def synonyms(data: Path) -> list[list[list[str]]]:
    """data (Path): folder. RETURNS (list[list[list[str]]]): names by concept and vocabulary; a
    vocabulary without concepts of two names is left out."""
    found: list[list[list[str]]] = []
    for pairs in _vocabularies(data):
        names: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for concept_id, name in pairs:
            name = normalize_name(name)
            if 1 < len(name) < 80:
                names[concept_id][name] = None
        concepts = [
            own if len(own) <= MAX_NAMES else [own[0], *random.sample(own[1:], MAX_NAMES - 1)]
            for own in map(list, names.values())
            if own
        ]
        typer.echo(f"{len(concepts)} concepts, {sum(len(c) > 1 for c in concepts)} with synonyms")
        found.append(concepts)
    held = {n for concepts in found for names in concepts if is_held_out(names[0]) for n in names}
    return [
        [own for names in concepts if (own := [n for n in names if n not in held])]
        for concepts in found
    ]


def is_held_out(name: str) -> bool:
    """name (str): the canonical one of a concept. RETURNS (bool): whether the encoder has never
    seen the concept."""
    return int(hashlib.md5(normalize_name(name).encode()).hexdigest(), 16) % HELD_OUT == 0


def _vocabularies(data: Path) -> Iterator[Iterator[tuple[str, str]]]:
    for path in READ.values():
        yield ((c.concept_id, n) for c in read_vocabulary(data / path) for n in c.names)
    for path, key, columns in TABLES.values():
        yield _table(data / path, key, columns)
    for path in GRAPHS.values():
        yield _graph(data / path)
    for path in MENTIONS:
        yield _mentions(data / path)


def _table(path: Path, key: int, columns: Sequence[int]) -> Iterator[tuple[str, str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf8", errors="replace") as lines:
        for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            # Labels of DrugCentral's table stand beside synonyms of other drugs.
            if "rdfs:label" in row:
                continue
            for column in columns:
                cell = row[column].strip('"') if len(row) > column else ""
                yield from ((row[key], n) for n in cell.split("|") if n not in ("", "-"))


def _graph(path: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf8") as file:
        nodes = json.load(file)["graphs"][0]["nodes"]
    for node in nodes:
        if "lbl" in node:
            yield node["id"], node["lbl"]
            for synonym in node.get("meta", {}).get("synonyms", ()):
                yield node["id"], synonym["val"]


def _mentions(path: Path) -> Iterator[tuple[str, str]]:
    with gzip.open(path, "rt", encoding="utf8") as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if len(cells) == 6:
                yield cells[5], cells[3]


def everyday_phrases(data: Path, most: int) -> list[str]:
    """data (Path): folder. most (int): phrases. RETURNS (list[str]): of one to four words, of
    abstracts and of patients' posts, by halves, none twice."""
    rng = random.Random(SEED)
    with lzma.open(data / TEXTS, "rt", encoding="utf8") as lines:
        abstracts = [line for _, line in zip(range(20_000), lines, strict=False)]
    with gzip.open(data / POSTS, "rt", encoding="utf8") as lines:
        posts = " ".join(line.split("\t")[0].strip() for line in lines if line.strip())
    phrases: dict[str, None] = {}
    for text in (posts, " ".join(rng.sample(abstracts, 3000))):
        words = re.findall(r"[a-z][a-z'-]+", text.lower())
        size = len(phrases) + most // 2
        for _ in range(4 * most):
            i, n = rng.randrange(len(words) - 4), rng.choices((1, 2, 3, 4), (2, 4, 3, 1))[0]
            phrases[" ".join(words[i : i + n])] = None
            if len(phrases) >= size:
                break
    return list(phrases)


if __name__ == "__main__":
    app()
