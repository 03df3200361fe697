"""Train the encoder that says how similar two names are in meaning.

    python scripts/name_encoder.py start MINILM DATA WORK
    python scripts/name_encoder.py train WORK
    python scripts/name_encoder.py save WORK OUTPUT

MINILM is an unpacked copy of all-MiniLM-L6-v2 and DATA the folder of the corpora and
vocabularies. `start` keeps the word pieces that names and everyday text use most, and every other
layer or so of MiniLM; `train` first imitates MiniLM on names and everyday phrases, then draws the
synonyms of a concept together and its neighbors apart. Both write checkpoints and go on from them.
`save` stores the weights as int8.

No name of PO, ZFA, PATO, ECO, BTO and CL is used, so that these vocabularies measure what the
encoder is worth on vocabularies it has never seen.
"""

import csv
import gzip
import io
import json
import lzma
import random
import re
import sys
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from torch import Tensor
from torch.nn import functional

app = typer.Typer(add_completion=False, help=__doc__)

Synonyms = dict[str, list[str]]
"""Identifier to the names of the concept."""

N_PIECES = 10_240
LAYERS = (0, 1, 3, 5)
"""Layers of MiniLM that the encoder starts from."""
MAX_LETTERS, MAX_TOKENS = 90, 24
SEED = 1
DISTILL_STEPS, DISTILL_BATCH = 600, 512
N_TAUGHT_NAMES, N_TAUGHT_PHRASES = 160_000, 100_000
STEPS, N_SEEDS, N_NEAR, N_RANDOM = 1_800, 20, 7, 32
TEMPERATURE = 0.05
MINE_EVERY = 900
OBO = {
    "HPO": "vocab/phenotype/hp_2016-04-01.obo.gz",
    "UBERON": "vocab/anatomy/uberon-basic_2015-04-23.obo.gz",
    "DOID": "doid/doid.obo",
}
# Column of the identifier and of the names; `|` separates synonyms.
TABLES: dict[str, tuple[str, int, tuple[int, ...]]] = {
    "MESH": ("more/vocab/mesh_2024_descriptors.tsv.gz", 0, (1, 2)),
    "MONDO": ("more/ontologies/MONDO_2026_synonyms.tsv.gz", 0, (1, 2)),
    "ICD10CM": ("more/ontologies/ICD10CM_2026.tsv.gz", 0, (1, 2)),
    "GARD": ("vocab/disease/gard_synonyms.tsv.gz", 1, (2, 0)),
    "CTD": ("medic/CTD_diseases_2017-06.tsv.gz", 1, (0, 7)),
    "CHEBI": ("vocab/chemical/clulab_chebi.tsv.gz", 1, (0,)),
    "DRUGCENTRAL": ("vocab/chemical/drugcentral_54_synonyms.tsv.gz", 1, (2, 0)),
    "GO_BP": ("vocab/go/clulab_bio_process.tsv.gz", 1, (0,)),
    "GO_CC": ("vocab/go/clulab_GO-subcellular-locations.tsv.gz", 1, (0,)),
    "FAMILIES": ("vocab/gene/clulab_ProteinFamilies.tsv.gz", 1, (0,)),
    "HUMAN_GENES": ("vocab/gene/Homo_sapiens.gene_info.gz", 1, (8, 13)),
}
GRAPHS = {
    "NCIT": "vocab/disease/ncit-disease-2018-06-08.json.gz",
    "ORDO": "vocab/disease/ordo-2_6-2018-07-12.json.gz",
}
LEAST_WORD = 4


