"""What a config's `backbone.kind` may be.

A kind is a row of `BACKBONES`; another package adds one by an entry point of the group
`spacy_angel_backbones` that gives a `MakeBackbone`.
"""

from collections.abc import Iterable
from typing import Protocol

from ..settings.config_tables import BackboneSettings
from ..settings.registry import with_entry_points
from .backbones import Backbone, load_backbone
from .copied import from_encoder
from .fresh import fresh_bart


class MakeBackbone(Protocol):
    """Makes the model that training starts from."""

    def __call__(self, settings: BackboneSettings, names: Iterable[str]) -> Backbone:
        """settings (BackboneSettings): of the config. names (Iterable[str]): of the vocabulary, in
        normal form. RETURNS (Backbone): ready to train."""


def _from_checkpoint(settings: BackboneSettings, names: Iterable[str]) -> Backbone:
    return load_backbone(
        settings.name,
        settings.max_source_tokens,
        tokenizer=settings.tokenizer,
        preset=settings.preset,
    )


def _from_encoder(settings: BackboneSettings, names: Iterable[str]) -> Backbone:
    return from_encoder(settings)


BACKBONES: dict[str, MakeBackbone] = {
    "pretrained": _from_checkpoint,
    "encoder": _from_encoder,
    "fresh": fresh_bart,
}


def all_backbones() -> dict[str, MakeBackbone]:
    """RETURNS (dict[str, MakeBackbone]): by kind, those of other packages among them."""
    return with_entry_points(BACKBONES, "spacy_angel_backbones")


def make_backbone(settings: BackboneSettings, names: Iterable[str]) -> Backbone:
    """The model that a config asks for.

    settings (BackboneSettings): kind, checkpoint, sizes.
    names (Iterable[str]): of the vocabulary; only `fresh` reads them.
    RETURNS (Backbone): ready to train.
    """
    return all_backbones()[settings.kind](settings, names)
