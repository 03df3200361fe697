"""The network computes what the trained module computes; means by hand."""

from types import SimpleNamespace

import torch
from support.models import make_tiny_model
from support.tiny_recogniser import LABELS, TEXTS, rows_of
from transformers import BartForConditionalGeneration

from spacy_angel.recognition.finder import ENCODER_FIELDS, FinderConfig
from spacy_angel.recognition.network import Row, TaggingNetwork
from spacy_angel.recognition.words import WordReader
from spacy_angel.training.recognizer.data import collate
from spacy_angel.training.recognizer.training import RecognizerModule


def test_the_network_computes_what_was_trained(tmp_path):
    torch.manual_seed(0)
    make_tiny_model(tmp_path, [text for text, _ in TEXTS])
    model = BartForConditionalGeneration.from_pretrained(tmp_path).eval()
    encoder = {name: getattr(model.config, name) for name in ENCODER_FIELDS}
    form = FinderConfig(LABELS, 40, 8, encoder)
    module = RecognizerModule(model.get_encoder(), len(LABELS)).eval()
    torch.nn.init.normal_(module.cases.weight)
    reader = WordReader((tmp_path / "tokenizer.json").read_text(encoding="utf8"))
    rows = rows_of(form, reader)
    network = TaggingNetwork(
        SimpleNamespace(**encoder), module.weights(), torch.device("cpu"), torch.float32
    )
    seen = []
    module.head.register_forward_hook(lambda _, __, output: seen.append(output))
    with torch.no_grad():
        module(**collate(rows, model.config.pad_token_id))
    wanted = seen[0].view(-1, len(LABELS), 3).log_softmax(-1)
    read = [Row(*(part.tolist() for part in row[:3]), len(row.tags)) for row in rows]
    computed = torch.cat([torch.from_numpy(part) for part in network.score(read)])
    assert computed.shape == wanted.shape
    assert torch.allclose(computed, wanted, atol=1e-4)
