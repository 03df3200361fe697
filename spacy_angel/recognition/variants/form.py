"""The forms of the grammar: patterns, and functions that interpret their matches."""

import re
from collections.abc import Callable
from enum import Enum
from typing import NamedTuple, TypeVar


class Needs(Enum):
    """The evidence that an ambiguous form needs in its context.

    NOTHING: the form is always a variant.
    A_WORD: a word like `mutation` or `allele`, or another variant, must be near, as for `G/A`.
    THE_NEXT_WORD: such a word must be adjacent, as for `D2A`.
    """

    NOTHING = 0
    A_WORD = 1
    THE_NEXT_WORD = 2


class Reading(NamedTuple):
    """The interpretation of a match.

    identifier (str): the rs number or the normal form; empty if it has neither.
    needs (Needs): the required evidence.
    """

    identifier: str
    needs: Needs = Needs.NOTHING


Read = Callable[[re.Match[str]], Reading | None]
_Read = TypeVar("_Read", bound=Read)


class Form(NamedTuple):
    """A form of the grammar.

    pattern (re.Pattern): a regular expression. All its repeats are bounded, so a search takes time
        linear in the length of any text.
    read (Read): interprets a match; None if it is not a variant after all.
    """

    pattern: re.Pattern[str]
    read: Read


class Forms(list[Form]):
    """Forms of the grammar. Of two that find the same characters, the earlier one counts."""

    def matching(self, *patterns: str, start: str = "", stop: str = "") -> Callable[[_Read], _Read]:
        """Decorate the function that interprets the matches of patterns.

        patterns (str): regular expressions. start (str), stop (str): added before and after each
            pattern.
        RETURNS (Callable[[_Read], _Read]): the decorator.
        """

        def add(read: _Read) -> _Read:
            self.extend(Form(re.compile(start + one + stop), read) for one in patterns)
            return read

        return add

    def unnamed(self, *patterns: str, start: str = "", stop: str = "") -> None:
        """Add forms that have no identifier. The arguments are those of `matching`."""
        self.matching(*patterns, start=start, stop=stop)(lambda found: Reading(""))
