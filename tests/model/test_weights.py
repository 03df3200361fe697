"""Weight files: safetensors and PyTorch's, damaged and hostile ones."""

import os

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from spacy_angel.errors import AngelError
from spacy_angel.model.weights import (
    INT8_FILE,
    QUANTIZATION,
    float_weights,
    read_weights,
    write_weights,
)

WEIGHTS = {"a.weight": torch.arange(6.0).view(2, 3), "b": torch.tensor([1.5])}


def same(found, expected=WEIGHTS):
    return found.keys() == expected.keys() and all(
        found[key].dtype == expected[key].dtype and torch.equal(found[key], expected[key])
        for key in expected
    )


INT8 = {
    "a": torch.tensor([[-127, 3], [0, 1]], dtype=torch.int8),
    "a.scale": torch.tensor([0.5, 1e-14]),
    "b": torch.tensor([1.5]),
}


def test_int8_has_a_file_of_its_own(tmp_path):
    write_weights(tmp_path, INT8)
    assert [file.name for file in tmp_path.iterdir()] == [INT8_FILE]
    assert same(read_weights(tmp_path), INT8)
    assert torch.equal(float_weights(INT8)["a"], INT8["a"] * INT8["a.scale"][:, None])
    with safe_open(tmp_path / INT8_FILE, "pt") as file:
        assert file.metadata() == {"quantization": QUANTIZATION}


def test_what_was_there_before_is_not_read_again(tmp_path):
    for weights in (WEIGHTS, INT8, WEIGHTS):
        write_weights(tmp_path, weights)
        assert same(read_weights(tmp_path), weights)
        assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"a.scale": None},
        {"a.scale": torch.ones(3)},
        {"a.scale": torch.ones(2).half()},
        {"a.scale": torch.tensor([1.0, float("nan")])},
        {"a.scale": torch.tensor([0.0, 1.0])},
        {"a": INT8["a"][0]},
    ],
)
def test_int8_without_its_scales_is_not_read(tmp_path, change):
    weights = {key: tensor for key, tensor in {**INT8, **change}.items() if tensor is not None}
    save_file(weights, tmp_path / INT8_FILE, metadata={"quantization": QUANTIZATION})
    with pytest.raises(AngelError, match=r"a of the shape .* needs one finite float32 scale"):
        read_weights(tmp_path)


@pytest.mark.parametrize("metadata", [None, {"quantization": "blocks.v7"}])
def test_int8_by_another_rule_is_refused(tmp_path, metadata):
    save_file(INT8, tmp_path / INT8_FILE, metadata=metadata)
    with pytest.raises(AngelError, match=r"use the format .* not 'spacy_angel.int8_rows.v1'"):
        read_weights(tmp_path)


class Hostile:
    def __reduce__(self):
        return os.mkdir, ("hostile",)


@pytest.mark.parametrize("payload", [{"a": Hostile()}, Hostile()])
def test_a_pytorch_file_runs_no_code(tmp_path, monkeypatch, payload):
    monkeypatch.chdir(tmp_path)
    torch.save(payload, tmp_path / "pytorch_model.bin")
    with pytest.raises(AngelError, match=r"Cannot read the weights .*pytorch_model\.bin"):
        read_weights(tmp_path)
    assert not (tmp_path / "hostile").exists()


@pytest.mark.parametrize("name", ["model.safetensors", INT8_FILE, "pytorch_model.bin"])
@pytest.mark.parametrize("damage", ["empty", "cut", "foreign"])
def test_damaged_files(tmp_path, name, damage):
    path = tmp_path / name
    torch.save(WEIGHTS, path) if name.endswith("bin") else save_file(WEIGHTS, path)
    content = path.read_bytes()
    path.write_bytes(
        {"empty": b"", "cut": content[: len(content) // 2], "foreign": b"<html>not found"}[damage]
    )
    with pytest.raises(AngelError, match=f"Cannot read the weights .*{name}"):
        read_weights(tmp_path)


def test_no_weights(tmp_path):
    with pytest.raises(AngelError, match=r"No weights in .*model\.safetensors, pytorch_model\.bin"):
        read_weights(tmp_path)
