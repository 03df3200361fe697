"""Linear layers for inference against torch's own, with and without the operators of oneDNN."""

import pytest
import torch
from torch.nn import functional

from spacy_angel.model import linear
from spacy_angel.model.linear import (
    Int8Linear,
    Linear,
    has_fast_kernel,
    quantize_rows,
    quantize_weight,
)


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch has no oneDNN here")
def test_torch_still_has_the_operators_that_are_not_public():
    assert has_fast_kernel(torch.ones(2, 2))
    assert not has_fast_kernel(torch.ones(2, 2, dtype=torch.float16))
    # Whether the int8 product is exact is the processor's; that torch computes it is not.
    packed = torch.ops.onednn.qlinear_prepack(torch.ones(2, 4, dtype=torch.int8), None)
    rows, zeros = torch.full((1, 4), 3, dtype=torch.uint8), torch.zeros(2, dtype=torch.int64)
    product = linear._int8_product(rows, 1, packed, torch.ones(2), zeros, torch.float32)
    assert product.tolist() == [[8, 8]]


@pytest.mark.parametrize("gelu", [False, True])
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("with_operators", [True, False])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 0.05)])
def test_layers(gelu, with_bias, with_operators, dtype, tolerance, monkeypatch):
    torch.manual_seed(0)
    if not with_operators:
        monkeypatch.setattr(linear, "has_fast_kernel", lambda weight: False)
    weight, x = torch.randn(24, 16).to(dtype), torch.randn(5, 16).to(dtype)
    bias = torch.randn(24).to(dtype) if with_bias else None
    layer = Linear(weight, bias, gelu)
    expected = functional.linear(x, weight, bias)
    expected = functional.gelu(expected) if gelu else expected
    found = layer.forward(x)
    assert found.dtype == dtype
    assert torch.allclose(found.float(), expected.float(), atol=tolerance, rtol=tolerance)
    assert torch.equal(layer.weight(), weight)


@pytest.mark.parametrize("gelu", [False, True])
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("with_operators", [True, False])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.bfloat16, 0.1)])
def test_int8_layers(gelu, with_bias, with_operators, dtype, tolerance, monkeypatch):
    torch.manual_seed(0)
    if not with_operators:
        monkeypatch.setattr(linear, "int8_is_exact", lambda: False)
    weight, scale = quantize_weight(torch.randn(24, 32))
    x = torch.randn(5, 32)
    bias = torch.randn(24) if with_bias else None
    layer = Int8Linear(weight, scale, bias, dtype, gelu)
    rows, row_scale = quantize_rows(x)
    product = (rows.float() - 128) @ weight.float().T * scale * row_scale
    expected = product + (0 if bias is None else bias)
    expected = functional.gelu(expected) if gelu else expected
    found = layer.forward(x)
    assert found.dtype == dtype
    assert torch.allclose(found.float(), expected, atol=tolerance)
    assert torch.equal(layer.weight(), weight)


def test_an_int8_row_does_not_see_its_neighbors():
    torch.manual_seed(0)
    weight, scale = quantize_weight(torch.randn(24, 32))
    layer = Int8Linear(weight, scale, None, torch.float32)
    x = torch.randn(6, 32)
    beside_large = torch.cat((x, 1000 * torch.randn(3, 32)))
    assert torch.equal(layer.forward(beside_large)[:6], layer.forward(x))
