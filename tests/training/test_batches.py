import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from support.tiny_training import EXAMPLES, PAIRS, tiny_backbone

from spacy_angel.model.mention import Mention
from spacy_angel.training.data.batches import (
    Example,
    LengthSampler,
    collate_examples,
    collate_pairs,
    encode_examples,
    encode_pairs,
    order_by_length,
)


def ids(*values):
    return np.array(values, dtype=np.int32)


def test_collated_examples():
    rows = [
        {"source": ids(0, 5, 2), "prefix": ids(2, 7), "name": ids(8, 9, 2)},
        {"source": ids(0, 5, 6, 2), "prefix": ids(2, 7, 7), "name": ids(4, 2)},
    ]
    batch = {name: values.tolist() for name, values in collate_examples(rows, 1).items()}
    assert batch == {
        "input_ids": [[0, 5, 2, 1, 1, 1, 1, 1], [0, 5, 6, 2, 1, 1, 1, 1]],
        "attention_mask": [[1, 1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0]],
        "decoder_input_ids": [[2, 7, 8, 9, 1, 1, 1, 1], [2, 7, 7, 4, 1, 1, 1, 1]],
        "labels": [
            [-100, 8, 9, 2, -100, -100, -100, -100],
            [-100, -100, 4, 2, -100, -100, -100, -100],
        ],
    }


def test_collated_pairs_have_the_chosen_rows_first():
    rows = [
        {
            "source": ids(0, source, 2),
            "prefix": ids(2, 7),
            "chosen": ids(chosen, 2),
            "rejected": ids(rejected, 2),
            "ref_chosen_logps": np.float32(-1.5),
            "ref_rejected_logps": np.float32(-2.5),
        }
        for source, chosen, rejected in [(5, 10, 20), (6, 11, 21)]
    ]
    batch = collate_pairs(rows, 1)
    assert batch["input_ids"][:, 1].tolist() == [5, 6, 5, 6]
    assert batch["labels"][:, 1].tolist() == [10, 11, 20, 21]
    assert batch["decoder_input_ids"][:, 2].tolist() == [10, 11, 20, 21]
    assert batch["ref_chosen_logps"].tolist() == [-1.5, -1.5]
    assert batch["ref_rejected_logps"].tolist() == [-2.5, -2.5]


def test_encoding_keeps_what_the_prompts_give():
    prompts = tiny_backbone().prompts
    rows = encode_pairs(PAIRS, prompts, 64)
    mentions = [pair.mention for pair in PAIRS]
    assert [row["source"].tolist() for row in map(rows.__getitem__, range(4))] == (
        prompts.source_ids(mentions)
    )
    assert rows[1]["prefix"].tolist() == prompts.prefix_ids(mentions)[1]
    assert rows[2]["chosen"].tolist() == prompts.encode_names(["heart failure"])[0]
    assert rows[3]["rejected"].tolist() == prompts.encode_names(["cardiac failure"])[0]
    target = rows.lengths[1]
    assert target[3] == len(rows[3]["prefix"]) + max(
        len(rows[3]["chosen"]), len(rows[3]["rejected"])
    )


def test_rows_longer_than_the_limit_are_left_out_with_a_warning(caplog):
    examples = [*EXAMPLES, Example(Mention("x"), "heart failing " * 40)]
    rows = encode_examples(examples, tiny_backbone().prompts, 20)
    assert len(rows) == 4
    assert "1 examples are longer" in caplog.text


def test_a_name_longer_than_the_decoder_is_learned_as_the_search_will_see_it():
    backbone = tiny_backbone()
    name = "heart failing " * 40
    rows = encode_examples([Example(Mention("x"), name)], backbone.prompts, 64)
    (cut,) = backbone.prompts.encode_names([name])
    assert len(rows) == 1
    assert len(cut) < len(name.split())


@given(
    lengths=st.lists(st.tuples(st.integers(1, 60), st.integers(1, 20)), max_size=300),
    batch_size=st.integers(1, 7),
)
def test_order_takes_every_row_once(lengths, batch_size):
    source, target = np.array(lengths, dtype=np.int64).reshape(-1, 2).T
    order = order_by_length(source, target, batch_size, np.random.default_rng(0))
    assert sorted(order.tolist()) == list(range(len(lengths)))


def test_batches_hold_rows_of_like_length():
    source = np.array([8, 100] * 50)
    order = order_by_length(source, np.full(100, 5), 10, np.random.default_rng(0))
    assert all(len(set(source[order[i : i + 10]])) == 1 for i in range(0, 100, 10))
    shorts = [int(source[order[i]]) for i in range(0, 100, 10)]
    assert shorts != sorted(shorts)


def test_sampler_depends_on_seed_and_epoch_only():
    lengths = (np.arange(50), np.ones(50, dtype=np.int64))
    first, second = LengthSampler(lengths, 4, seed=1), LengthSampler(lengths, 4, seed=1)
    assert list(first) == list(first) == list(second)
    second.set_epoch(1)
    assert list(first) != list(second)
    assert list(LengthSampler(lengths, 4, seed=2)) != list(first)
    assert len(first) == 50
