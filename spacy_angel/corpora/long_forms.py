"""Long forms that a document set defines, for the documents of it that leave them out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..files.atomic import write_text
from ..vocabulary.names.concepts import normalize_name
from .abbreviations import Detector


class LongForm(NamedTuple):
    """What a short form stands for in a document set.

    short (str): as it is written, e.g. `T-PLL`.
    long (str): in its most frequent spelling.
    documents (int): that define it so.
    share (float): of the documents that define the short form at all, above 0 to 1.
    """

    short: str
    long: str
    documents: int
    share: float


def collect_long_forms(texts: Iterable[str], detect: Detector) -> list[LongForm]:
    """Count what the texts define; of each short form the most frequent long form is kept.

    texts (Iterable[str]): one a document, read once.
    detect (Detector): of `abbreviations.DETECTORS`.
    RETURNS (list[LongForm]): in the order of the short forms. Long forms of the same normal form
        are one; of equally frequent ones the first in the alphabet is kept.
    """
    spellings: defaultdict[str, defaultdict[str, Counter[str]]]
    spellings = defaultdict(lambda: defaultdict(Counter))
    for text in texts:
        for short, long in dict.fromkeys(detect(text)):
            spellings[short][normalize_name(long)][long] += 1
    return [_most_frequent(short, forms) for short, forms in sorted(spellings.items())]


def write_long_forms(
    forms: Iterable[LongForm], path: Path, *, min_documents: int = 1, min_share: float = 0.8
) -> int:
    """Write what is certain enough as the linker reads it: short form, `short form`, long form.

    forms (Iterable[LongForm]): as `collect_long_forms` gives them.
    path (Path): TSV to write.
    min_documents (int): documents that have to define it so, at least.
    min_share (float): share of the documents that define the short form, at least.
    RETURNS (int): lines written.
    """
    lines = [*_certain(forms, min_documents, min_share)]
    write_text(path, "".join(f"{form.short}\tshort form\t{form.long}\n" for form in lines))
    return len(lines)


def _certain(forms: Iterable[LongForm], min_documents: int, min_share: float) -> Iterator[LongForm]:
    for form in forms:
        has_room = not {"\t", "|", '"'} & {*form.short, *form.long}
        if form.documents >= min_documents and form.share >= min_share and has_room:
            yield form


def _most_frequent(short: str, forms: dict[str, Counter[str]]) -> LongForm:
    counts = {form: spelled.total() for form, spelled in forms.items()}
    best = min(counts, key=lambda form: (-counts[form], form))
    spelling = min(forms[best], key=lambda long: (-forms[best][long], long))
    return LongForm(short, spelling, counts[best], counts[best] / sum(counts.values()))
