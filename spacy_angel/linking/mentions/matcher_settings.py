"""What the component `angel_matcher` can be told: each setting once, with its type, default and
meaning."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from ...component.checked import CheckedSettings, Name, Names
from ...vocabulary.names.entity_type_table import WITH_TYPES

NameChoice = Literal["own", "all", "none"]
Overlap = Literal["longer", "keep", "replace"]

NEUTRAL_LABEL = "CONCEPT"


@dataclass(frozen=True)
class MatcherSettings(CheckedSettings):
    """The settings of `angel_matcher`; the type of each carries its meaning.

    RAISES (AngelError): a value that does not fit; the message names setting, expectation, value.
    """

    COMPONENT = "angel_matcher"

    linker: Annotated[
        Name,
        Field(
            description="component whose vocabulary has the names; where it reads a span group, "
            "the names are put there"
        ),
    ] = "angel_linker"
    names: Annotated[
        NameChoice,
        Field(
            description="`own`: names that `kb.add` and `kb.add_names` brought, now or before the "
            "vocabulary was saved; `all`: every name of the vocabulary; `none`: misspelled ones "
            "alone"
        ),
    ] = "own"
    misspelled: Annotated[
        bool,
        Field(
            description="words of six small letters and more, in no mention, that neither the "
            "vocabulary nor biomedical text knows and that are a typo away from the name of a "
            "disease or chemical, as `athsma` is from `asthma`, are mentions too"
        ),
    ] = False
    label: Annotated[
        Name | None,
        Field(
            description="label of every mention found; null: by the types of its concept, as the "
            "linker's `types_by_label` has them; where that is empty, of "
            f"{', '.join(WITH_TYPES)}; else {NEUTRAL_LABEL}"
        ),
    ] = None
    overlap: Annotated[
        Overlap,
        Field(
            description="a name that overlaps mentions of other components takes their place: "
            "`longer`, if it has all of their words and more; `replace`, always; `keep`, never"
        ),
    ] = "longer"
    min_length: Annotated[
        int,
        Field(
            ge=1,
            description="letters and digits that a name must have to be looked for; added names "
            "may have fewer",
        ),
    ] = 3
    stop_words: Annotated[
        Names | None,
        Field(
            description="words of which a name may not consist alone, in small letters or with a "
            "capital; null: spaCy's English stop words and some that are seldom meant as the "
            "concept; added names may"
        ),
    ] = None
