"""spaCy's factories `angel_linker` and `angel_matcher` and their default configs."""

import warnings
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from spacy.language import Language

from ..errors import Warnings
from .extensions import register_extensions
from .linker import AngelLinker
from .loaders import ModelLoader, VocabularyLoader
from .matcher import AngelMatcher
from .matcher_settings import MatcherSettings
from .settings import LinkerSettings

DEFAULT_CONFIG: dict[str, Any] = {
    # A folder, a hub name, or a block with @architectures; null is the model that ships.
    "model": None,
    # A stored vocabulary, a vocabulary file, or a block with @misc; null is the one that ships.
    "vocabulary": None,
    **LinkerSettings().to_dict(),
    "scorer": {"@scorers": "spacy_angel.linker_scorer.v1"},
}


def make_angel_linker(
    nlp: Language,
    name: str,
    model: str | ModelLoader | None,
    vocabulary: str | VocabularyLoader | None,
    scorer: Callable | None,
    **settings: Any,
) -> AngelLinker:
    """The factory; it opens nothing.

    nlp (Language): the pipeline.
    name (str): the component's name in it.
    model (str | ModelLoader | None), vocabulary (str | VocabularyLoader | None), scorer
        (Callable | None): see `AngelLinker`.
    settings (Any): the fields of `LinkerSettings`.
    RETURNS (AngelLinker): the component.
    RAISES (AngelError): a setting that does not fit, or outputs that another linker of the
        pipeline writes.
    """
    checked = LinkerSettings.from_dict(settings)
    for idle in checked.without_effect():
        warnings.warn(Warnings.W303.format(setting=idle), stacklevel=2)
    linker = AngelLinker(
        nlp.vocab,
        name,
        model=model,
        vocabulary=vocabulary,
        settings=checked,
        scorer=scorer,
    )
    linker.check_outputs(nlp)
    return linker


# spaCy reads the parameters off the signature and checks a config by it. The settings check
# themselves.
make_angel_linker.__signature__ = Signature(  # type: ignore[attr-defined]
    [Parameter(name, Parameter.KEYWORD_ONLY) for name in ("nlp", "name", *DEFAULT_CONFIG)]
)
Language.factory(
    "angel_linker",
    assigns=["token.ent_kb_id", "span._.kb_id", "span._.kb_ents", "span._.candidates"],
    requires=["doc.ents"],
    default_config=DEFAULT_CONFIG,
    default_score_weights={
        "nel_micro_f": 1.0,
        "nel_micro_r": None,
        "nel_micro_p": None,
        "nel_accuracy": None,
    },
    func=make_angel_linker,
)


def make_angel_matcher(nlp: Language, name: str, **settings: Any) -> AngelMatcher:
    """The factory; it opens nothing.

    nlp (Language): the pipeline.
    name (str): the component's name in it.
    settings (Any): the fields of `MatcherSettings`.
    RETURNS (AngelMatcher): the component.
    RAISES (AngelError): a setting that does not fit.
    """
    return AngelMatcher(nlp, name, settings=MatcherSettings.from_dict(settings))


make_angel_matcher.__signature__ = Signature(  # type: ignore[attr-defined]
    [
        Parameter(name, Parameter.KEYWORD_ONLY)
        for name in ("nlp", "name", *MatcherSettings().to_dict())
    ]
)
Language.factory(
    "angel_matcher",
    assigns=["doc.ents"],
    default_config=MatcherSettings().to_dict(),
    func=make_angel_matcher,
)

# spaCy imports this module with the first `Language` that is made.
register_extensions()
