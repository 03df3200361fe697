"""A recogniser that another one goes on from."""

from pathlib import Path

from ...about import DATA, SHIPPED_NAMES
from ...recognition.finder import CONFIG_FILE, MentionFinder

_IN_PIPELINE = Path("angel_recogniser", "model")


def open_source(source: str) -> MentionFinder:
    """source (str): folder of a recogniser or of a pipeline that has one, or the name of one that
    ships. RETURNS (MentionFinder): opened. RAISES (AngelError): there is none."""
    folder = DATA / source if source in SHIPPED_NAMES else Path(source)
    if not (folder / CONFIG_FILE).is_file():
        folder /= _IN_PIPELINE
    return MentionFinder.from_disk(folder)
