"""spaCy's factory `angel_recogniser` and its default config."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language

from ..component.block import takes
from .recognizer import AngelRecognizer
from .settings import RecognizerSettings

DEFAULT_CONFIG: dict[str, Any] = {
    # A folder that `spacy-angel train recogniser` wrote; a saved pipeline brings its own.
    "model": None,
    **RecognizerSettings().to_dict(),
    "scorer": {"@scorers": "spacy.ner_scorer.v1"},
}


@takes(DEFAULT_CONFIG)
def make_angel_recogniser(
    nlp: Language, name: str, model: str | None, scorer: Callable | None, **settings: Any
) -> AngelRecognizer:
    """The factory; it opens nothing.

    nlp (Language): the pipeline.
    name (str): the component's name in it.
    model (str | None), scorer (Callable | None): see `AngelRecognizer`.
    settings (Any): the fields of `RecognizerSettings`.
    RETURNS (AngelRecognizer): the component.
    RAISES (AngelError): a setting that does not fit.
    """
    checked = RecognizerSettings.from_dict(settings)
    return AngelRecognizer(nlp.vocab, name, model=model, settings=checked, scorer=scorer)


Language.factory(
    "angel_recogniser",
    assigns=["doc.ents", "doc.spans"],
    default_config=DEFAULT_CONFIG,
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
    func=make_angel_recogniser,
)
