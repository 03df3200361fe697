import pytest
import torch
from support.models import log_prob_by_transformers
from support.tiny_training import EXAMPLES, PAIRS, tiny_backbone

from spacy_angel.training.data.batches import PAIR, collate, encode
from spacy_angel.training.models.losses import (
    IGNORE,
    label_logits,
    pair_log_probs,
)


def test_label_logits_are_the_models_own():
    backbone = tiny_backbone()
    model = backbone.model.eval()
    rows = encode(EXAMPLES, backbone.prompts, backbone.max_target_tokens)
    batch = collate([rows[i] for i in range(len(rows))], model.config.pad_token_id)
    shapes = []
    projection = model.get_output_embeddings()
    projection.register_forward_hook(lambda *parts: shapes.append(tuple(parts[2].shape[:-1])))
    with torch.no_grad():
        here = label_logits(model, batch)
        whole = model(**{k: v for k, v in batch.items() if k != "labels"}).logits
    assert torch.allclose(here, whole[batch["labels"] != IGNORE], atol=1e-6)
    # few different shapes, however many labels there are
    assert shapes == [(64,), tuple(batch["labels"].shape)]


def test_a_batch_equals_its_rows_alone_and_unpadded():
    backbone = tiny_backbone()
    model = backbone.model.eval()
    rows = encode(PAIRS, backbone.prompts, backbone.max_target_tokens, PAIR)
    batch = collate([rows[i] for i in range(len(rows))], model.config.pad_token_id)
    with torch.no_grad():
        chosen, rejected, _ = pair_log_probs(model, batch)
        together = torch.cat([chosen.sums, rejected.sums])
    alone = [
        log_prob_by_transformers(model, backbone.prompts, pair.mention, getattr(pair, side))
        for side in PAIR
        for pair in PAIRS
    ]
    assert together.tolist() == pytest.approx(alone, abs=1e-4)
