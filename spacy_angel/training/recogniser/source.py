"""A recogniser that another one goes on from or learns from."""

import re
from pathlib import Path

from ...about import DATA, SHIPPED_NAMES
from ...errors import AngelError
from ...recognition.finder import CONFIG_FILE, MentionFinder
from ..models.copied import spread

_IN_PIPELINE = Path("angel_recogniser", "model")
_LAYER = re.compile(r"(model\.encoder\.layers\.)(\d+)(\..+)")


def folder_of(source: str) -> Path:
    """source (str): folder of a recogniser or of a pipeline that has one, or the name of one that
    ships. RETURNS (Path): the recogniser's."""
    folder = DATA / source if source in SHIPPED_NAMES else Path(source)
    return folder if (folder / CONFIG_FILE).is_file() else folder / _IN_PIPELINE


def open_source(source: str) -> MentionFinder:
    """source (str): see `folder_of`. RETURNS (MentionFinder): opened.
    RAISES (AngelError): there is none."""
    return MentionFinder.from_disk(folder_of(source))


def with_layers(finder: MentionFinder, n: int) -> MentionFinder:
    """finder (MentionFinder): any. n (int): of the encoder's layers, evenly spaced.
    RETURNS (MentionFinder): with these alone. RAISES (AngelError): it has fewer."""
    total: int = finder.config.encoder["encoder_layers"]
    if n > total:
        problem = f"layers: {n}, and the source has {total}"
        raise AngelError(f"The config [recogniser] is not valid: {problem}.")
    place = {layer: to for to, layer in enumerate(spread(n, total))}
    weights = {}
    for name, weight in finder.weights().items():
        layer = _LAYER.fullmatch(name)
        if layer is None:
            weights[name] = weight
        elif (number := int(layer[2])) in place:
            weights[f"{layer[1]}{place[number]}{layer[3]}"] = weight
    return finder.with_weights(weights, n)
