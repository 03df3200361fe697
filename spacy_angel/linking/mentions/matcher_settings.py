"""What the component `angel_matcher` can be told: each setting once, with its type, default and
meaning."""

from typing import Annotated, Literal

from pydantic import Field

from ...component.checked import CheckedSettings, Name, Names

NameChoice = Literal["own", "all", "none"]
Overlap = Literal["longer", "keep", "replace"]

NEUTRAL_LABEL = "CONCEPT"


class MatcherSettings(CheckedSettings):
    """The settings of `angel_matcher`; the type of each carries its meaning.

    RAISES (AngelError): a value that does not fit; the message names setting, expectation, value.

    linker (Name): component whose vocabulary has the names; where it reads a span group, the
        names are put there
    names (NameChoice): `own`: names that `kb.add` and `kb.add_names` brought, now or before the
        vocabulary was saved; `all`: every name of the vocabulary; `none`: misspelled ones alone
    misspelled (bool): words of six small letters and more, in no mention, that neither the
        vocabulary nor biomedical text knows and that are a typo away from the name of a disease
        or chemical, as `athsma` is from `asthma`, are mentions too
    label (Name | None): label of every mention found; null: by the types of its concept, as the
        linker's `types_by_label` has them; where that is empty, of DISEASE, CHEMICAL, GENE,
        SPECIES, CELL_LINE; else CONCEPT
    overlap (Overlap): a name that overlaps mentions of other components takes their place:
        `longer`, if it has all of their words and more; `replace`, always; `keep`, never
    min_length (int): letters and digits that a name must have to be looked for; added names may
        have fewer
    stop_words (Names | None): words of which a name may not consist alone, in small letters or
        with a capital; null: spaCy's English stop words and some that are seldom meant as the
        concept; added names may
    """

    COMPONENT = "angel_matcher"

    linker: Name = "angel_linker"
    names: NameChoice = "own"
    misspelled: bool = False
    label: Name | None = None
    overlap: Overlap = "longer"
    min_length: Annotated[int, Field(ge=1)] = 3
    stop_words: Names | None = None
