"""The forms of the grammar: patterns, and how their matches are read."""

import re
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, TypeVar


class Needs(Enum):
    """What a text has to say beside a form that means other things too.

    NOTHING: it is a variant wherever it stands.
    A_WORD: a word like `mutation` or `allele` in the neighbourhood, or another variant: `G/A`.
    THE_NEXT_WORD: the same, beside it: `D2A`.
    """

    NOTHING = 0
    A_WORD = 1
    THE_NEXT_WORD = 2


class Reading(NamedTuple):
    """How a form is read.

    identifier (str): the rs number, or the normal form; empty where it has none.
    needs (Needs): see there.
    """

    identifier: str
    needs: Needs = Needs.NOTHING


Read = Callable[[re.Match[str]], Reading | None]
_Read = TypeVar("_Read", bound=Read)


class Form(NamedTuple):
    """A form of the grammar.

    pattern (re.Pattern): what it looks like. Every repeat in it is bounded, so that a search takes
        time in proportion to the text, whatever the text is.
    read (Read): from a match to its reading; None where it is no variant after all.
    """

    pattern: re.Pattern[str]
    read: Read


class Forms(list[Form]):
    """Forms of the grammar. Of two that find the same characters, the earlier one counts."""

    def matching(self, *patterns: str, start: str = "", stop: str = "") -> Callable[[_Read], _Read]:
        """Decorate the function that reads the matches of patterns.

        patterns (str): regular expressions. start (str), stop (str): before and after each.
        RETURNS (Callable[[_Read], _Read]): the decorator.
        """

        def add(read: _Read) -> _Read:
            self.extend(Form(re.compile(start + one + stop), read) for one in patterns)
            return read

        return add

    def unnamed(self, *patterns: str, start: str = "", stop: str = "") -> None:
        """Add forms that have no identifier; the arguments are those of `matching`."""
        self.matching(*patterns, start=start, stop=stop)(lambda found: Reading(""))
