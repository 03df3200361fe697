"""The settings of the component `angel_matcher`."""

from typing import Annotated, Literal

from pydantic import Field

from ...component.checked import CheckedSettings, Name, Names

NameChoice = Literal["own", "all", "none"]
Overlap = Literal["longer", "keep", "replace"]

NEUTRAL_LABEL = "CONCEPT"


class MatcherSettings(CheckedSettings):
    """The settings of `angel_matcher`; the type of each carries its meaning.

    RAISES (AngelError): a value that does not fit; the message names setting, expectation, value.

    linker (Name): name of the linker whose vocabulary is used; if the linker reads a span group,
        mentions are added to that group
    names (NameChoice): names to match: `own`, names added with `kb.add` and `kb.add_names`, even
        before the vocabulary was saved; `all`, all names in the vocabulary; `none`, only
        misspelled names
    misspelled (bool): also find misspelled names of diseases and chemicals (`athsma`): words of
        six or more lower-case letters outside other mentions that occur neither in the vocabulary
        nor in biomedical text and are one typo away from a name
    label (Name | None): label of all mentions found; null: the label whose types in the linker's
        `types_by_label` include those of the concept; if that table is empty, one of DISEASE,
        CHEMICAL, GENE, SPECIES, and CELL_LINE; otherwise CONCEPT
    overlap (Overlap): when a name replaces overlapping mentions of other components: `longer`, if
        it contains all of their words and more; `replace`, always; `keep`, never
    min_length (int): minimum number of letters and digits in a name, except for added names
    stop_words (Names | None): names that consist only of these words, in lower case or
        capitalized, are not matched unless they were added; null: spaCy's English stop words and
        some everyday words
    """

    COMPONENT = "angel_matcher"

    linker: Name = "angel_linker"
    names: NameChoice = "own"
    misspelled: bool = False
    label: Name | None = None
    overlap: Overlap = "longer"
    min_length: Annotated[int, Field(ge=1)] = 3
    stop_words: Names | None = None
