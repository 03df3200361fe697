"""A large recogniser that annotates what a small one learns from.

recogniser.json, tokenizer.json    as a recogniser has them
encoder/                           as transformers saves it
tags.safetensors                   vectors of the words' cases, and the layer for the tags

It is as good as its encoder is large, and too large to ship; of what it is sure of and how sure,
the small one learns more than of the tags alone (Hinton et al. 2015, arXiv:1503.02531; for
biomedical mentions KAZU's TinyBERN2, Yoon et al. 2022).
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tqdm import tqdm
from transformers import AutoModel

from ...errors import AngelError, Errors
from ...files.atomic import replacing_folder, write_text
from ...recognition.finder import (
    CONFIG_FILE,
    FinderConfig,
    MentionFinder,
    TaggedText,
    read_config,
)
from ...recognition.network import Row
from ...recognition.tags import N_TAGS
from ...recognition.words import WordReader
from ..data.batches import chunks
from .data import as_batch
from .module import RecogniserModule

ENCODER_FOLDER = "encoder"
_TOKENIZER_FILE = "tokenizer.json"
_TAGS_FILE = "tags.safetensors"
_TAGS = ("cases.", "head.")
_ROWS_AT_ONCE = 32
_TEXTS_AT_ONCE = 64


class TeachersNetwork:
    """A module that is trained or was, as a finder asks it.

    module (RecogniserModule): not copied.
    form (FinderConfig): of the recogniser.
    device (torch.device): where the module is.
    """

    def __init__(self, module: RecogniserModule, form: FinderConfig, device: torch.device) -> None:
        self._module = module
        self._form = form
        self.device = device
        self.n_labels = module.n_labels

    def score(self, rows: Sequence[Row]) -> list[np.ndarray]:
        """rows (Sequence[Row]): windows. RETURNS (list[np.ndarray]): float32[words, labels, tags]
        of each, log-probabilities."""
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        scored: list[Any] = [None] * len(rows)
        was_training = self._module.training
        self._module.eval()
        bfloat16 = torch.autocast(self.device.type, torch.bfloat16)
        with torch.inference_mode(), bfloat16:
            for group in chunks(order, _ROWS_AT_ONCE):
                own = [rows[i] for i in group]
                batch = as_batch(own, self._form.encoder["pad_token_id"])
                logits = self._module.logits(
                    **{name: tensor.to(self.device) for name, tensor in batch.items()}
                )
                scores = torch.log_softmax(logits.float(), dim=-1)
                parts = scores.split([row.n_words for row in own])
                for i, part in zip(group, parts, strict=True):
                    scored[i] = part.cpu().numpy()
        self._module.train(was_training)
        return scored


def save_teacher(
    folder: Path, module: RecogniserModule, form: FinderConfig, reader: WordReader
) -> None:
    """folder (Path): to write. module (RecogniserModule): trained. form (FinderConfig), reader
    (WordReader): the recogniser's."""
    with replacing_folder(folder, lambda _: True) as parts:
        module.encoder.save_pretrained(parts / ENCODER_FOLDER)
        own = {n: t for n, t in module.state_dict().items() if n.startswith(_TAGS)}
        save_file({n: t.contiguous() for n, t in own.items()}, parts / _TAGS_FILE)
        write_text(parts / CONFIG_FILE, json.dumps(asdict(form), indent=2) + "\n")
        write_text(parts / _TOKENIZER_FILE, reader.definition)


def open_teacher(folder: Path) -> MentionFinder:
    """folder (Path): as `save_teacher` wrote it, or of any other recogniser.
    RETURNS (MentionFinder): on a GPU where there is one.
    RAISES (AngelError): a file is missing or damaged."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if not (folder / ENCODER_FOLDER).is_dir():
        return MentionFinder.from_disk(folder, str(device))
    try:
        form = read_config((folder / CONFIG_FILE).read_text(encoding="utf8"))
        reader = WordReader((folder / _TOKENIZER_FILE).read_text(encoding="utf8"))
        encoder = AutoModel.from_pretrained(folder / ENCODER_FOLDER, add_pooling_layer=False)
        module = RecogniserModule(encoder, len(form.labels), is_teacher=True)
        module.load_state_dict(load_file(folder / _TAGS_FILE), strict=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise AngelError(Errors.E324.format(path=folder, problem=error)) from error
    network: Any = TeachersNetwork(module.to(device).eval(), form, device)
    return MentionFinder(form, reader, network)


def teach(
    teachers: Sequence[MentionFinder], texts: Sequence[str], labels: Sequence[str], folder: Path
) -> dict[str, np.ndarray]:
    """Ask teachers what they think of texts; what they have said is kept, for a run that is killed.

    teachers (Sequence[MentionFinder]): each says nothing of labels that it lacks.
    texts (Sequence[str]): each once.
    labels (Sequence[str]): of the one that is taught, in this order.
    folder (Path): for what it has said.
    RETURNS (dict[str, np.ndarray]): text to float16[words, labels, tags], the mean of their
        probabilities; zeros for a label that all lack.
    RAISES (AngelError): one has none of the labels.
    """
    if any(set(labels).isdisjoint(teacher.labels) for teacher in teachers):
        raise AngelError(Errors.E626.format(labels=", ".join(labels)))
    folder.mkdir(parents=True, exist_ok=True)
    said: dict[str, np.ndarray] = {}
    bar = tqdm(
        chunks(texts, _TEXTS_AT_ONCE), desc="Teacher", total=-(-len(texts) // _TEXTS_AT_ONCE)
    )
    for group in bar:
        name = hashlib.md5("\0".join(group).encode()).hexdigest()
        file = folder / f"{name}.safetensors"
        if not file.is_file():
            read = zip(*(teacher.read(group) for teacher in teachers), strict=True)
            means = {
                str(i): torch.from_numpy(_mean(of_text, labels)) for i, of_text in enumerate(read)
            }
            partial = file.with_suffix(".partial")
            save_file(means, partial)
            partial.replace(file)
        stored = load_file(file)
        said.update((text, stored[str(i)].numpy()) for i, text in enumerate(group))
    return said


def _mean(read: Sequence[TaggedText], labels: Sequence[str]) -> np.ndarray:
    sums = np.zeros((len(read[0].log_probs), len(labels), N_TAGS))
    told = np.zeros(len(labels))
    for one in read:
        rows = [i for i, label in enumerate(labels) if label in one.labels]
        columns = [one.labels.index(labels[i]) for i in rows]
        sums[:, rows] += np.exp(one.log_probs[:, columns])
        told[rows] += 1
    return (sums / np.maximum(told, 1)[:, None]).astype(np.float16)
