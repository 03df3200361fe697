"""spaCy's factories `angel_linker` and `angel_matcher` and their default configs."""

import warnings
from collections.abc import Callable
from typing import Any

from spacy.language import Language

from ..component.block import NOT_GIVEN, ConfigBlock, is_saved_in, takes
from ..errors import AngelWarning
from .linker import AngelLinker
from .matcher import AngelMatcher
from .mentions.matcher_settings import MatcherSettings
from .settings.linker_settings import SETTINGS, LinkerSettings
from .settings.loaders import (
    ModelLoader,
    VocabularyLoader,
    check_device,
    check_files,
    check_sources,
)
from .settings.presets import preset_of, preset_settings

DEFAULT_CONFIG: dict[str, Any] = {
    # A folder, a hub name, or a block with @architectures; null is the model that ships.
    "model": None,
    # A stored vocabulary, a vocabulary file, or a block with @misc; null is the one that ships.
    "vocabulary": None,
    "scorer": {"@scorers": "spacy_angel.linker_scorer.v1"},
}


@takes(DEFAULT_CONFIG, ["preset", *sorted(SETTINGS)])
def make_angel_linker(
    nlp: Language,
    name: str,
    model: str | ModelLoader | None,
    vocabulary: str | VocabularyLoader | None,
    scorer: Callable | None,
    preset: Any,
    **settings: Any,
) -> AngelLinker:
    """The factory; it opens nothing.

    nlp (Language): the pipeline.
    name (str): the component's name in it.
    model (str | ModelLoader | None), vocabulary (str | VocabularyLoader | None), scorer
        (Callable | None): see `AngelLinker`.
    preset (str | None): see `presets.preset_settings`; of the settings that are not given.
    settings (Any): the fields of `LinkerSettings`.
    RETURNS (AngelLinker): the component.
    RAISES (AngelError): a setting that does not fit, no model or vocabulary there, or outputs that
        another linker of the pipeline writes for the same labels.
    """
    given = LinkerSettings.flat({k: v for k, v in settings.items() if v is not NOT_GIVEN})
    # A saved pipeline brings its own files; its config still names the original ones.
    is_saved = is_saved_in(nlp, name)
    preset = preset_of(None if preset is NOT_GIVEN else preset, model)
    checked = preset_settings(preset, given, model=model, vocabulary=vocabulary)
    for idle in checked.without_effect():
        warnings.warn(f"angel_linker: a setting has no effect: {idle}.", AngelWarning, stacklevel=2)
    check_device(checked)
    linker = AngelLinker(
        nlp.vocab,
        name,
        model=model,
        vocabulary=vocabulary,
        settings=checked,
        scorer=scorer,
        block=ConfigBlock(nlp, given, preset=preset),
    )
    if not is_saved:
        check_sources(model, vocabulary)
        check_files(checked)
        if "types_by_label" in given:
            linker.check_types()
    linker.check_outputs(nlp, is_saved=is_saved)
    return linker


Language.factory(
    "angel_linker",
    assigns=[
        *("token.ent_kb_id", "span._.kb_id", "span._.kb_ents", "span._.candidates"),
        *("doc.ents", "doc.spans"),
    ],
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


@takes(MatcherSettings().to_dict())
def make_angel_matcher(nlp: Language, name: str, **settings: Any) -> AngelMatcher:
    """The factory; it opens nothing.

    nlp (Language): the pipeline.
    name (str): the component's name in it.
    settings (Any): the fields of `MatcherSettings`.
    RETURNS (AngelMatcher): the component.
    RAISES (AngelError): a setting that does not fit.
    """
    return AngelMatcher(nlp, name, settings=MatcherSettings.from_dict(settings))


Language.factory(
    "angel_matcher",
    assigns=["doc.ents"],
    default_config=MatcherSettings().to_dict(),
    func=make_angel_matcher,
)
