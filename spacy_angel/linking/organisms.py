"""Names of organisms as texts have them: `T. cruzi strain Y`, `rice plants`, `house flies`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..model.mention import Mention

# A genus in short, e.g. `C. elegans` and `An. gambiae`.
_SHORT = re.compile(r"(?<![\w.])([A-Z][a-z]{0,2})\. ?([a-z][a-z-]{2,})(?![\w])")
_LONGEST_SHORT = 3
# A genus and a species in full, the latter as long as any is.
_WHOLE = re.compile(r"(?<!\w)([A-Z][a-z]+) ([a-z][a-z-]{1,63})(?!\w)")
_BINOMIAL = re.compile(
    r"(?<![\w.])[A-Z][a-z]{0,2}\. ?[a-z][a-z-]{2,}|(?<!\w)[A-Z][a-z]{2,} [a-z-]{3,}"
)
# What is of an organism or many of one kind, but no name.
_PARTS = re.compile(
    r"[ -](?:(?:plant|seedling|cell|strain|isolate|serotype|mutant|leave|root|seed|larva|embryo"
    r"|population|subspecie|specie)(?:e?s)?|leaf|larvae|sp|spp|species complex|var|pv)\.?$"
    r"| ?\([^()]*\)$"
)
_MOST_PARTS = 8
_PLURALS = (("ies", "y"), ("es", ""), ("s", ""))


def expand_genus(mention: "Mention", text: str, is_name: Callable[[str], bool]) -> "Mention":
    """Read a genus in short as the one that the document has in full.

    mention (Mention): long forms that its document defines are already in their place.
    text (str): the document's.
    is_name (Callable[[str], bool]): whether a text is a name of a concept that the mention may
        have.
    RETURNS (Mention): e.g. `M. bovis` in a text of `Mycoplasma bovis`, where that is a name or
        `M. bovis` is none; others as they are.
    """
    found = _SHORT.search(mention.text)
    if found is None:
        return mention
    genus = _genera(text).get((found[1], found[2]))
    if genus is None:
        return mention
    full = f"{mention.text[: found.start()]}{genus} {found[2]}{mention.text[found.end() :]}"
    is_kept = is_name(mention.text) and not is_name(full)
    return mention if is_kept else replace(mention, text=full)


def read_organism(mention: "Mention", is_name: Callable[[str], bool]) -> "Mention":
    """Read a mention of an organism that is no name as the one in it: without what speaks of its
    parts and strains, in the singular, or the binomial name.

    mention (Mention), is_name (Callable[[str], bool]): as for `expand_genus`.
    RETURNS (Mention): e.g. `rice plants` → `rice`, `Shiga toxin-producing Escherichia coli` →
        `Escherichia coli`; others as they are.
    """
    if is_name(mention.text):
        return mention
    return replace(mention, text=next(filter(is_name, _readings(mention.text)), mention.text))


# Of the documents that are being read.
@lru_cache(maxsize=2)
def _genera(text: str) -> dict[tuple[str, str], str]:
    """RETURNS (dict[tuple[str, str], str]): of a genus in short, without its full stop, and a
    species the first genus in full that the text has: `Mycoplasma` of (`M`, `bovis`)."""
    genera: dict[tuple[str, str], str] = {}
    for found in _WHOLE.finditer(text):
        genus, parts = found[1], found[2].split("-")
        # `T. cruzi` of `Trypanosoma cruzi-infected`
        for n in range(1, len(parts) + 1):
            for length in range(1, min(len(genus), _LONGEST_SHORT + 1)):
                genera.setdefault((genus[:length], "-".join(parts[:n])), genus)
    return genera


def _readings(text: str) -> Iterator[str]:
    """YIELDS (str): what the text may stand for, the closest first."""
    yield from _singulars(text)
    shorter = text
    for _ in range(_MOST_PARTS):
        rest = _PARTS.sub("", shorter)
        if rest == shorter:
            break
        shorter = rest
        yield shorter
        yield from _singulars(shorter)
    yield from (found[0] for found in _BINOMIAL.finditer(text))


def _singulars(text: str) -> Iterator[str]:
    for ending, other in _PLURALS:
        if text.endswith(ending):
            yield text[: -len(ending)] + other
