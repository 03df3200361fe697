"""Clinical short forms, lay words, brands and other words, and the names that they stand for.

A file of them has a line each: the form, what it is, the names separated by `|`, the best first.
`data/short_forms.tsv` was written for this package; `spacy-angel long-forms` writes one of what a
document set defines.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ...about import DATA
from ...errors import AngelError
from ...files.faults import FileReading
from ...files.table import table_rows
from ...vocabulary.names.concepts import normalize_name

if TYPE_CHECKING:
    from ...model.mention import Mention
    from ...vocabulary.kb import ConceptKB

FILE = DATA / "short_forms.tsv"
_SHORT_FORM = "short form"


@cache
def read_short_forms(path: Path = FILE) -> dict[str, tuple[str, ...]]:
    """Read a file of short forms.

    path (Path): TSV, by default the package's own.
    RETURNS (dict[str, tuple[str, ...]]): names by form; lay words and brands in normal form, short
        forms as they are written, e.g. `MS` is one and `ms` is not.
    RAISES (AngelError): a line that has no three cells, or a file that cannot be read.
    """
    forms = {}
    for number, cells in table_rows(path, FileReading(path.name, strict=True), "\t"):
        if len(cells) != 3 or not all(cells):
            raise AngelError(
                f"{path}, line {number}: expected tab-separated short and long forms, found "
                f"{len(cells)} cells."
            )
        form, kind, names = cells
        key = form if kind == _SHORT_FORM else normalize_name(form)
        forms[key] = tuple(names.split("|"))
    return forms


def expand_long_form(mention: "Mention", path: Path) -> "Mention":
    """Read a mention as the long form that the rest of its document set gives it, whether the
    vocabulary knows that or not.

    mention (Mention): long forms that its document defines are already in their place.
    path (Path): as `read_short_forms` reads it.
    RETURNS (Mention): e.g. `T-PLL` → `T-cell prolymphocytic leukemia`; others as they are.
    """
    names = read_short_forms(path).get(mention.text)
    return replace(mention, text=names[0]) if names else mention


def expand_short_form(
    mention: "Mention", kb: "ConceptKB", is_name: Callable[[str], bool]
) -> "Mention":
    """Read a mention as the name that it stands for, where the vocabulary does not know it, or only
    another spelling of a short form (`Ca2+` is no `cA2`), and knows that name; letters alone never
    tell.

    mention (Mention): long forms that its document defines are already in their place.
    kb (ConceptKB): the vocabulary.
    is_name (Callable[[str], bool]): whether a text is a name of a concept that the mention may
        have.
    RETURNS (Mention): e.g. `HTN` → `hypertension`; others as they are.
    """
    forms = read_short_forms()
    short = forms.get(mention.text, ())
    names = short or forms.get(normalize_name(mention.text), ())
    if names and is_name(mention.text) and not (short and _is_written_otherwise(mention.text, kb)):
        return mention
    return replace(mention, text=next(filter(is_name, names), mention.text))


def _is_written_otherwise(text: str, kb: "ConceptKB") -> bool:
    name = kb.name_index(text)
    return name is not None and kb.spelling(name).lower() != text.lower()
