import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tiny_training import EXAMPLES, tiny_backbone

from spacy_angel.errors import AngelWarning
from spacy_angel.model.mention import Mention
from spacy_angel.training.data.batches import (
    Example,
    encode,
    order_by_length,
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
