"""Train the tiny model in `spacy_angel/data` on the starter vocabulary alone.

The model exists so that the package links something out of the box. It sees sentences made from
templates, never a corpus; it knows the concepts of `assets/starter.jsonl` and little else.

    python scripts/train_demo_model.py            # about 13 minutes on one CPU core
    python scripts/train_demo_model.py --only-kb  # the vocabulary's folder anew, model unchanged
"""

import argparse
import json
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from torch import nn
from tqdm import tqdm
from transformers import BartConfig, BartForConditionalGeneration, BartTokenizerFast

from spacy_angel.concepts import Concept, normalize_name
from spacy_angel.kb import ConceptKB
from spacy_angel.prompts import Mention, PromptEncoder, PromptFormat
from spacy_angel.similarity import TrigramTfidf
from spacy_angel.vocabularies import read_vocabulary

ROOT = Path(__file__).parents[1]
SEED = 7
POSITIVES = 3
NOTHING = -100

TEMPLATES = {
    "Disease": [
        "the patient was admitted with {m} and a history of {d}.",
        "she was diagnosed with {m} two years ago.",
        "{m} is a common finding in patients with {d}.",
        "treatment with {c} did not improve his {m}.",
        "we report a case of {m} after {c}.",
        "a family with {m} was studied.",
        "patients who had {m} or {d} were excluded.",
        "he died of {m} at the age of 61.",
        "the risk of {m} was higher in smokers with {d}.",
        "{c} is given for {m}.",
        "severe {m} followed the second dose of {c}.",
        "no sign of {m} was seen.",
        "mutations of the gene cause {m}.",
        "known {m}, now on {c}.",
        "his mother has {m} as well.",
    ],
    "Chemical": [
        "the patient was treated with {m} for {d}.",
        "{m} was stopped because of {d}.",
        "a dose of {m} was given twice daily.",
        "we compared {m} with {c}.",
        "overdose of {m} may lead to {d}.",
        "she takes {m} and {c} every morning.",
        "serum levels of {m} were measured.",
        "rats were injected with {m}.",
        "{m} reduced the symptoms of {d}.",
        "he is allergic to {m}.",
        "therapy was changed from {c} to {m}.",
        "the effect of {m} on {d} is not known.",
        "{m} 20 mg was started.",
    ],
}
BRITISH = [("emia", "aemia"), ("edema", "oedema"), ("tumor", "tumour"), ("hem", "haem")]


def disturb(name: str, rng: random.Random) -> str:
    """A name as somebody might write it: other case, a typo, a plural, British, turned around."""
    text = name
    if rng.random() < 0.15 and ", " in text:
        head, tail = text.split(", ", 1)
        text = f"{tail} {head}"
    elif rng.random() < 0.08 and len(words := text.split()) == 2:
        text = rng.choice([f"{words[1]}, {words[0]}", f"{words[1]} {words[0]}"])
    if rng.random() < 0.15:
        text = text.replace("-", " ") if "-" in text else text
    if rng.random() < 0.15:
        american, british = rng.choice(BRITISH)
        text = re.sub(american, british, text)
    if rng.random() < 0.1 and len(text) > 5:
        text = text[:-1] if text.endswith("s") else text + "s"
    if rng.random() < 0.3 and len(text) > 5:
        text = _typo(text, rng)
    if rng.random() < 0.3:
        text = normalize_name(text) or text
    return text


def _typo(text: str, rng: random.Random) -> str:
    """One letter left out, doubled, exchanged with the next, or another in its place."""
    at = rng.randrange(1, len(text) - 1)
    return rng.choice(
        [
            text[:at] + text[at + 1 :],
            text[: at + 1] + text[at:],
            text[:at] + text[at + 1] + text[at] + text[at + 2 :],
            text[:at] + rng.choice("aeioulrnst") + text[at + 1 :],
        ]
    )


def sentence(mention: str, kind: str, fillers: dict[str, list[str]], rng: random.Random) -> Mention:
    """The mention in a sentence of its kind, other names around it."""
    left, right = rng.choice(TEMPLATES[kind]).split("{m}")
    names = {"d": rng.choice(fillers["Disease"]), "c": rng.choice(fillers["Chemical"])}
    return Mention(mention, left.format(**names), right.format(**names))


def examples(concepts: Sequence[Concept], seed: int) -> Iterator[tuple[Mention, str]]:
    """Endless pairs of a mention and one of the names of its concept nearest to it by tf-idf.

    concepts (Sequence[Concept]): each with one of the types `Disease` and `Chemical`.
    seed (int): of the order and the noise.
    YIELDS (tuple[Mention, str]): mention in a sentence, name in normal form.
    """
    rng = random.Random(seed)
    tfidf = TrigramTfidf().fit(normalize_name(name) for c in concepts for name in c.names)
    fillers: dict[str, list[str]] = {"Disease": [], "Chemical": []}
    for concept in concepts:
        fillers[concept.types[0]].extend(name.lower() for name in concept.names)
    pool = [(concept, name) for concept in concepts for name in concept.names]
    while True:
        rng.shuffle(pool)
        for concept, name in pool:
            mention = disturb(name, rng)
            names = list(dict.fromkeys(map(normalize_name, concept.names)))
            near = tfidf.pairwise([normalize_name(mention)] * len(names), names)
            best = sorted(range(len(names)), key=lambda i: -near[i])[:POSITIVES]
            yield sentence(mention, concept.types[0], fillers, rng), names[rng.choice(best)]


