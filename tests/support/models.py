"""Tiny BART models created in code: nothing is downloaded, and training takes seconds."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from tokenizers import ByteLevelBPETokenizer
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BartTokenizerFast,
    PreTrainedModel,
)

from spacy_angel.model.mention import Mention
from spacy_angel.model.prompts import PromptEncoder, PromptFormat

FORMAT = PromptFormat(max_source_tokens=64)
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def make_tokenizer(path: Path, names: Sequence[str]) -> BartTokenizerFast:
    """Train a byte-level BPE tokenizer like BART's on names; it can encode any text."""
    path.mkdir(parents=True, exist_ok=True)
    bpe = ByteLevelBPETokenizer()
    texts = [" " + name for name in names] + [" start end is START END"] * 3
    bpe.train_from_iterator(texts, vocab_size=600, min_frequency=1, special_tokens=SPECIAL)
    bpe.save_model(str(path))
    return BartTokenizerFast(str(path / "vocab.json"), str(path / "merges.txt"))


def make_model(vocab_size: int, *, d_model: int = 48) -> BartForConditionalGeneration:
    """Create a BART model with two encoder and two decoder layers and random weights. With an
    init_std of 0.02, it would not learn to attend to its input."""
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=vocab_size,
        d_model=d_model,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=2 * d_model,
        decoder_ffn_dim=2 * d_model,
        max_position_embeddings=128,
        init_std=0.1,
        dropout=0.0,
        forced_eos_token_id=None,
    )
    return BartForConditionalGeneration(config).eval()


def make_tiny_model(path: Path, names: Sequence[str], *, d_model: int = 48) -> Path:
    """Save a random model with a tokenizer trained on names as a checkpoint."""
    tokenizer = make_tokenizer(path, names)
    save(path, make_model(len(tokenizer), d_model=d_model), tokenizer)
    return path


def save(path: Path, model, tokenizer) -> None:
    """Write a checkpoint folder with its prompt settings."""
    model.save_pretrained(path)
    tokenizer.save_pretrained(path)
    (path / "angel.json").write_text(json.dumps(asdict(FORMAT)))


def overfit(path: Path, pairs: Sequence[tuple[Mention, str]]) -> float:
    """Train a saved model to generate the given names, and return the final loss."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = BartForConditionalGeneration.from_pretrained(path).train()
    tokenizer = BartTokenizerFast.from_pretrained(path)
    prompts = PromptEncoder(tokenizer, FORMAT, 2, 2)
    mentions = [mention for mention, _ in pairs]
    names = prompts.encode_names([name for _, name in pairs])
    prefixes = prompts.prefix_ids(mentions)
    decoder = [p + n[:-1] for p, n in zip(prefixes, names, strict=True)]
    labels = [[-100] * (len(p) - 1) + n for p, n in zip(prefixes, names, strict=True)]
    source = _padded(prompts.source_ids(mentions), 1)
    batch = {
        "input_ids": source,
        "attention_mask": (source != 1).long(),
        "decoder_input_ids": _padded(decoder, 1),
        "labels": _padded(labels, -100),
    }
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(120):
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
    model.eval().save_pretrained(path)
    return loss.item()


def log_prob_by_transformers(
    model: PreTrainedModel, prompts: PromptEncoder, mention: Mention, name: str
) -> float:
    """Compute the log-probability of a name with transformers only, without padding."""
    [source], [prefix] = prompts.source_ids([mention]), prompts.prefix_ids([mention])
    [target] = prompts.encode_names([name])
    with torch.inference_mode():
        logits = model(
            input_ids=torch.tensor([source]),
            decoder_input_ids=torch.tensor([prefix + target[:-1]]),
        ).logits[0]
    steps = torch.log_softmax(logits, -1)[len(prefix) - 1 :]
    return steps.gather(1, torch.tensor(target)[:, None]).sum().item()


def _padded(rows: Sequence[Sequence[int]], value: int) -> torch.Tensor:
    return pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=value)


DISEASES = {
    "MESH:D003920": ("Diabetes Mellitus", "sugar disease", "diabetes"),
    "MESH:D009203": ("Myocardial Infarction", "heart attack", "cardiac infarction"),
    "MESH:D006333": ("Heart Failure", "cardiac failure"),
    "MESH:D008881": ("Migraine Disorders", "migraine", "sick headache"),
    "OMIM:250100": ("Metachromatic Leukodystrophy", "MLD"),
}
DRUGS = {
    "MESH:D001241": ("Aspirin", "acetylsalicylic acid"),
    "MESH:D008687": ("Metformin", "dimethylbiguanide"),
}
CONTEXTS = ["", "the patient had", "history of"]


def make_trained_model(path: Path) -> Path:
    """Train a model that generates every name of DISEASES and DRUGS unchanged, whatever the
    context."""
    return Path(shutil.copytree(_trained_once().name, path))


@cache
def _trained_once() -> TemporaryDirectory[str]:
    """Train the model once per process."""
    folder = TemporaryDirectory()
    path = Path(folder.name)
    names = [name.lower() for names in (DISEASES | DRUGS).values() for name in names]
    make_tiny_model(path, names)
    pairs = [(Mention(name, left, "."), name) for name in names for left in CONTEXTS]
    loss = overfit(path, pairs)
    assert loss < 0.1, f"the fixture did not learn: loss {loss:.3f}"
    return folder
