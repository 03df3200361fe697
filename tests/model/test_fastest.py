import pytest
import torch

from spacy_angel.model import fastest
from spacy_angel.model.fastest import fastest_dtype

CPU = torch.device("cpu")


@pytest.fixture
def seconds(monkeypatch):
    """What the measurement is made to say."""
    values = {"float32": 6.0, "bfloat16": 6.0, "int8": 6.0}
    monkeypatch.setattr(fastest, "measure_dtypes", lambda: values)
    fastest_dtype.cache_clear()
    yield values
    fastest_dtype.cache_clear()


@pytest.mark.parametrize(
    ("bfloat16", "int8", "chosen"),
    [
        (1.0, 2.0, "bfloat16"),
        (2.0, 1.0, "int8"),
        (5.1, 9.0, "float32"),  # 15 % less is not enough
        (5.0, 9.0, "bfloat16"),
        (9.0, 9.0, "float32"),
    ],
)
def test_the_fastest_is_chosen_if_it_is_clearly_faster(seconds, bfloat16, int8, chosen):
    seconds.update(bfloat16=bfloat16, int8=int8)
    assert fastest_dtype(CPU, with_int8=True) == chosen


def test_int8_is_not_for_every_model(seconds):
    seconds.update(bfloat16=3.0, int8=1.0)
    assert fastest_dtype(CPU, with_int8=False) == "bfloat16"
