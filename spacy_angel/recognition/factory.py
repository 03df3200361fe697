"""spaCy's factory `angel_recogniser` and its default config."""

from collections.abc import Callable
from typing import Any

from spacy.language import Language

from .recognizer import AngelRecognizer
from .settings import RecognizerSettings

DEFAULT_CONFIG: dict[str, Any] = {
    # A folder that `spacy-angel train recogniser` wrote; a saved pipeline brings its own.
    "model": None,
    **RecognizerSettings().to_dict(),
    "scorer": {"@scorers": "spacy.ner_scorer.v1"},
}


@Language.factory(
    "angel_recogniser",
    assigns=["doc.ents", "doc.spans"],
    default_config=DEFAULT_CONFIG,
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0, "ents_per_type": None},
)
def make_angel_recogniser(
    nlp: Language,
    name: str,
    model: str | None,
    labels: list[str] | None,
    threshold: float,
    span_key: str | None,
    span_labels: list[str] | None,
    set_ents: bool,
    secondary: list[str],
    overwrite: bool,
    skip_variants: bool,
    batch_size: int,
    device: str,
    dtype: str,
    scorer: Callable | None,
) -> AngelRecognizer:
    """Create the component. The model is not opened yet.

    nlp (Language): the pipeline.
    name (str): the name of the component.
    model (str | None), scorer (Callable | None): see `AngelRecognizer`.
    labels (list[str] | None), threshold (float), span_key (str | None), span_labels (list[str] |
        None), set_ents (bool), secondary (list[str]), overwrite (bool), skip_variants (bool),
        batch_size (int), device (str), dtype (str): see `RecognizerSettings`.
    RETURNS (AngelRecognizer): the component.
    RAISES (AngelError): a setting is invalid.
    """
    values: dict[str, Any] = {
        "labels": labels,
        "threshold": threshold,
        "span_key": span_key,
        "span_labels": span_labels,
        "set_ents": set_ents,
        "secondary": secondary,
        "overwrite": overwrite,
        "skip_variants": skip_variants,
        "batch_size": batch_size,
        "device": device,
        "dtype": dtype,
    }
    return AngelRecognizer(nlp.vocab, name, RecognizerSettings(**values), model, scorer)
