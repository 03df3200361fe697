"""The mean of several recognisers' weights, as `averaging` has it for models of the linker."""

from collections.abc import Sequence
from pathlib import Path

import torch

from ...errors import AngelError
from ...recognition.finder import CONFIG_FILE, MentionFinder
from ..models.averaging import check_shares


def is_recogniser(folder: Path) -> bool:
    """folder (Path): any. RETURNS (bool): whether `MentionFinder.to_disk` wrote it."""
    return (folder / CONFIG_FILE).is_file()


def average_recognisers(
    folders: Sequence[Path], output: Path, shares: Sequence[float] | None = None
) -> None:
    """Write the recogniser whose weights are the mean of those of others.

    folders (Sequence[Path]): n recognisers that began with one encoder and one seed, with the same
        labels, windows and tokenizer.
    output (Path): folder to write, with int8 weights.
    shares (Sequence[float] | None): n numbers above 0, in proportion; by default all equal.
    RAISES (AngelError): other than n shares or one not above 0, recognisers that differ, or a
        folder that is none.
    """
    parts = check_shares(shares, len(folders))
    finders = [MentionFinder.from_disk(folder) for folder in folders]
    first = finders[0]
    for folder, finder in zip(folders, finders, strict=True):
        if (finder.config, finder.definition) != (first.config, first.definition):
            problem = "other labels, windows, layout or tokenizer"
            raise AngelError(
                f"{folder} has {problem} than {folders[0]}, so they cannot be averaged."
            )
    weights = [finder.weights() for finder in finders]
    mean = {
        name: torch.stack(
            [part * own[name].double() for part, own in zip(parts, weights, strict=True)]
        ).sum(dim=0)
        for name in weights[0]
    }
    average = first.with_weights({name: weight.float() for name, weight in mean.items()})
    average.to_disk(output, storage="int8")
