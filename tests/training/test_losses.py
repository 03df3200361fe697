import math

import pytest
import torch
from support.entry_points import install
from support.helpers import ROOT
from support.tiny_training import EXAMPLES, PAIRS, tiny_backbone

from spacy_angel.errors import AngelError
from spacy_angel.training.course.config import load_config
from spacy_angel.training.data.batches import (
    collate_examples,
    collate_pairs,
    encode_examples,
    encode_pairs,
)
from spacy_angel.training.models.losses import (
    IGNORE,
    LOSSES,
    Loss,
    NameLogProbs,
    all_losses,
    label_logits,
    mean_nll,
    name_log_probs,
    nll_weight,
    pair_log_probs,
    parameter,
    smoothed_cross_entropy,
)
from spacy_angel.training.settings.config_tables import LossSettings

CHOSEN = NameLogProbs(torch.tensor([-2.0, -6.0]), torch.tensor([2, 3]))
REJECTED = NameLogProbs(torch.tensor([-3.0, -4.0]), torch.tensor([1, 4]))


def minus_log_sigmoid(x):
    return math.log(1 + math.exp(-x))


def test_smoothed_cross_entropy_by_hand():
    # One label, probabilities 1/2, 1/4, 1/4, label 0, ε = 0.1.
    logits = torch.tensor([[math.log(2.0), 0.0, 0.0]])
    by_hand = 0.9 * math.log(2) + 0.1 * (math.log(2) + math.log(4) + math.log(4)) / 3
    loss = smoothed_cross_entropy(logits, torch.tensor([0]), 0.1)
    assert loss.item() == pytest.approx(by_hand, abs=1e-6)
    twice = smoothed_cross_entropy(logits.repeat(2, 1), torch.tensor([0, 0]), 0.1)
    assert twice.item() == pytest.approx(2 * by_hand, abs=1e-6)


def test_name_log_probs_sum_over_the_labels_of_each_row():
    labels = torch.tensor([[IGNORE, 0, 1, IGNORE], [IGNORE, IGNORE, 2, 2]])
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]]))
    logits = torch.cat([logits, logits[2:]])
    found = name_log_probs(logits, labels)
    assert found.sums.tolist() == pytest.approx(
        [math.log(0.5) + math.log(0.8), 2 * math.log(0.6)], abs=1e-6
    )
    assert found.lengths.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("settings", "margins"),
    [
        # Equation 4 with equation 5: β ((-2 + 2.5) - (-3 + 2)) = 0.1 · 1.5; β (-0.5 - 0.5).
        (LossSettings("dpo", beta=0.1), [0.15, -0.1]),
        (LossSettings("pairwise", beta=0.1), [0.1, -0.2]),
        (LossSettings("cpo", beta=0.1), [0.1, -0.2]),
        # Means over tokens: -1 and -2 against -3 and -1; less the margin γ.
        (LossSettings("simpo", beta=2.0), [2 * 2.0 - 0.5, 2 * -1.0 - 0.5]),
        (
            LossSettings("simpo", beta=2.0, parameters={"gamma": 0.3}),
            [2 * 2.0 - 0.3, 2 * -1.0 - 0.3],
        ),
    ],
)
def test_preference_losses_by_hand(settings, margins):
    reference = torch.tensor([-2.5, -5.5]), torch.tensor([-2.0, -4.5])
    losses = LOSSES[settings.kind].function(CHOSEN, REJECTED, settings, reference)
    assert losses.tolist() == pytest.approx([minus_log_sigmoid(m) for m in margins], abs=1e-6)


def test_a_parameter_is_the_loss_s_own():
    assert parameter(LossSettings("simpo"), "gamma") == 0.5
    with pytest.raises(AngelError, match=r"negative\.loss\.parameters\.gamma: 'dpo' has no such"):
        load_config(ROOT / "configs/ncbi.cfg", {"negative.loss.parameters": {"gamma": 0.3}})


