import pytest
import torch

from spacy_angel.model import fastest
from spacy_angel.model.fastest import fastest_dtype


@pytest.mark.parametrize(
    ("bfloat16", "int8", "chosen", "without_int8"),
    [
        (1.0, 2.0, "bfloat16", "bfloat16"),
        (2.0, 1.0, "int8", "bfloat16"),
        (5.0, 9.0, "bfloat16", "bfloat16"),
        (5.1, 9.0, "float32", "float32"),  # 15 % less is not enough
        (9.0, 1.0, "int8", "float32"),
    ],
)
def test_the_fastest_is_chosen_if_it_is_clearly_faster(
    monkeypatch, bfloat16, int8, chosen, without_int8
):
    measured = {"float32": 6.0, "bfloat16": bfloat16, "int8": int8}
    monkeypatch.setattr(fastest, "seconds_of", measured.get)
    fastest_dtype.cache_clear()
    cpu = torch.device("cpu")
    assert fastest_dtype(cpu, with_int8=True) == chosen
    assert fastest_dtype(cpu, with_int8=False) == without_int8
    fastest_dtype.cache_clear()