def read_synonyms(data: Path) -> dict[str, Synonyms]:
    """data (Path): folder of the corpora and vocabularies.
    RETURNS (dict[str, Synonyms]): the names of every concept, by vocabulary."""
    found: dict[str, Synonyms] = {}
    for key, name in OBO.items():
        found[key] = _group(_obo(data / name))
    for key, (name, id_column, columns) in TABLES.items():
        found[key] = _group(_table(data / name, id_column, columns))
    for key, name in GRAPHS.items():
        found[key] = _group(_graph(data / name))
    rows = _table(data / "vocab/phenotype/hpo_layperson-synonyms.tsv.gz", 0, (1, 2))
    found["LAY_HPO"] = _group((i, name.strip('"')) for i, name in rows)
    found["ASKAPATIENT"] = _group(_ask_a_patient(data))
    found["PSYTAR"] = _group(_psytar(data / "psytar/PsyTAR_dataset.xlsx"))
    found["MEDMENTIONS"] = _group(_mentions(data / "medmentions/st21pv_train.rebuilt.pubtator.gz"))
    return {key: _with_two(names) for key, names in found.items()}


def _group(rows: Iterable[tuple[str, str]]) -> Synonyms:
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for concept_id, name in rows:
        name = " ".join(name.lower().split())
        if 1 < len(name) < MAX_LETTERS:
            names[concept_id][name] = None
    return {concept_id: list(own) for concept_id, own in names.items()}


def _with_two(synonyms: Synonyms) -> Synonyms:
    return {concept_id: names for concept_id, names in synonyms.items() if len(names) > 1}


def _open(path: Path) -> io.TextIOBase:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf8", errors="replace")  # type: ignore[return-value]
    return path.open(encoding="utf8", errors="replace")


def _obo(path: Path) -> Iterator[tuple[str, str]]:
    concept_id = ""
    with _open(path) as lines:
        for line in lines:
            if line.startswith("["):
                concept_id = ""
            elif line.startswith("id: "):
                concept_id = line[4:].strip()
            elif line.startswith("name: ") and ":" in concept_id:
                yield concept_id, line[6:]
            elif line.startswith('synonym: "') and ":" in concept_id and " BROAD" not in line:
                yield concept_id, line[10:].split('" ')[0]


def _table(path: Path, id_column: int, columns: Sequence[int]) -> Iterator[tuple[str, str]]:
    with _open(path) as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if line.startswith("#") or len(cells) <= max(columns):
                continue
            for column in columns:
                for name in cells[column].split("|"):
                    if name and name != "-":
                        yield cells[id_column], name


def _graph(path: Path) -> Iterator[tuple[str, str]]:
    """An OBO Graphs file."""
    with _open(path) as lines:
        graph = json.load(lines)["graphs"][0]
    for node in graph["nodes"]:
        if "lbl" in node:
            yield node["id"], node["lbl"]
            for synonym in node.get("meta", {}).get("synonyms", ()):
                yield node["id"], synonym["val"]


