import json
from dataclasses import replace

import pytest
import torch
from support.tiny_training import EXAMPLES, tiny_backbone
from transformers import BertConfig, BertModel, BertTokenizerFast

from spacy_angel.errors import AngelError
from spacy_angel.model.mention import Mention
from spacy_angel.model.prompts import PromptFormat
from spacy_angel.training.models.backbones import from_encoder, load_backbone, tells_marks
from spacy_angel.training.settings.config_tables import BackboneSettings

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "start", "end", "heart", "attack", "is", "a"]
SETTINGS = BackboneSettings(kind="encoder", encoder_layers=4, decoder_layers=2)


def bert(tmp_path):
    torch.manual_seed(0)
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join(WORDS), encoding="utf8")
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=4,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=40,
        # BART's own; with BERT's 1e-12 the two agree to rounding only.
        layer_norm_eps=1e-5,
    )
    model = BertModel(config, add_pooling_layer=False).eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.normal_(std=0.3)
    model.save_pretrained(tmp_path)
    BertTokenizerFast(str(vocabulary)).save_pretrained(tmp_path)
    return model, replace(SETTINGS, name=str(tmp_path))


def test_copied_encoder_computes_what_bert_does(tmp_path):
    model, settings = bert(tmp_path)
    backbone = from_encoder(settings)
    ids = torch.tensor([[2, 7, 8, 10, 3]])
    with torch.no_grad():
        expected = model(ids).last_hidden_state
        found = backbone.model.eval().get_encoder()(ids).last_hidden_state
    assert torch.allclose(found, expected, atol=1e-5)


def test_decoder_starts_as_the_same_layers(tmp_path):
    model, settings = bert(tmp_path)
    bart = from_encoder(replace(settings, encoder_layers=3)).model.model
    source = model.encoder.layer
    for side, taken in ((bart.encoder, [0, 1, 3]), (bart.decoder, [0, 3])):
        for layer, of in zip(side.layers, taken, strict=True):
            assert torch.equal(layer.fc2.bias, source[of].output.dense.bias)
    cross = bart.decoder.layers[1]
    assert torch.equal(cross.encoder_attn.q_proj.bias, source[3].attention.self.query.bias)


def test_marks_become_tokens_where_words_look_the_same(tmp_path):
    _, settings = bert(tmp_path)
    assert not tells_marks(BertTokenizerFast.from_pretrained(tmp_path), PromptFormat())
    backbone = from_encoder(settings)
    assert tells_marks(backbone.tokenizer, backbone.format)
    assert backbone.format.max_source_tokens == 40
    start, end = len(WORDS), len(WORDS) + 1
    assert backbone.prompts.source_ids([Mention("heart attack", "a start", "end")]) == [
        [2, 10, 5, start, 7, 8, end, 6, 3]
    ]
    assert backbone.prompts.prefix_ids([Mention("heart attack")]) == [[2, 7, 8, 9]]
    assert backbone.model.lm_head.weight.shape[0] == len(WORDS) + 2
    assert backbone.model.lm_head.weight is backbone.model.model.shared.weight


def test_an_encoder_of_another_kind_is_refused(tmp_path):
    tiny_backbone().save(tmp_path / "bart")
    with pytest.raises(AngelError, match="'bart'"):
        from_encoder(replace(SETTINGS, name=str(tmp_path / "bart")))


def test_saved_and_loaded_it_is_the_same(tmp_path):
    backbone = tiny_backbone()
    backbone.format = replace(backbone.format, prefix=" {mention} means")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "left.over").touch()
    backbone.save(folder)
    assert not (folder / "left.over").exists()
    assert json.loads((folder / "angel.json").read_text())["prefix"] == " {mention} means"
    loaded = load_backbone(folder)
    assert loaded.format == backbone.format
    mentions = [example.mention for example in EXAMPLES]
    assert loaded.prompts.source_ids(mentions) == backbone.prompts.source_ids(mentions)
    assert loaded.prompts.fingerprint == backbone.prompts.fingerprint
    weights = backbone.model.state_dict()
    assert all(torch.equal(w, weights[n]) for n, w in loaded.model.state_dict().items())
    assert load_backbone(folder, max_source_tokens=500).format.max_source_tokens == 64
    assert load_backbone(folder, max_source_tokens=32).format.max_source_tokens == 32
