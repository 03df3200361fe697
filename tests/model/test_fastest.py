import pytest
import torch

from spacy_angel.model import fastest
from spacy_angel.model.fastest import fastest_dtype


@pytest.mark.parametrize(("seconds", "chosen"), [(5.0, "bfloat16"), (5.1, "float32")])
def test_bfloat16_is_chosen_if_it_is_clearly_faster(monkeypatch, seconds, chosen):
    measured = {torch.float32: 6.0, torch.bfloat16: seconds}
    monkeypatch.setattr(fastest, "seconds_of", measured.get)
    fastest_dtype.cache_clear()
    assert fastest_dtype(torch.device("cpu")) == chosen
    fastest_dtype.cache_clear()