def _ask_a_patient(data: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((data / "aap").glob("*.train.txt")):
        for line in path.read_text(encoding="utf8", errors="replace").splitlines():
            concept_id, name, phrase, *_ = [*line.split("\t"), "", ""]
            yield concept_id, name
            yield concept_id, phrase


def _psytar(path: Path) -> Iterator[tuple[str, str]]:
    import pandas as pd

    book = pd.ExcelFile(path)
    for sheet in (s for s in book.sheet_names if str(s).strip().lower().endswith("mapped")):
        table = book.parse(sheet)
        alone = table[table["UMLS2"].isna() & table["UMLS1"].notna()]
        for phrase, concept in zip(alone.iloc[:, 3], alone["UMLS1"], strict=True):
            concept_id, name, *_ = [*(part.strip() for part in str(concept).split("/")), ""]
            yield concept_id.upper(), name
            yield concept_id.upper(), str(phrase)


def _mentions(path: Path) -> Iterator[tuple[str, str]]:
    with _open(path) as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            if len(cells) == 6 and len(cells[3]) >= LEAST_WORD and not cells[3].isupper():
                yield cells[5], cells[3]


def read_phrases(data: Path, n: int, rng: random.Random) -> list[str]:
    """RETURNS (list[str]): one to five neighboring words of abstracts and of patients' reports."""
    texts: list[str] = []
    with lzma.open(data / "raw_text/bmc_abstracts.txt.xz", "rt", encoding="utf8") as lines:
        texts += [line for line, _ in zip(lines, range(40_000), strict=False)]
    import pandas as pd

    sheet = pd.ExcelFile(data / "psytar/PsyTAR_dataset.xlsx").parse("Sentence_Labeling")
    texts += 3 * [str(text) for text in sheet["sentences"]]
    phrases: dict[str, None] = {}
    while len(phrases) < n:
        words = re.findall(r"[\w'/-]+", rng.choice(texts).lower())
        if len(words) > 1:
            first = rng.randrange(len(words))
            phrases[" ".join(words[first : first + rng.choice((1, 1, 2, 2, 3, 4, 5))])] = None
    return list(phrases)


def build_tokenizer(vocabulary: dict[str, int]) -> Any:
    """vocabulary (dict[str, int]): word pieces, the first five of them special.
    RETURNS (tokenizers.Tokenizer): of lowercase word pieces."""
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(vocabulary, lowercase=True, strip_accents=True)
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


@app.command()
def start(
    minilm: Annotated[Path, typer.Argument(exists=True)],
    data: Annotated[Path, typer.Argument(exists=True)],
    work: Annotated[Path, typer.Argument(help="Folder to write.")],
) -> None:
    """Choose word pieces and layers, and ask MiniLM for its vectors."""
    from transformers import AutoTokenizer, BertModel

    rng = random.Random(SEED)
    work.mkdir(parents=True, exist_ok=True)
    synonyms = read_synonyms(data)
    for key, own in synonyms.items():
        typer.echo(f"{key}: {len(own):,} concepts, {sum(map(len, own.values())):,} names")
    (work / "synonyms.json").write_text(json.dumps(synonyms), encoding="utf8")
    names = sorted({n for own in synonyms.values() for some in own.values() for n in some})
    phrases = read_phrases(data, 3 * N_TAUGHT_PHRASES, rng)
    tokenizer = AutoTokenizer.from_pretrained(minilm)
    counts: Counter[int] = Counter()
    for texts in (names, phrases):
        for first in range(0, len(texts), 20_000):
            for ids in tokenizer(texts[first : first + 20_000], add_special_tokens=False).input_ids:
                counts.update(ids)
    special = tokenizer.convert_tokens_to_ids(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    letters = [i for t, i in tokenizer.vocab.items() if len(t.removeprefix("##")) == 1]
    kept = dict.fromkeys([*special, *sorted(i for i in letters if counts[i])])
    for i, _ in counts.most_common():
        if len(kept) < N_PIECES:
            kept[i] = None
    total = sum(counts.values())
    typer.echo(f"pieces: {sum(counts[i] for i in kept) / total:.4f} of all that occur")
    pieces = {tokenizer.convert_ids_to_tokens(i): place for place, i in enumerate(kept)}
    (work / "pieces.json").write_text(json.dumps(pieces), encoding="utf8")
    teacher = BertModel.from_pretrained(minilm, add_pooling_layer=False).eval()
    student = BertModel.from_pretrained(minilm, add_pooling_layer=False)
    student.encoder.layer = torch.nn.ModuleList(teacher.encoder.layer[i] for i in LAYERS)
    student.config.num_hidden_layers = len(LAYERS)
    words = student.embeddings.word_embeddings.weight.data[list(kept)]
    student.embeddings.word_embeddings = torch.nn.Embedding.from_pretrained(words, freeze=False)
    student.config.vocab_size = len(kept)
    student.save_pretrained(work / "start")
    texts = rng.sample(names, min(N_TAUGHT_NAMES, len(names)))
    texts += phrases[:N_TAUGHT_PHRASES]
    started = time.time()
    vectors = embed(teacher, tokenizer.backend_tokenizer, texts)
    typer.echo(f"{len(texts):,} texts in {time.time() - started:.0f} s")
    np.save(work / "taught.npy", vectors.half().numpy())
    (work / "taught.json").write_text(json.dumps(texts), encoding="utf8")


def embed(model: Any, tokenizer: Any, texts: Sequence[str], batch_size: int = 512) -> Tensor:
    """RETURNS (Tensor): float32[n, dimensions], of length 1."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    out = torch.zeros(len(texts), model.config.hidden_size)
    with torch.inference_mode():
        for first in range(0, len(order), batch_size):
            rows = order[first : first + batch_size]
            out[rows] = forward(model, tokenizer, [texts[i] for i in rows])
    return out


def forward(model: Any, tokenizer: Any, texts: Sequence[str], n_chunks: int = 4) -> Tensor:
    """RETURNS (Tensor): float32[n, dimensions]: mean of the last states, of length 1."""
    rows = [e.ids[:MAX_TOKENS] for e in tokenizer.encode_batch(list(texts))]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    size = -(-len(rows) // n_chunks)
    vectors = []
    # Names of similar length together, as padding would double the work.
    for first in range(0, len(order), size):
        chunk = [rows[i] for i in order[first : first + size]]
        width = len(chunk[-1])
        ids = torch.tensor([row + [0] * (width - len(row)) for row in chunk])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in chunk])
        with torch.autocast("cpu", torch.bfloat16):
            states = model(input_ids=ids, attention_mask=mask).last_hidden_state
        inside = mask[..., None]
        mean = (states.float() * inside).sum(1) / inside.sum(1)
        vectors.append(functional.normalize(mean, dim=-1))
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(vectors)[back]


def open_model(path: Path) -> Any:
    """RETURNS (BertModel): without dropout; plain attention is fastest for names on a CPU."""
    from transformers import BertModel

    return BertModel.from_pretrained(
        path,
        add_pooling_layer=False,
        attn_implementation="eager",
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )


@app.command()
def train(work: Annotated[Path, typer.Argument(exists=True)]) -> None:
    """Imitate MiniLM, then learn synonyms."""
    torch.set_num_threads(2)
    tokenizer = build_tokenizer(json.loads((work / "pieces.json").read_text(encoding="utf8")))
    taught = json.loads((work / "taught.json").read_text(encoding="utf8"))
    vectors = torch.from_numpy(np.load(work / "taught.npy"))
    if not (work / "distilled").is_dir():
        model = open_model(work / "start")
        distill(model, tokenizer, taught, vectors)
        model.save_pretrained(work / "distilled")
    model = open_model(work / "distilled")
    synonyms = json.loads((work / "synonyms.json").read_text(encoding="utf8"))
    learn_synonyms(model, tokenizer, synonyms, taught, vectors, work)
    model.save_pretrained(work / "trained")


def _schedule(optimizer: Any, steps: int) -> Any:
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / 60) * max(0.01, 1 - step / steps)
    )


def distill(model: Any, tokenizer: Any, texts: Sequence[str], vectors: Tensor) -> None:
    """Train a model to give texts the vectors of its teacher."""
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=0.01)
    schedule = _schedule(optimizer, DISTILL_STEPS)
    model.train()
    started = time.time()
    for step in range(DISTILL_STEPS):
        rows = rng.sample(range(len(texts)), DISTILL_BATCH)
        own = forward(model, tokenizer, [texts[i] for i in rows])
        theirs = vectors[rows].float()
        loss = 1 - (own * theirs).sum(1).mean() + 4 * ((own @ own.T - theirs @ theirs.T) ** 2).mean()
        _step(model, optimizer, schedule, loss)
        if step % 100 == 0:
            typer.echo(f"distill {step} {loss.item():.4f} {time.time() - started:.0f} s")
            sys.stdout.flush()


def _step(model: Any, optimizer: Any, schedule: Any, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()


def learn_synonyms(
    model: Any,
    tokenizer: Any,
    synonyms: dict[str, Synonyms],
    texts: Sequence[str],
    vectors: Tensor,
    work: Path,
) -> None:
    """Draw the names of a concept together, and those of its neighbors in the same vocabulary
    apart; everyday phrases stay where MiniLM has them, and away from names."""
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    scale = torch.nn.Parameter(torch.tensor([10.0, -6.0]))
    optimizer = torch.optim.AdamW(
        [{"params": model.parameters()}, {"params": [scale], "lr": 2e-2, "weight_decay": 0.0}],
        lr=1.5e-4,
        weight_decay=0.01,
    )
    schedule = _schedule(optimizer, STEPS)
    keys = sorted(synonyms)
    ids = {key: sorted(synonyms[key]) for key in keys}
    shares = [len(ids[key]) ** 0.5 for key in keys]
    first_phrase = N_TAUGHT_NAMES
    centers: dict[str, Tensor] = {}
    model.train()
    started = time.time()
    for step in range(STEPS):
        if step % MINE_EVERY == 0:
            model.eval()
            centers = {
                key: embed(model, tokenizer, [synonyms[key][i][0] for i in ids[key]]) for key in keys
            }
            model.train()
            typer.echo(f"neighbors {time.time() - started:.0f} s")
        key = rng.choices(keys, shares)[0]
        names = synonyms[key]
        seeds = rng.sample(range(len(ids[key])), min(N_SEEDS, len(ids[key])))
        with torch.no_grad():
            close = centers[key][seeds] @ centers[key].T
            near = close.topk(min(1 + N_NEAR, close.shape[1])).indices
        chosen = [ids[key][i] for i in dict.fromkeys(near.flatten().tolist())]
        pairs = [rng.sample(names[i], 2) for i in chosen]
        left, right = ([pair[side] for pair in pairs] for side in (0, 1))
        phrases = rng.sample(range(first_phrase, len(texts)), N_RANDOM)
        own = forward(
            model, tokenizer, [*(_worn(x, rng) for x in left), *right, *(texts[i] for i in phrases)]
        )
        n = len(chosen)
        ours, theirs, apart = own[:n], own[n : 2 * n], own[2 * n :]
        cosines = ours @ theirs.T
        # A name that both concepts have is no negative.
        same = torch.tensor(
            [
                [i != j and (right[j] in names[chosen[i]] or left[i] in names[chosen[j]]) for j in range(n)]
                for i in range(n)
            ]
        )
        logits = (cosines / TEMPERATURE).masked_fill(same, -1e4)
        target = torch.arange(n)
        far = (ours @ apart.T / TEMPERATURE)
        loss = functional.cross_entropy(torch.cat([logits, far], 1), target)
        loss = (loss + functional.cross_entropy(logits.T, target)) / 2
        # One scale for all vocabularies, so that a cosine means the same in each.
        signs = 2 * torch.eye(n) - 1
        every = -functional.logsigmoid(signs * (scale[0] * cosines + scale[1]))
        pull = every.diagonal().mean() + every.masked_fill(same | torch.eye(n, dtype=torch.bool), 0).sum(1).mean() / 4
        keep = 1 - (apart * vectors[phrases].float()).sum(1).mean()
        _step(model, optimizer, schedule, loss + 0.25 * pull + 0.5 * keep)
        if step % 50 == 0:
            typer.echo(
                f"synonyms {step} {key} {loss.item():.3f} {pull.item():.3f} {keep.item():.3f} "
                f"{scale.tolist()} {time.time() - started:.0f} s"
            )
            sys.stdout.flush()
        if step % 400 == 399:
            model.save_pretrained(work / "checkpoint")


def _worn(name: str, rng: random.Random) -> str:
    """A name as texts have it: with a typo, reordered, with a word more."""
    chance, words = rng.random(), name.split()
    if chance < 0.08 and len(name) > 5:
        i = rng.randrange(len(name) - 1)
        return name[:i] + rng.choice([name[i + 1] + name[i] + name[i + 2 :], name[i + 1 :]])
    if chance < 0.13 and len(words) > 2:
        rng.shuffle(words)
        return " ".join(words)
    if chance < 0.19 and len(words) == 2:
        return rng.choice([f"{words[1]} of {words[0]}", f"{words[1]} of the {words[0]}"])
    if chance < 0.24:
        return rng.choice(["unspecified {}", "{}, unspecified", "{} nos", "{}s", "other {}"]).format(name)
    return name


if __name__ == "__main__":
    app()
