"""What a form of the grammar is."""

import re
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple


class Needs(Enum):
    """What a text has to say beside a form that means other things too.

    NOTHING: it is a variant wherever it stands. A_WORD: a word like `mutation` or `allele` close by,
    or another variant in the text: `D10A`, `G/A`. A_PLACE: another variant at the same place:
    `arginine 714` where the text has `R714Q`.
    """

    NOTHING = 0
    A_WORD = 1
    A_PLACE = 2


class Reading(NamedTuple):
    """How a form is read.

    identifier (str): the rs number, or the normal form; empty where it has none.
    needs (Needs): see there.
    places (tuple[str, ...]): what stands where, before and after, e.g. `Arg714`, `Gln714`, or
        `-308G`, `-308A`.
    """

    identifier: str
    needs: Needs = Needs.NOTHING
    places: tuple[str, ...] = ()


class Form(NamedTuple):
    """A form of the grammar.

    name (str): e.g. `substitution`.
    pattern (re.Pattern): where it may stand; every repeat in it is bounded, so that a search takes
        time in proportion to the text, whatever the text is.
    read (Callable): from a match to how it is read; None where it is none after all.
    """

    name: str
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], Reading | None]
