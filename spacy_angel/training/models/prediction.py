"""Names that a model in training would answer, by our own constrained search."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tqdm import tqdm

from ...model.checkpoint import DTYPES
from ...model.families import family_of
from ...model.mention import Mention
from ..settings.config_tables import BeamSettings
from .backbones import Backbone

if TYPE_CHECKING:
    from ...search.generator import Generator
    from ...vocabulary.kb import ConceptKB


def generator_of(backbone: Backbone, dtype: str = "float32") -> "Generator":
    """The model in memory as the search takes it.

    backbone (Backbone): in evaluation mode.
    dtype (str): type of the weights in use; of the BART family only.
    RETURNS (Generator): with a copy of BART's weights, and with any other model itself.
    """
    from ...search.generator import Generator

    config = backbone.model.config
    model = family_of(config).from_module(backbone.model, DTYPES[dtype])
    return Generator(model, backbone.prompts, config)


def predict(
    mentions: Sequence[Mention],
    generator: "Generator",
    kb: "ConceptKB",
    settings: BeamSettings,
    k: int,
    description: str = "Searching",
) -> Iterator[list[tuple[int, str | None]]]:
    """Names by constrained beam search.

    mentions (Sequence[Mention]): any number; they are searched in blocks of like length.
    generator (Generator): the model.
    kb (ConceptKB): all its names are allowed.
    settings (BeamSettings): of the search.
    k (int): names a mention.
    description (str): of the progress bar.
    RETURNS (Iterator[list[tuple[int, str | None]]]): indices of names and their suffixes, best
        first, one list a mention.
    """
    from ...search.search import SearchSettings

    space = kb.search_space(generator.prompts, [None])
    beam_search = SearchSettings(
        k=k,
        num_beams=max(settings.num_beams, k),
        length_penalty=settings.length_penalty,
    )
    batch_size = settings.batch_size
    # Each block is sorted by length inside; a larger one wastes less, but shows less progress.
    block = 16 * batch_size
    with tqdm(total=len(mentions), desc=description, unit="mentions") as progress:
        for start in range(0, len(mentions), block):
            part = mentions[start : start + block]
            for result in generator.search(part, space, beam_search, batch_size=batch_size):
                yield [(found.name, found.suffix) for found in result.hypotheses]
            progress.update(len(part))
