"""Factories of other packages that are imported when a pipeline asks for a component.

spaCy loads what is declared under `spacy_factories` with every `Language` of an environment,
whatever its pipeline: a declared factory that imports a missing package stops all of them.
"""

from importlib import import_module
from typing import Any

from spacy.language import FactoryMeta, Language

from ..errors import AngelError


class _DeferredMeta(FactoryMeta):
    """What spaCy knows of a factory. It reads the default config before it makes a component: the
    package is imported then, and registers its own factory in the place of the stand-in."""

    def __init__(self, factory: str, module: str, missing: str) -> None:
        super().__init__(factory)
        self._module = module
        self._missing = missing

    @property
    def default_config(self) -> dict[str, Any]:
        """RETURNS (dict[str, Any]): the package's. RAISES (AngelError): it is not installed."""
        import_or_say(self._module, self._missing)
        return Language.get_factory_meta(self.factory).default_config or {}

    @default_config.setter
    def default_config(self, value: object) -> None:
        """Set by the dataclass; the package has the value."""


def import_or_say(module: str, missing: str) -> Any:
    """module (str): to import. missing (str): the message where it is not there.
    RETURNS (Any): the module. RAISES (AngelError): it cannot be imported."""
    try:
        return import_module(module)
    except ImportError as error:
        raise AngelError(missing) from error


def defer_factory(factory: str, module: str, class_name: str, missing: str) -> type:
    """Make a component of another package known to every language without importing the package.

    factory (str): the component's name in pipelines, e.g. `negex`.
    module (str): which registers it when it is imported, e.g. `negspacy.negation`.
    class_name (str): of the component in it, e.g. `Negex`.
    missing (str): the message for a pipeline that asks for it where the package is not installed.
    RETURNS (type): what stands in for the class.
    """

    def make(cls: type, nlp: Language, name: str, **settings: Any) -> Any:
        return getattr(import_or_say(module, missing), class_name)(nlp, name, **settings)

    # A factory of the same name, module and source is to spaCy the same one, loaded anew
    # (`spacy.util.is_same_func`): so the package can still be imported, and registers its own.
    stand_in = type(
        class_name, (), {"__module__": module, "__qualname__": class_name, "__new__": make}
    )
    # Where the package was imported before, its own stays.
    if factory not in Language.factories:
        Language.factory(factory, func=stand_in)
        Language.set_factory_meta(factory, _DeferredMeta(factory, module, missing))
    return stand_in
