import math

import pytest
import torch
from support.models import log_prob_by_transformers
from support.tiny_training import PAIRS, metrics, quick, tiny_backbone

from spacy_angel.training.course.negative import reference_log_probs, train_negative
from spacy_angel.training.data.batches import PAIR, collate, encode
from spacy_angel.training.models.losses import pair_log_probs
from spacy_angel.training.settings.config_tables import LossSettings, NegativeSettings

KINDS = ("dpo", "pairwise", "cpo", "simpo")


def log_probs(backbone, rows):
    batch = collate([rows[i] for i in range(len(rows))], 1)
    with torch.no_grad():
        chosen, rejected, _ = pair_log_probs(backbone.model.eval(), batch)
    return chosen, rejected


def train(output, kind="dpo", backbone=None, loss=None, **values):
    backbone = backbone or tiny_backbone()
    rows = encode(PAIRS, backbone.prompts, backbone.max_target_tokens, PAIR)
    reference = tiny_backbone()
    with torch.no_grad():
        # Another model than the policy, so that equation 5 does not start at zero.
        reference.model.model.shared.weight.mul_(1.2)
    rows.values = reference_log_probs(reference, rows)
    settings = NegativeSettings(
        optimizer=quick(**{"learning_rate": 1e-3, **values}),
        loss=LossSettings(
            kind=kind,
            **{"beta": 0.5, "nll_weight": 0.3, **(loss or {})},
        ),
    )
    return train_negative(backbone, rows, settings, output), rows


@pytest.mark.parametrize("kind", KINDS)
def test_first_loss_by_hand(tmp_path, kind):
    # Appendix C; without the likelihood term CPO would be the pairwise loss.
    weight = 1.0 if kind == "cpo" else 0.3
    backbone = tiny_backbone()
    _, rows = train(tmp_path, kind, loss={"nll_weight": None if kind == "cpo" else 0.3}, steps=1)
    chosen, rejected = log_probs(backbone, rows)
    expected = 0.0
    for i in range(len(PAIRS)):
        win, lose = chosen.sums[i].item(), rejected.sums[i].item()
        if kind == "dpo":
            win -= rows.values["ref_chosen_logps"][i]
            lose -= rows.values["ref_rejected_logps"][i]
        if kind == "simpo":
            win, lose = win / chosen.lengths[i].item(), lose / rejected.lengths[i].item()
        margin = 0.5 * (win - lose) - (0.5 if kind == "simpo" else 0)
        expected += math.log(1 + math.exp(-margin)) / len(PAIRS)
    expected += weight * -chosen.sums.sum().item() / chosen.lengths.sum().item()
    [line] = metrics(tmp_path)
    assert line["loss"] == pytest.approx(expected, abs=1e-4)


def test_learns_to_prefer_and_logs_both_sides(tmp_path):
    backbone = tiny_backbone()
    rows = encode(PAIRS, backbone.prompts, backbone.max_target_tokens, PAIR)
    chosen, rejected = log_probs(backbone, rows)
    before = (chosen.sums - rejected.sums).min()
    assert before < 0
    train(tmp_path, backbone=backbone, steps=60, loss={"nll_weight": 0.0})
    chosen, rejected = log_probs(backbone, rows)
    assert (chosen.sums - rejected.sums).min() > 5
    last = metrics(tmp_path)[-1]
    assert last["logps/chosen"] > last["logps/rejected"]
    assert last["rewards/margins"] == pytest.approx(
        last["rewards/chosen"] - last["rewards/rejected"], abs=1e-4
    )


def test_log_probs_are_those_of_transformers():
    backbone = tiny_backbone()
    rows = encode(PAIRS, backbone.prompts, backbone.max_target_tokens, PAIR)
    reference = reference_log_probs(backbone, rows, batch_size=3)
    for side, found in zip(PAIR, log_probs(backbone, rows), strict=True):
        by_hand = [
            log_prob_by_transformers(
                backbone.model, backbone.prompts, pair.mention, getattr(pair, side)
            )
            for pair in PAIRS
        ]
        # Together in a batch, padded, as alone.
        assert found.sums.tolist() == pytest.approx(by_hand, abs=1e-4)
        assert reference[f"ref_{side}_logps"].tolist() == pytest.approx(by_hand, abs=1e-4)