def test_a_loss_compares_with_a_reference_or_does_not():
    assert {name for name, loss in LOSSES.items() if loss.needs_reference} == {"dpo"}


def test_cpo_has_its_likelihood_term():
    # Without it CPO would be the pairwise loss.
    assert {name: nll_weight(LossSettings(name)) for name in LOSSES} == {
        "dpo": 0,
        "pairwise": 0,
        "cpo": 1,
        "simpo": 0,
    }
    assert nll_weight(LossSettings("cpo", nll_weight=0.0)) == 0
    assert nll_weight(LossSettings("dpo", nll_weight=0.2)) == 0.2


def test_another_package_brings_a_loss(monkeypatch):
    def hinge(chosen, rejected, settings, reference):
        return torch.relu(1 - settings.beta * (chosen.sums - rejected.sums))

    install(monkeypatch, "spacy_angel_losses", hinge=Loss(hinge), dpo=Loss(hinge))
    assert all_losses()["dpo"] is LOSSES["dpo"]
    found = all_losses()["hinge"].function(CHOSEN, REJECTED, LossSettings("hinge", 0.5), None)
    assert found.tolist() == [0.5, 2.0]
    overrides = {"negative.loss.kind": "hinge", "negative.engine": "plain"}
    assert load_config(ROOT / "configs/ncbi.cfg", overrides).negative.loss.kind == "hinge"


def test_mean_nll_counts_tokens():
    assert mean_nll(CHOSEN).item() == pytest.approx(8 / 5)


def test_label_logits_are_the_models_own():
    backbone = tiny_backbone()
    model = backbone.model.eval()
    rows = encode_examples(EXAMPLES, backbone.prompts, backbone.max_target_tokens)
    batch = collate_examples([rows[i] for i in range(len(rows))], model.config.pad_token_id)
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
    rows = encode_pairs(PAIRS, backbone.prompts, backbone.max_target_tokens)
    batch = collate_pairs([rows[i] for i in range(len(rows))], model.config.pad_token_id)
    with torch.no_grad():
        together = name_log_probs(label_logits(model, batch), batch["labels"]).sums
        alone = []
        for side in ("chosen", "rejected"):
            for i in range(len(rows)):
                source, prefix, name = (rows[i][key].tolist() for key in ("source", "prefix", side))
                logits = model(
                    input_ids=torch.tensor([source]),
                    decoder_input_ids=torch.tensor([prefix + name[:-1]]),
                ).logits[0]
                log_probs = logits[len(prefix) - 1 :].log_softmax(-1)
                alone.append(sum(log_probs[t, token].item() for t, token in enumerate(name)))
    assert together.tolist() == pytest.approx(alone, abs=1e-4)


def test_the_first_half_of_a_batch_is_chosen_the_second_rejected():
    backbone = tiny_backbone()
    model = backbone.model.eval()
    rows = encode_pairs(PAIRS, backbone.prompts, backbone.max_target_tokens)
    batch = collate_pairs([rows[i] for i in range(len(rows))], model.config.pad_token_id)
    labels = batch["labels"]
    with torch.no_grad():
        logits = label_logits(model, batch)
        both = name_log_probs(logits, labels)
        chosen, rejected, (chosen_mean, rejected_mean) = pair_log_probs(model, batch)
    n = len(PAIRS)
    assert len(labels) == 2 * n
    assert chosen.sums.tolist() == pytest.approx(both.sums[:n].tolist())
    assert rejected.sums.tolist() == pytest.approx(both.sums[n:].tolist())
    assert rejected.lengths.tolist() == both.lengths[n:].tolist()
    row_of_label = torch.nonzero(labels != IGNORE)[:, 0]
    assert chosen_mean.item() == pytest.approx(logits[row_of_label < n].mean().item())
    assert rejected_mean.item() == pytest.approx(logits[row_of_label >= n].mean().item())


def test_labels_that_do_not_count_are_those_that_torch_ignores():
    assert torch.nn.CrossEntropyLoss().ignore_index == IGNORE
