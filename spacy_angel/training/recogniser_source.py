"""A recogniser that another one goes on from."""

from pathlib import Path

from ..about import DATA, SHIPPED_NAMES
from ..errors import AngelError, Errors
from ..recognition.finder import CONFIG_FILE, FinderConfig, MentionFinder
from ..recognition.words import WordReader

_IN_PIPELINE = Path("angel_recogniser", "model")


def open_source(source: str, form: FinderConfig, reader: WordReader) -> MentionFinder:
    """source (str): folder of a recogniser or of a pipeline that has one, or the name of one that
    ships. form (FinderConfig), reader (WordReader): of the one that goes on from it.
    RETURNS (MentionFinder): opened.
    RAISES (AngelError): there is none, or its encoder or tokenizer is another one.
    """
    folder = DATA / source if source in SHIPPED_NAMES else Path(source)
    if not (folder / CONFIG_FILE).is_file():
        folder /= _IN_PIPELINE
    finder = MentionFinder.from_disk(folder)
    if (finder.config.encoder, finder.definition) != (form.encoder, reader.definition):
        raise AngelError(Errors.E626.format(source=source))
    return finder
