"""English pipelines whose opening does nothing in vain: an installed component is imported when it
is named, and the rules of the tokenizer are set once.

spaCy imports the factories of every installed package with each `Language` that is made; the one
of spacy-transformers alone imports transformers' models, scikit-learn and pandas, which takes
longer than everything that the shipped pipeline uses.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spacy import util
from spacy.lang.en import English
from spacy.language import Language
from spacy.tokenizer import Tokenizer

from ..component.tokenizer import LinearTokenizer
from ..errors import AngelError

# Of spaCy's registries the one that only imports what other packages declare.
_INSTALLED = util.registry._entry_point_factories
# Tokenizers, and the same without their rules.
_WITHOUT_RULES = {
    "spacy.Tokenizer.v1": "spacy_angel.WithoutRules.v1",
    "spacy_angel.Tokenizer.v1": "spacy_angel.LinearWithoutRules.v1",
}
_CALLBACKS = ("before_creation", "after_creation", "after_pipeline_creation")


@util.registry.tokenizers("spacy_angel.WithoutRules.v1")
def make_tokenizer_without_rules() -> Callable[[Language], Tokenizer]:
    """RETURNS (Callable[[Language], Tokenizer]): makes one that gets its rules from a file."""
    return lambda nlp: Tokenizer(nlp.vocab)


@util.registry.tokenizers("spacy_angel.LinearWithoutRules.v1")
def make_linear_tokenizer_without_rules() -> Callable[[Language], LinearTokenizer]:
    """RETURNS (Callable[[Language], LinearTokenizer]): likewise."""
    return lambda nlp: LinearTokenizer(nlp.vocab)


class LazyEnglish(English):
    """spaCy's English; components of other packages can be added as ever."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        with _nothing_installed():
            super().__init__(*args, **kwargs)

    @classmethod
    def has_factory(cls, name: str) -> bool:
        """name (str): a factory. RETURNS (bool): whether it exists, imported first where another
        package declares it."""
        # Also where a program registered one for all languages: what is declared may be English's.
        _INSTALLED.get_entry_point(name)
        return super().has_factory(name)


@contextmanager
def _nothing_installed() -> Iterator[None]:
    _INSTALLED.entry_points = False
    try:
        yield
    finally:
        _INSTALLED.entry_points = True


def load_folder(folder: Path, *, config: dict[str, Any] | None = None, **options: Any) -> Language:
    """Load a saved pipeline as `spacy.load` does; an English one imports only what it names.

    folder (Path): the pipeline.
    config (dict[str, Any] | None): settings in place of the pipeline's own.
    options (Any): spaCy's own: `vocab`, `disable`, `enable`, `exclude`.
    RETURNS (Language): the pipeline.
    RAISES (OSError): there is no such folder, or no pipeline in it.
    RAISES (AngelError): it needs an extra that is not installed.
    """
    settings = util.load_config(folder / "config.cfg", interpolate=False)
    # Not as overrides, which may be of no section that an older config does not have.
    for place, value in util.dict_to_dot(config or {}, for_overrides=True).items():
        *sections, name = place.split(".")
        block = settings
        for section in sections:
            if not isinstance(block.get(section), dict):
                block[section] = {}
            block = block[section]
        block[name] = value
    settings = settings.interpolate()
    if settings["nlp"]["lang"] != LazyEnglish.lang:
        return util.load_model_from_path(folder, config=config or {}, **options)
    _check_extra(settings["components"], folder)
    tokenizer = settings["nlp"]["tokenizer"]
    if _is_replaced(tokenizer, folder, settings["nlp"], options.get("exclude", ())):
        without = _WITHOUT_RULES[tokenizer["@tokenizers"]]
        settings["nlp"]["tokenizer"] = {"@tokenizers": without}
    # What is saved is complete.
    nlp = LazyEnglish.from_config(
        settings, meta=util.get_model_meta(folder), auto_fill=False, **options
    )
    nlp.config["nlp"]["tokenizer"] = tokenizer
    return nlp.from_disk(folder, exclude=options.get("exclude", ()))


def _check_extra(components: dict[str, dict[str, Any]], folder: Path) -> None:
    """spaCy lists every factory there is when it misses the one of a large recogniser."""
    for name, block in components.items():
        if block.get("factory") == "transformer" and not LazyEnglish.has_factory("transformer"):
            raise AngelError(
                f"The component {name!r} of {folder} needs spacy-transformers: pip install "
                "'spacy-angel[train]'."
            )


def _is_replaced(
    tokenizer: dict[str, Any], folder: Path, settings: dict[str, Any], exclude: Iterable[str]
) -> bool:
    """Whether the rules that a tokenizer is made with are replaced by saved ones before anyone can
    see them; to set English's takes a tenth of the opening.

    tokenizer (dict[str, Any]): its block of the config. settings (dict[str, Any]): of `nlp`.
    """
    return (
        tokenizer in [{"@tokenizers": name} for name in _WITHOUT_RULES]
        and (folder / "tokenizer").is_file()
        and "tokenizer" not in exclude
        and not any(settings.get(name) for name in _CALLBACKS)
    )
