"""Names of organisms as texts have them: `Shiga toxin-producing Escherichia coli`."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...model.mention import Mention

_BINOMIAL = re.compile(
    r"(?<![\w.])[A-Z][a-z]{0,2}\. ?[a-z][a-z-]{2,}|(?<!\w)[A-Z][a-z]{2,} [a-z-]{3,}"
)


def read_organism(mention: "Mention", is_name: Callable[[str], bool]) -> "Mention":
    """Read a mention of an organism that is no name as the binomial name in it.

    mention (Mention): long forms that its document defines are already in their place.
    is_name (Callable[[str], bool]): whether a text is a name of a concept that the mention may
        have.
    RETURNS (Mention): e.g. `Shiga toxin-producing Escherichia coli` → `Escherichia coli`; others
        as they are.
    """
    if is_name(mention.text):
        return mention
    names = (found[0] for found in _BINOMIAL.finditer(mention.text))
    return replace(mention, text=next(filter(is_name, names), mention.text))
