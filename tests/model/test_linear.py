"""Linear layers for inference against torch's own, with and without the operators of oneDNN."""

import pytest
import torch
from torch.nn import functional

from spacy_angel.model import linear
from spacy_angel.model.linear import Linear, has_fast_kernel

ACTIVATIONS = {
    None: lambda x: x,
    "gelu": functional.gelu,
    "gelu_new": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": functional.relu,
    "silu": functional.silu,
}


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch has no oneDNN here")
def test_torch_still_has_the_operators_that_are_not_public() -> None:
    assert has_fast_kernel(torch.ones(2, 2))
    assert not has_fast_kernel(torch.ones(2, 2, dtype=torch.float16))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("with_operators", [True, False])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 0.05)])
def test_layers(activation, with_bias, with_operators, dtype, tolerance, monkeypatch) -> None:
    torch.manual_seed(0)
    if not with_operators:
        monkeypatch.setattr(linear, "has_fast_kernel", lambda weight: False)
    weight, x = torch.randn(24, 16).to(dtype), torch.randn(5, 16).to(dtype)
    bias = torch.randn(24).to(dtype) if with_bias else None
    layer = Linear(weight, bias)
    expected = ACTIVATIONS[activation](functional.linear(x, weight, bias))
    found = layer(x, activation)
    assert found.dtype == dtype
    assert torch.allclose(found.float(), expected.float(), atol=tolerance, rtol=tolerance)
    assert torch.equal(layer.weight(), weight)
