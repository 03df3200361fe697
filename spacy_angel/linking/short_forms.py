"""Clinical short forms, lay words and brands, and the names that they stand for.

`data/short_forms.tsv` has a line each: the form, what it is, the names separated by `|`, the best
first. It was written for this package.
"""

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ..about import DATA
from ..vocabulary.concepts import normalize_name

if TYPE_CHECKING:
    from ..model.mention import Mention
    from ..vocabulary.kb import ConceptKB

FILE = DATA / "short_forms.tsv"
_SHORT_FORM = "short form"


@cache
def read_short_forms() -> dict[str, tuple[str, ...]]:
    """RETURNS (dict[str, tuple[str, ...]]): names by form; lay words and brands in normal form,
    short forms as they are written, e.g. `MS` is one and `ms` is not."""
    forms = {}
    for line in FILE.read_text(encoding="utf8").splitlines():
        form, kind, names = line.split("\t")
        key = form if kind == _SHORT_FORM else normalize_name(form)
        forms[key] = tuple(names.split("|"))
    return forms


def expand_short_form(mention: "Mention", kb: "ConceptKB") -> "Mention":
    """Read a mention as the name that it stands for, where the vocabulary does not know it and
    knows that name; letters alone never tell.

    mention (Mention): long forms that its document defines are already in their place.
    kb (ConceptKB): the vocabulary.
    RETURNS (Mention): e.g. `HTN` → `hypertension`; others as they are.
    """
    forms = read_short_forms()
    names = forms.get(mention.text) or forms.get(normalize_name(mention.text)) or ()
    if not names or kb.name_index(mention.text) is not None:
        return mention
    known = (name for name in names if kb.name_index(name) is not None)
    return replace(mention, text=next(known, mention.text))
