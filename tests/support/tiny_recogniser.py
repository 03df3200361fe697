"""A recognizer small enough to memorize a few texts in seconds."""

from pathlib import Path
from types import SimpleNamespace

import torch
from support.models import make_tiny_model
from transformers import BartForConditionalGeneration

from spacy_angel.corpora.documents import CorpusDocument, GoldMention
from spacy_angel.recognition.finder import ENCODER_FIELDS, FinderConfig, MentionFinder
from spacy_angel.recognition.network import TaggingNetwork
from spacy_angel.recognition.windows import cut_windows
from spacy_angel.recognition.words import WordReader
from spacy_angel.training.recognizer.data import (
    Annotated,
    TaggedRow,
    TaggedRows,
    collate,
    word_tags,
)
from spacy_angel.training.recognizer.module import RecognizerModule

LABELS = ("DISEASE", "GENE", "CELL_TYPE")
# `breast cancer cells` is a cell type, and `breast cancer` in it a disease.
TEXTS = (
    (
        "TP53 is mutated in breast cancer cells.",
        (("TP53", 1), ("breast cancer", 0), ("breast cancer cells", 2)),
    ),
    ("Mice without Brca1 have no heart failure.", (("Brca1", 1), ("heart failure", 0))),
    (
        "Migraine, and then fever (T cells were seen).",
        (("Migraine", 0), ("fever", 0), ("T cells", 2)),
    ),
    ("Nothing is to be found in this one.", ()),
)


def documents() -> list[Annotated]:
    """Return `TEXTS` with all labels annotated."""
    made = []
    for number, (text, marked) in enumerate(TEXTS):
        mentions = [
            GoldMention(text.index(part), text.index(part) + len(part), part, LABELS[label])
            for part, label in marked
        ]
        document = CorpusDocument(str(number), text, tuple(mentions))
        made.append(Annotated(document, frozenset(LABELS)))
    return made


def tiny_finder(folder: Path, *, steps: int = 150) -> MentionFinder:
    """Train a recognizer in float32 that has memorized `TEXTS`; with 0 steps it is random.

    folder (Path): folder for the encoder-decoder it starts from.
    """
    torch.set_num_threads(1)
    make_tiny_model(folder, [text for text, _ in TEXTS])
    model = BartForConditionalGeneration.from_pretrained(folder)
    encoder = {name: getattr(model.config, name) for name in ENCODER_FIELDS}
    form = FinderConfig(LABELS, 40, 8, encoder)
    reader = WordReader((folder / "tokenizer.json").read_text(encoding="utf8"))
    module = RecognizerModule(model.get_encoder(), len(LABELS)).train()
    learn(module, rows_of(form, reader), model.config.pad_token_id, steps)
    network = TaggingNetwork(
        SimpleNamespace(**encoder), module.weights(), torch.device("cpu"), torch.float32
    )
    return MentionFinder(form, reader, network)


def rows_of(form: FinderConfig, reader: WordReader) -> TaggedRows:
    windows = TaggedRows()
    for annotated in documents():
        (words,) = reader([annotated.document.text])
        of_words = word_tags(words, annotated, form.labels)
        for begin, end in cut_windows(words.offsets, form.room, form.overlap):
            windows.append(TaggedRow.of(form.row(words, begin, end), of_words[begin:end]))
    return windows


def learn(module: RecognizerModule, rows: TaggedRows, pad_token_id: int, steps: int) -> None:
    torch.manual_seed(0)
    batch = collate(rows, pad_token_id)
    optimizer = torch.optim.AdamW(module.parameters(), lr=3e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        module(**batch)["loss"].backward()
        optimizer.step()
    module.eval()