def train_tokenizer(concepts: Sequence[Concept], path: Path, size: int) -> BartTokenizerFast:
    """A byte-level BPE of the starter's names in BART's layout, marks learnt as words."""
    texts = [normalize_name(name) for c in concepts for name in (*c.names, *c.names)]
    texts += [f"{name.lower()} is" for c in concepts for name in c.names]
    texts += [t.replace("{m}", "START x END") for ts in TEMPLATES.values() for t in ts] * 20
    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator(
        [" " + text for text in texts],
        vocab_size=size,
        min_frequency=2,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        show_progress=False,
    )
    path.mkdir(parents=True, exist_ok=True)
    bpe.save_model(str(path))
    return BartTokenizerFast(
        vocab_file=str(path / "vocab.json"),
        merges_file=str(path / "merges.txt"),
        model_max_length=128,
    )


def new_model(n_tokens: int) -> BartForConditionalGeneration:
    """3 + 2 layers of width 128; the wide initialisation lets so small a model read its source."""
    return BartForConditionalGeneration(
        BartConfig(
            vocab_size=n_tokens,
            d_model=128,
            encoder_layers=3,
            decoder_layers=2,
            encoder_ffn_dim=512,
            decoder_ffn_dim=512,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            max_position_embeddings=160,
            dropout=0.05,
            init_std=0.06,
            forced_eos_token_id=None,
        )
    )


def collate(
    batch: Sequence[tuple[Mention, str]], encoder: PromptEncoder, pad: int
) -> dict[str, torch.Tensor]:
    """Right-padded ids; the decoder's prefix takes no loss."""
    mentions = [mention for mention, _ in batch]
    names = encoder.encode_names([name for _, name in batch])
    prefixes = encoder.prefix_ids(mentions)
    sources = encoder.source_ids(mentions)
    inputs = [p + n[:-1] for p, n in zip(prefixes, names, strict=True)]
    labels = [[NOTHING] * (len(p) - 1) + n for p, n in zip(prefixes, names, strict=True)]
    source = _pad(sources, pad)
    return {
        "input_ids": source,
        "attention_mask": (source != pad).long(),
        "decoder_input_ids": _pad(inputs, pad),
        "labels": _pad(labels, NOTHING),
    }


def _pad(rows: list[list[int]], value: int) -> torch.Tensor:
    # Few distinct shapes keep the allocator's memory from growing.
    width = -(-max(map(len, rows)) // 8) * 8
    return torch.tensor([row + [value] * (width - len(row)) for row in rows])


def train(concepts: Sequence[Concept], path: Path, steps: int, batch_size: int) -> None:
    """Train and save the model's folder: config, tokenizer, bfloat16 weights, `angel.json`."""
    torch.manual_seed(SEED)
    tokenizer = train_tokenizer(concepts, path, 1600)
    model = new_model(len(tokenizer)).train()
    format = PromptFormat(max_source_tokens=128)
    encoder = PromptEncoder(
        tokenizer, format, model.config.decoder_start_token_id, model.config.eos_token_id
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=2e-3, total_steps=steps, pct_start=0.08
    )
    stream = examples(concepts, SEED)
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=NOTHING)
    bar = tqdm(range(steps), desc="steps")
    for step in bar:
        pairs = [next(stream) for _ in range(batch_size)]
        batch = collate(pairs, encoder, tokenizer.pad_token_id)
        labels = batch.pop("labels")
        logits = model(**batch, use_cache=False).logits
        loss = loss_of(logits.flatten(0, 1), labels.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 50 == 0:
            bar.set_postfix(loss=f"{loss.item():.3f}")
    model.eval().bfloat16().save_pretrained(path)
    tokenizer.save_pretrained(path)
    (path / "angel.json").write_text(json.dumps(format.to_dict(), indent=1) + "\n", "utf8")
    for file in path.iterdir():
        file.chmod(0o644)  # safetensors writes files that only their owner can read


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vocabulary", type=Path, default=ROOT / "assets/starter.jsonl")
    parser.add_argument("--output", type=Path, default=ROOT / "spacy_angel/data")
    parser.add_argument("--steps", type=int, default=2200)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--only-kb", action="store_true")
    arguments = parser.parse_args()
    concepts = list(read_vocabulary(arguments.vocabulary))
    if not arguments.only_kb:
        new = arguments.output / "model.new"
        train(concepts, new, arguments.steps, arguments.batch_size)
        shutil.rmtree(arguments.output / "model", ignore_errors=True)
        new.rename(arguments.output / "model")
    ConceptKB.build(concepts, arguments.output / "kb")


if __name__ == "__main__":
    main()
