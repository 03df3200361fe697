import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tiny_training import EXAMPLES, PAIRS, tiny_backbone

from spacy_angel.errors import AngelWarning
from spacy_angel.model.mention import Mention
from spacy_angel.training.data.batches import (
    PAIR,
    Example,
    collate_examples,
    collate_pairs,
    encode,
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
    rows = encode(PAIRS, prompts, 64, PAIR)
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


def test_rows_longer_than_the_limit_are_left_out_with_a_warning():
    examples = [*EXAMPLES, Example(Mention("x"), "heart failing " * 40)]
    with pytest.warns(AngelWarning, match="1 of 5 examples are longer"):
        assert len(encode(examples, tiny_backbone().prompts, 20)) == 4


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
