"""Linear layers for inference against torch's own, and the int8 rules with numbers."""

import pytest
import torch
from torch.nn import functional

from spacy_angel.model import linear
from spacy_angel.model.linear import (
    FloatLinear,
    Int8Linear,
    make_linear,
    quantize_rows,
    quantize_weight,
)

ACTIVATIONS = {
    "none": lambda x: x,
    "gelu": functional.gelu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": functional.relu,
    "silu": functional.silu,
}


@pytest.fixture(autouse=True)
def _fixed_numbers() -> None:
    torch.manual_seed(0)


def test_rows_are_scaled_by_their_largest_magnitude() -> None:
    x = torch.tensor([[-2.0, 1.0], [0.5, 0.25], [0.0, 0.0]])
    values, scale = quantize_rows(x)
    # 1 / 2 * 127 = 63.5, 0.25 / 0.5 * 127 = 63.5: to the even neighbour 64; shifted by 128.
    assert values.tolist() == [[1, 192], [255, 192], [128, 128]]
    assert scale[:2, 0].tolist() == pytest.approx([2 / 127, 0.5 / 127])


def test_weights_are_scaled_by_output() -> None:
    values, scale = quantize_weight(torch.tensor([[1.0, -4.0, 2.0], [0.1, 0.0, 0.0]]))
    assert values.tolist() == [[32, -127, 64], [127, 0, 0]]
    assert scale.tolist() == pytest.approx([4 / 127, 0.1 / 127])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_known_scales_bring_the_same_values_back(dtype: torch.dtype) -> None:
    values, scale = quantize_weight(torch.randn(64, 96))
    between = (values.float() * scale[:, None]).to(dtype)
    again, same_scale = quantize_weight(between, scale)
    assert torch.equal(again, values)
    assert same_scale is scale


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 0.05)])
def test_floating_point(activation, with_bias, dtype, tolerance) -> None:
    weight, x = torch.randn(24, 16).to(dtype), torch.randn(5, 16).to(dtype)
    bias = torch.randn(24).to(dtype) if with_bias else None
    layer = make_linear(weight, bias, None)
    assert isinstance(layer, FloatLinear)
    expected = ACTIVATIONS[activation](functional.linear(x, weight, bias))
    found = layer(x, activation=activation)
    assert found.dtype == dtype
    assert torch.allclose(found.float(), expected.float(), atol=tolerance, rtol=tolerance)
    assert torch.equal(layer.weight(), weight)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("with_bias", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_int8_computes_with_the_rounded_values(activation, with_bias, dtype) -> None:
    weight, scale = quantize_weight(torch.randn(24, 32))
    x = torch.randn(5, 32)
    bias = torch.randn(24) if with_bias else None
    layer = make_linear(weight, bias, scale)
    assert isinstance(layer, Int8Linear)
    rows, row_scale = quantize_rows(x)
    product = (rows.float() - 128) @ weight.float().T * scale * row_scale
    expected = ACTIVATIONS[activation](product + (0 if bias is None else bias))
    found = layer(x, dtype, activation)
    assert found.dtype == dtype
    tolerance = 1e-4 if dtype == torch.float32 else 0.1
    assert torch.allclose(found.float(), expected, atol=tolerance)
    assert torch.equal(layer.weight(), weight)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_torch_without_the_operators_computes_the_same(activation, dtype, monkeypatch) -> None:
    weight, bias, x = torch.randn(24, 32), torch.randn(24), torch.randn(5, 32)
    values, scale = quantize_weight(weight)
    kinds = [(weight.to(dtype), bias.to(dtype), None), (values, bias, scale)]
    with_operators = [make_linear(*kind) for kind in kinds]
    monkeypatch.setattr(linear, "has_operators", lambda *names: False)
    monkeypatch.setattr(linear, "int8_is_exact", lambda: False)
    without = [make_linear(*kind) for kind in kinds]
    tolerance = 1e-4 if dtype == torch.float32 else 0.1
    for one, other in zip(with_operators, without, strict=True):
        found, expected = other(x.to(dtype), dtype, activation), one(x.to(dtype), dtype, activation)
        assert found.dtype == expected.dtype == dtype
        assert torch.allclose(found.float(), expected.float(), atol=tolerance)


def test_an_int8_row_does_not_see_its_neighbours() -> None:
    weight, scale = quantize_weight(torch.randn(24, 32))
    layer = make_linear(weight, None, scale)
    x = torch.randn(6, 32)
    beside_large = torch.cat((x, 1000 * torch.randn(3, 32)))
    assert torch.equal(layer(beside_large)[:6], layer(x))
