"""Splitting of coordinated mentions, such as `breast and ovarian cancer`."""

import re
from collections.abc import Callable, Sequence
from itertools import accumulate

_COORDINATION = re.compile(
    r"\s*,?\s*\b(?:and/or|as well as|and|or)\b\s*|\s*[,/&]\s*", re.IGNORECASE
)
_INNER_COMMA = re.compile(r",(?!\s)")
_GAP = re.compile(r"[\s-]+|(?<=[A-Za-z])(?=\d)")
_SHARED_HEAD = re.compile(r".*\b(?:of|in|to)(?: the)?(?= \S)", re.IGNORECASE)


def split_composite(mention: str, n_parts: int) -> list[str]:
    """Split a coordination of several concepts, and add the shared words to each part.

    mention (str): e.g. `breast, ovarian or skin cancers`, `disease of the heart and lung`.
    n_parts (int): number of concepts.
    RETURNS (list[str]): the text of each part, here `breast cancers`, `ovarian cancers`, `skin
        cancers`, or `disease of the heart`, `disease of the lung`; empty if the mention does not
        consist of `n_parts` parts.
    """
    parts = [part for part in _COORDINATION.split(mention.strip()) if part]
    if n_parts < 2 or len(parts) != n_parts:
        return []
    if shared := _SHARED_HEAD.match(parts[0]):
        return [parts[0], *(f"{shared[0]} {part}" for part in parts[1:])]
    *_, last = words = parts[-1].split()
    if len(words) == 1:
        return parts
    ends = {last.lower(), last.lower().removesuffix("s"), last.lower() + "s"}
    return [part if part.split()[-1].lower() in ends else f"{part} {last}" for part in parts]


def coordinated_names(mention: str, is_name: Callable[[str], bool]) -> list[str]:
    """Split a coordination of two or more names that share words at the end, at the beginning, or
    both.

    mention (str): any mention.
    is_name (Callable): whether a text is a name.
    RETURNS (list[str]): the name of each part, e.g. `renal failure`, `hepatic failure` for `renal
        or hepatic failure`, `T-cell lymphoma`, `B-cell lymphoma` for `T- and B-cell lymphoma`, and
        `type I diabetes`, `type II diabetes` for `type I and II diabetes`; empty if the mention is
        a name itself or has a part that is none.
    """
    parts = _COORDINATION.split(mention.strip())
    if len(parts) < 2 or not all(parts) or _INNER_COMMA.search(mention) or is_name(mention):
        return []
    first, last = parts[0], parts[-1]
    ends = [last[gap.end() :] for gap in _GAP.finditer(last)]
    starts = [first[: gap.end()] for gap in _GAP.finditer(first)][::-1]
    with_end = [*([f"{part} {end}" for end in ends] for part in parts[:-1]), [last]]
    with_start = [[first], *([start + part for start in starts] for part in parts[1:])]
    with_both = [
        *with_end[:1],
        *([f"{s}{p} {e}" for s in starts for e in ends] for p in parts[1:-1]),
        with_start[-1],
    ]
    for choices in (with_end, with_start, with_both):
        singular = ([*choice, *(name.removesuffix("s") for name in choice)] for choice in choices)
        names = [next(filter(is_name, choice), "") for choice in singular]
        # Not in `muscle wasting and weakness`: weakness is a name by itself.
        if all(names) and sum(map(is_name, parts)) <= 1:
            return names
    return []


def first_part(mention: str, n_parts: int) -> str:
    """Return the part of a composite that is used in the released files of NCBI-disease.

    mention (str): e.g. `breast, ovarian or other cancers`, `deficiency of C6 and C7`.
    n_parts (int): number of concepts.
    RETURNS (str): the first part, followed by the last part without its first word, here `breast
        cancers` and `deficiency of C6`. If the mention does not have `n_parts` parts: its first
        word if it has `n_parts` words, or else the whole mention.
    """
    parts = [part for part in _COORDINATION.split(mention.strip()) if part]
    if len(parts) != n_parts:
        words = mention.split()
        return words[0] if len(words) == n_parts else mention
    return " ".join([parts[0], *parts[-1].split()[1:]])


def parts_in_place(mention: str, parts: Sequence[str]) -> list[tuple[int, int]]:
    """Locate the parts of a composite, following the rules of the released files of BC5CDR.

    mention (str): e.g. `renal and hepatic toxicity`.
    parts (Sequence[str]): texts of the parts, from the seventh column.
    RETURNS (list[tuple[int, int]]): start and end of each part, if the mention consists of the
        parts separated by spaces. For two parts, the text before and after the first ` and `, or
        else ` or `. Otherwise empty.
    """
    if " ".join(parts) == mention:
        starts = accumulate((len(part) + 1 for part in parts[:-1]), initial=0)
        return [(start, start + len(part)) for start, part in zip(starts, parts, strict=True)]
    if len(parts) != 2:
        return []
    for word in (" and ", " or "):
        before, found, after = mention.partition(word)
        if found:
            second = len(before) + len(word)
            return [(0, len(before)), (second, second + len(after.split(word)[0]))]
    return []
