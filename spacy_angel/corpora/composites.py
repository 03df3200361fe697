"""Coordinated mentions (`breast and ovarian cancer`) taken apart."""

import re

_COORDINATION = re.compile(r"\s*,?\s*\b(?:and/or|as well as|and|or)\b\s*|\s*[,/&]\s*")
_SHARED_HEAD = re.compile(r".*\b(?:of|in|to)(?: the)?(?= \S)", re.IGNORECASE)


def split_composite(mention: str, n_parts: int) -> list[str]:
    """Split a coordination that stands for several concepts; every part gets the shared word.

    mention (str): e.g. `breast, ovarian or skin cancers`, `disease of the heart and lung`.
    n_parts (int): concepts it stands for.
    RETURNS (list[str]): one text a part, `breast cancers`, `ovarian cancers`, `skin cancers`;
        `disease of the heart`, `disease of the lung`. Empty where the mention does not fall in
        exactly `n_parts`.
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
    return [
        *(part if part.split()[-1].lower() in ends else f"{part} {last}" for part in parts[:-1]),
        parts[-1],
    ]
