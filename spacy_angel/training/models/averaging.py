"""The mean of several models' weights: one model that does what the several do on average.

For models that go back to the same fine-tuned one (Wortsman et al., 2022, "Model soups", section 2:
the uniform soup); weights of unrelated models have no meaningful mean.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ...errors import AngelError
from .backbones import Backbone, load_backbone

# What a checkpoint's config says beside what the model computes.
_REMARKS = {"_name_or_path", "transformers_version", "torch_dtype", "dtype"}


def average_models(
    folders: Sequence[Path], output: Path, shares: Sequence[float] | None = None
) -> None:
    """Write the model whose weights are the mean of those of others.

    folders (Sequence[Path]): n models with the same vocabulary of tokens, layout and prompts;
        these, and all that is no number with a fraction, come from the first.
    output (Path): folder to write; a model that stands there is replaced once the mean is made.
    shares (Sequence[float] | None): n numbers above 0, in proportion; by default all equal.
    RAISES (AngelError): no model or a folder that is none, other than n shares or one not above 0,
        models that differ, weights that cannot be read, or an output in whose place something else
        stands.
    """
    parts = check_shares(shares, len(folders))
    for folder in folders:
        if not _is_model(folder):
            raise AngelError(f"{folder} is not a model folder: it has no config.json.")
    output = output.resolve()
    if output.exists() and not _is_model(output):
        raise AngelError(
            f"{output} contains something other than a model folder. Use a new folder."
        )
    mean = load_backbone(folders[0])
    sums = _times(mean.model.state_dict(), parts[0])
    for folder, share in zip(folders[1:], parts[1:], strict=True):
        other = load_backbone(folder)
        if problem := _difference(mean, other):
            raise AngelError(
                f"{folder} has {problem} than {folders[0]}, so they cannot be averaged."
            )
        for name, part in _times(other.model.state_dict(), share).items():
            sums[name] += part
    mean.model.load_state_dict(sums, strict=False)
    mean.save(output)


def check_shares(shares: Sequence[float] | None, n: int) -> list[float]:
    """shares (Sequence[float] | None): n numbers above 0; None: equal ones. n (int): models.
    RETURNS (list[float]): in the same proportion, with the sum 1.
    RAISES (AngelError): no model, other than n shares, or one that is not above 0 or infinite."""
    parts = list(shares or [1.0] * n)
    if not n or len(parts) != n or not all(0 < part < float("inf") for part in parts):
        raise AngelError(f"Expected one finite share above 0 for each of {n} models, not {parts}.")
    total = sum(parts)
    return [part / total for part in parts]


def _is_model(folder: Path) -> bool:
    return (folder / "config.json").is_file()


def _times(weights: dict[str, Tensor], factor: float) -> dict[str, Tensor]:
    return {
        name: weight.to(torch.float64) * factor
        for name, weight in weights.items()
        if weight.is_floating_point()
    }


def _difference(first: Backbone, other: Backbone) -> str | None:
    if first.tokenizer.get_vocab() != other.tokenizer.get_vocab():
        return "another tokenizer"
    # One that has learned to write suffixes may be joined to the one that it began with.
    if replace(first.format, suffixes=False) != replace(other.format, suffixes=False):
        return "other prompts"
    one, two = _layout(first), _layout(other)
    changed = sorted(key for key in one | two if one.get(key) != two.get(key))
    return f"another layout ({', '.join(changed[:3])})" if changed else None


def _layout(backbone: Backbone) -> dict[str, Any]:
    """RETURNS (dict[str, Any]): the config without remarks, and without what is for training."""
    return {
        key: value
        for key, value in backbone.model.config.to_dict().items()
        if key not in _REMARKS and not key.endswith(("dropout", "layerdrop"))
    }
