"""A component's block in the config of its pipeline: what was given in it, what it shows, and what
it says against a saved component."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from spacy.language import Language

F = TypeVar("F", bound=Callable[..., Any])


class NotGiven(Enum):
    """The default of a factory's argument whose value is not spaCy's to fill in, for it follows
    from other arguments; `None` will not do, which is a value of many settings."""

    NOT_GIVEN = "not given"

    def __repr__(self) -> str:
        return self.value


NOT_GIVEN = NotGiven.NOT_GIVEN


def takes(required: Iterable[str], optional: Iterable[str] = ()) -> Callable[[F], F]:
    """Decorator of a factory with `**settings`: the arguments that spaCy may hand to it. spaCy
    reads them off the signature and refuses others; types and limits stand at the settings, which
    check themselves and say what was expected.

    required (Iterable[str]): those that the factory's default config has.
    optional (Iterable[str]): those that are `NOT_GIVEN` unless a config names them.
    RETURNS (Callable): the decorator.
    """

    def decorate(factory: F) -> F:
        kind = Parameter.KEYWORD_ONLY
        parameters = [Parameter(name, kind) for name in ("nlp", "name", *required)]
        parameters += [Parameter(name, kind, default=NOT_GIVEN) for name in optional]
        factory.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return factory

    return decorate


def is_saved_in(nlp: "Language", name: str) -> bool:
    """Whether a component is made for a saved pipeline, which spaCy fills from its folder later:
    it hands the meta.json of a saved pipeline to the `Language` before it adds the components.

    nlp (Language): the pipeline. name (str): of the component. RETURNS (bool): whether it is.
    """
    # Not `nlp.meta`, which tells of the components that were added by now.
    saved: Mapping[str, Any] = getattr(nlp, "_meta", {})
    return name in saved.get("components", ())


class ConfigBlock:
    """What the config of a pipeline says of one of its components, kept true while the component
    changes: `nlp.config` and a saved config.cfg show what is in use.

    nlp (Language | None): the pipeline that the component is being added to.
    given (Mapping[str, Any] | None): values that its config named, as they were read; flat, see
        `CheckedSettings.flat`.
    filled (Any): values of arguments that were not given, beside those of `bind`.
    """

    def __init__(
        self,
        nlp: "Language | None" = None,
        given: Mapping[str, Any] | None = None,
        **filled: Any,
    ) -> None:
        self.given = dict(given or {})
        self._filled = filled
        self._nlp = nlp
        self._shown: dict[str, Any] | None = None

    def bind(
        self, component: Any, values: Mapping[str, Any], requires: Sequence[str] | None = None
    ) -> None:
        """Find the block, once the component stands in the pipeline, and fill in what was not
        given. spaCy tells a component its name at that moment.

        component (Any): the component. values (Mapping[str, Any]): of every setting, plain.
        requires (Sequence[str] | None): what `nlp.analyze_pipes` looks for instead of what the
            factory requires.
        """
        if self._nlp is None or all(c is not component for _, c in self._nlp.components):
            return
        name = next(n for n, c in self._nlp.components if c is component)
        if requires is not None:
            # A factory's requirements are those of all components that it makes.
            meta = self._nlp.get_pipe_meta(name)
            self._nlp._pipe_meta[name] = replace(meta, requires=list(requires))
        # The block itself, which spaCy moves along when the component is renamed, and which a
        # copy of the pipeline has its own of; the pipeline is not held.
        self._shown, self._nlp = self._nlp.get_pipe_config(name), None
        filled = {**self._filled, **values}
        # What was given may be variables, `${paths.kb}`, and stays so.
        for key in [k for k, v in self._shown.items() if v is NOT_GIVEN]:
            del self._shown[key]
        for key, value in filled.items():
            if isinstance(value, dict):
                shown = self._shown.get(key) or {}
                self._shown[key] = {**value, **shown} if isinstance(shown, dict) else shown
            self._shown.setdefault(key, value)

    def show(self, values: Mapping[str, Any]) -> None:
        """values (Mapping[str, Any]): what changed, plain."""
        if self._shown is not None:
            self._shown.update(values)

    def source(self, key: str) -> Any:
        """key (str): of an argument that may be a block of its own. RETURNS (Any): it, as the
        config has it; None where the component stands in no pipeline."""
        return None if self._shown is None else self._shown.get(key)

    def overrides(self, saved: Mapping[str, Any]) -> dict[str, Any]:
        """saved (Mapping[str, Any]): values with which a component was saved.
        RETURNS (dict[str, Any]): what the config of this one gives otherwise, which wins."""
        return {k: v for k, v in self.given.items() if k not in saved or saved[k] != v}


def read_block(folder: Path, keys: Collection[str]) -> dict[str, Any] | None:
    """What the config.cfg of a saved pipeline says of a component.

    folder (Path): the component's, in that of the pipeline.
    keys (Collection[str]): arguments that may be blocks of their own, read as they stand.
    RETURNS (dict[str, Any] | None): its block without variables; None where there is none.
    """
    from spacy import util

    path = folder.parent / "config.cfg"
    if not path.is_file():
        return None
    raw = util.load_config(path, interpolate=False).get("components", {}).get(folder.name)
    if raw is None:
        return None
    block = util.load_config(path, interpolate=True)["components"][folder.name]
    return {**block, **{key: raw.get(key) for key in keys}}
