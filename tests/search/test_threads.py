import threading

import pytest
import torch

from spacy_angel.search.generator import map_batches


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_results_keep_the_order_and_threads_come_back(two_threads):
    seen = set()

    def square(x):
        seen.add(threading.get_ident())
        return x * x, torch.get_num_threads()

    assert list(map_batches(square, [1, 2, 3, 4], 2)) == [(1, 1), (4, 1), (9, 1), (16, 1)]
    assert threading.get_ident() not in seen
    assert torch.get_num_threads() == 2
