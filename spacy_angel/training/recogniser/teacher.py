"""A large recogniser that annotates what a small one learns from.

recogniser.json, tokenizer.json    as a recogniser has them
encoder/                           as transformers saves it
tags.safetensors                   vectors of the words' cases, and the layer for the tags

It is as good as its encoder is large, and too large to ship; of what it is sure of and how sure,
the small one learns more than of the tags alone (Hinton et al. 2015, arXiv:1503.02531; for
biomedical mentions KAZU's TinyBERN2, Yoon et al. 2022).
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tqdm import tqdm
from transformers import AutoModel

from ...errors import AngelError
from ...files.atomic import replacing_folder, write_text
from ...recognition.finder import (
    CONFIG_FILE,
    FinderConfig,
    MentionFinder,
    read_config,
)
from ...recognition.network import Row
from ...recognition.tags import N_TAGS
from ...recognition.words import WordReader
from ..data.batches import chunks
from .data import as_batch
from .module import RecogniserModule
from .rows import digest_of, read_arrays, write_arrays
from .source import folder_of

ENCODER_FOLDER = "encoder"
_TOKENIZER_FILE = "tokenizer.json"
_TAGS_FILE = "tags.safetensors"
_TAGS = ("cases.", "head.")
_ROWS_AT_ONCE = {"cpu": 32, "cuda": 256}
_ROWS_A_FILE = 4096
# Tokens such as `[CLS]`, which stand in no text, may differ.
_MOST_MISSING = 0.01


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
            for group in chunks(order, _ROWS_AT_ONCE.get(self.device.type, 32)):
                own = [rows[i] for i in group]
                batch = as_batch(own, self._form.encoder["pad_token_id"])
                n_words = [row.n_words for row in own]
                logits = self._module.logits(
                    sum(n_words), **{name: tensor.to(self.device) for name, tensor in batch.items()}
                )
                scores = torch.log_softmax(logits.float(), dim=-1).cpu()
                parts = scores.split(n_words)
                for i, part in zip(group, parts, strict=True):
                    scored[i] = part.numpy()
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


def open_teacher(folder: Path, dtype: str = "float32") -> MentionFinder:
    """folder (Path): as `save_teacher` wrote it, or of any other recogniser.
    dtype (str): of another's weights on a CPU, see `MentionFinder.from_disk`.
    RETURNS (MentionFinder): on a GPU where there is one.
    RAISES (AngelError): a file is missing or damaged."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if not (folder / ENCODER_FOLDER).is_dir():
        dtype = dtype if device.type == "cpu" else "float32"
        return MentionFinder.from_disk(folder, str(device), dtype)
    try:
        form = read_config((folder / CONFIG_FILE).read_text(encoding="utf8"))
        reader = WordReader((folder / _TOKENIZER_FILE).read_text(encoding="utf8"))
        encoder = AutoModel.from_pretrained(folder / ENCODER_FOLDER, add_pooling_layer=False)
        module = RecogniserModule(encoder, len(form.labels), is_teacher=True)
        module.load_state_dict(load_file(folder / _TAGS_FILE), strict=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise AngelError(f"Cannot open the recognizer in {folder}: {error}.") from error
    network: Any = TeachersNetwork(module.to(device).eval(), form, device)
    return MentionFinder(form, reader, network)


class Teachers:
    """Recognisers that say what they think of windows.

    folders (Sequence[str]): theirs, see `source.folder_of`; one that stands twice counts twice.
    reader (WordReader): of the one that is taught.
    labels (Sequence[str]): of the one that is taught, in this order.
    RAISES (AngelError): a folder is none of a recogniser, or its recogniser has none of the labels
        or cuts words into other pieces.
    """

    def __init__(self, folders: Sequence[str], reader: WordReader, labels: Sequence[str]) -> None:
        self.labels = labels
        self.digest = digest_of(map(folder_of, folders))
        self._teachers = []
        for folder, share in Counter(folders).items():
            finder = open_teacher(folder_of(folder), "auto")
            if set(labels).isdisjoint(finder.labels):
                raise AngelError(
                    f"The teacher {folder} knows none of the labels {', '.join(labels)}."
                )
            self._teachers.append((finder, share, _pieces_of(finder, reader, folder)))

    def teach(self, n_rows: int, row: Callable[[int], Row], folder: Path) -> np.ndarray:
        """What they think is kept, for a run that is killed.

        n_rows (int): windows. row (Callable[[int], Row]): each by its number.
        folder (Path): for what they think, under a digest of theirs.
        RETURNS (np.ndarray): float16[words, labels, tags], of the words of all windows, the mean of
            their probabilities; zeros for a label that all lack.
        RAISES (AngelError): a file of the folder is damaged, or of other windows.
        """
        said = [np.zeros((0, len(self.labels), N_TAGS), np.float16)]
        for begin in tqdm(range(0, n_rows, _ROWS_A_FILE), desc="Teachers"):
            file = folder / self.digest / f"{begin}.safetensors"
            rows = [row(i) for i in range(begin, min(begin + _ROWS_A_FILE, n_rows))]
            if not file.is_file():
                write_arrays(file, {"said": self._mean(rows)})
            said.append(read_arrays(file)["said"])
            if len(said[-1]) != sum(one.n_words for one in rows):
                raise AngelError(f"{file} is of other windows. Remove it.")
        return np.concatenate(said)

    def _mean(self, rows: Sequence[Row]) -> np.ndarray:
        sums = np.zeros((sum(row.n_words for row in rows), len(self.labels), N_TAGS), np.float32)
        shares = np.zeros(len(self.labels), np.float32)
        for finder, share, pieces in self._teachers:
            own = [_as_read(row, pieces, finder.config.encoder) for row in rows]
            probabilities = np.exp(np.concatenate(finder.score(own)))
            at = [i for i, label in enumerate(self.labels) if label in finder.labels]
            columns = [finder.labels.index(self.labels[i]) for i in at]
            sums[:, at] += share * probabilities[:, columns]
            shares[at] += share
        return (sums / np.maximum(shares, 1)[:, None]).astype(np.float16)


def _pieces_of(finder: MentionFinder, reader: WordReader, folder: str) -> np.ndarray:
    """RETURNS (np.ndarray): int64[pieces], the teacher's id of each piece of the reader's; -1 for
    one that it lacks."""
    theirs, ours = WordReader(finder.definition), reader.vocabulary
    known = theirs.vocabulary
    pieces = np.full(max(ours.values()) + 1, -1, dtype=np.int64)
    for piece, number in ours.items():
        pieces[number] = known.get(piece, -1)
    if reader.mask_id is not None and theirs.mask_id is not None:
        pieces[reader.mask_id] = theirs.mask_id
    missing = int((pieces[list(ours.values())] < 0).sum())
    if missing > _MOST_MISSING * len(ours):
        raise AngelError(
            f"The teacher {folder} lacks {missing} of {len(ours)} pieces. Both need the same "
            "tokenizer."
        )
    return pieces


def _as_read(row: Row, pieces: np.ndarray, encoder: dict[str, Any]) -> Row:
    """RETURNS (Row): with the teacher's pieces."""
    inner = pieces[row.pieces[1:-1]]
    inner[inner < 0] = encoder["pad_token_id"]
    return replace(row, pieces=[encoder["bos_token_id"], *inner.tolist(), encoder["eos_token_id"]])
