"""Kinds of encoder-decoders, and which of them computes a checkpoint for the search.

A family is a module, or an object, with the functions of `Family`. Another package adds one by an
entry point of the group `spacy_angel_model_families`; those are asked first.
"""

from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch

from ..errors import AngelError
from . import bart, seq2seq
from .interface import Model

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel

GROUP = "spacy_angel_model_families"


class Family(Protocol):
    """How the checkpoints of some configs become a `Model`, and are saved again."""

    def is_supported(self, config: "PretrainedConfig") -> bool:
        """config (PretrainedConfig): of a checkpoint. RETURNS (bool): whether the family computes
        what transformers computes for it."""

    def load(
        self, folder: Path, config: "PretrainedConfig", device: torch.device, dtype: torch.dtype
    ) -> Model:
        """Read a checkpoint.

        folder (Path): a Hugging Face folder.
        config (PretrainedConfig): its config.
        device (torch.device), dtype (torch.dtype): where and in which type it runs.
        RETURNS (Model): for the search.
        RAISES (AngelError): files, device or type do not fit.
        """

    def from_module(self, module: "PreTrainedModel", dtype: torch.dtype) -> Model:
        """Take a model in memory, e.g. one that is being trained.

        module (PreTrainedModel): in evaluation mode.
        dtype (torch.dtype): in which it should run, where the family can choose.
        RETURNS (Model): for the search.
        """

    def save(self, model: Any, folder: Path, dtype: torch.dtype | None) -> None:
        """Write the weights, and nothing else.

        model (Model): of this family.
        folder (Path): exists.
        dtype (torch.dtype | None): of the weights there; None: as they were read.
        RAISES (AngelError): the family has no weights of that type.
        """


_OWN: tuple[Family, ...] = (bart, seq2seq)


def family_of(config: "PretrainedConfig") -> Family:
    """The family of a checkpoint: one of another package, BART's fast one, or the general one.

    config (PretrainedConfig): of the checkpoint.
    RETURNS (Family): the first that supports it.
    RAISES (AngelError): none does, for it is no encoder-decoder.
    """
    for family in (*other_families(), *_OWN):
        if family.is_supported(config):
            return family
    raise AngelError(
        "Expected an encoder-decoder such as BART or T5, not a model of type "
        f"{config.model_type!r}."
    )


def other_families() -> list[Family]:
    """RETURNS (list[Family]): those of other packages, by name."""
    others = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    return [entry.load() for entry in others]
