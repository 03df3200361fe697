"""spaCy's factories `angel_linker`, `angel_matcher`, and `angel_abbreviations`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spacy.language import Language

from ..component.block import is_saved_in
from ..errors import AngelError
from ..vocabulary.changes.rules import read_rules
from .linker import AngelLinker
from .matcher import AngelMatcher, MatcherSettings, NameChoice
from .mentions.labels import check_types
from .settings.linker_settings import LinkerSettings

if TYPE_CHECKING:
    from .mentions.detector import LinearAbbreviationDetector

DEFAULT_CONFIG: dict[str, Any] = {
    # A folder or a hub name; null is the model that ships.
    "model": None,
    # A stored vocabulary, a vocabulary file, or a name; null is the one that ships.
    "vocabulary": None,
    "scorer": {"@scorers": "spacy_angel.linker_scorer.v1"},
    **LinkerSettings().to_dict(),
}


@Language.factory(
    "angel_linker",
    assigns=["token.ent_kb_id", "span._.kb_id", "span._.kb_ents", "span._.candidates", "doc.ents"],
    requires=["doc.ents"],
    default_config=DEFAULT_CONFIG,
    default_score_weights={
        "nel_micro_f": 1.0,
        "nel_micro_r": None,
        "nel_micro_p": None,
    },
)
def make_angel_linker(
    nlp: Language,
    name: str,
    model: str | None,
    vocabulary: str | None,
    scorer: Callable | None,
    candidates: dict[str, Any],
    reranker: dict[str, Any],
    decision: dict[str, Any],
    outputs: dict[str, Any],
    runtime: dict[str, Any],
) -> AngelLinker:
    """Create the linker, without opening the model or the vocabulary.

    nlp (Language): the pipeline.
    name (str): the component's name in the pipeline.
    model (str | None), vocabulary (str | None), scorer (Callable | None): see `AngelLinker`.
    candidates (dict[str, Any]): see `CandidateSettings`.
    reranker (dict[str, Any]): see `RerankerSettings`.
    decision (dict[str, Any]): see `DecisionSettings`.
    outputs (dict[str, Any]): see `OutputSettings`.
    runtime (dict[str, Any]): see `RuntimeSettings`.
    RETURNS (AngelLinker): the component.
    RAISES (AngelError): a setting is invalid, or the model or vocabulary does not exist.
    """
    blocks: dict[str, Any] = {"candidates": candidates, "reranker": reranker, "decision": decision}
    blocks |= {"outputs": outputs, "runtime": runtime}
    settings = LinkerSettings(**blocks)
    if settings.runtime.device != "cpu":
        from ..search.generator import find_device

        find_device(settings.runtime.device)
    linker = AngelLinker(
        nlp.vocab,
        name,
        model=model,
        vocabulary=vocabulary,
        settings=settings,
        scorer=scorer,
        nlp=nlp,
    )
    # A saved pipeline brings its own files; its config still names the original ones.
    if not is_saved_in(nlp, name):
        linker.check_sources()
        if settings.decision.curation is not None:
            read_rules(Path(settings.decision.curation))
        if candidates.get("types_by_label"):
            check_types(settings, linker.kb)
    linker.check_outputs(nlp)
    return linker


@Language.factory("angel_matcher", assigns=["doc.ents"], default_config=MatcherSettings().to_dict())
def make_angel_matcher(
    nlp: Language,
    name: str,
    names: NameChoice,
    misspelled: bool,
    label: str | None,
) -> AngelMatcher:
    """Create the matcher, without opening the vocabulary.

    nlp (Language): the pipeline.
    name (str): the component's name in the pipeline.
    names (str), misspelled (bool), label (str | None): see `MatcherSettings`.
    RETURNS (AngelMatcher): the component.
    RAISES (AngelError): a setting is invalid.
    """
    settings = MatcherSettings(names=names, misspelled=misspelled, label=label)
    return AngelMatcher(nlp, name, settings=settings)


@Language.factory("angel_abbreviations")
def make_angel_abbreviations(
    nlp: Language, name: str, make_serializable: bool = False
) -> "LinearAbbreviationDetector":
    """Create the abbreviation detector.

    nlp (Language): the pipeline.
    name (str): the component's name in the pipeline.
    make_serializable (bool): write dictionaries instead of spans, as required by `DocBin` and
        multiprocessing.
    RETURNS (LinearAbbreviationDetector): the component.
    RAISES (AngelError): scispaCy is not installed.
    """
    try:
        from .mentions.detector import LinearAbbreviationDetector
    except ImportError as error:
        raise AngelError(
            "angel_abbreviations needs scispaCy, which has no release for Python 3.13 yet. Install "
            "it there with: pip install --no-deps --ignore-requires-python 'scispacy>=0.6.2,<0.7'"
        ) from error
    return LinearAbbreviationDetector(nlp, name, make_serializable)
