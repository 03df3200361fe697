"""Words and the nouns that they are derived from, of WordNet: `data/derived_forms.tsv`.

    python scripts/shipped/build_derived_forms.py WORDNET spacy_angel/data/derived_forms.tsv

WORDNET has the files `data.adj`, `data.noun` and `noun.exc` of WordNet 3.0. A line of the output
has a word and its nouns, separated by `|`, the first sense's first, those of its own stem alone if
there are any: `neuronal`, neuron (an adjective that pertains to a noun), `cortices`, cortex (an
irregular plural). Names of persons and places, and words of several parts, are left out. WordNet's
notice stands at the head, as its licence asks.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from spacy_angel.files.atomic import write_text

app = typer.Typer(add_completion=False, help=__doc__)

_PERTAINS_TO = "\\"
_NOTICE = "  "
_STEM = 3
"""First letters that a word shares with a noun of its own stem."""


@app.command()
def build(
    wordnet: Annotated[Path, typer.Argument(help="Folder of WordNet's files.")],
    output: Annotated[Path, typer.Argument(help="The table.")],
) -> None:
    """Write the table."""
    # Numbered lines.
    numbered = (line.split(maxsplit=1) for line in _lines(wordnet / "data.adj", is_notice=True))
    notice = [f"# {' '.join(text)}".strip() for _, *text in numbered]
    forms = derived_forms(wordnet)
    rows = [f"{word}\t{'|'.join(nouns)}" for word, nouns in sorted(forms.items())]
    write_text(output, "\n".join([*notice, *rows, ""]))


def derived_forms(wordnet: Path) -> dict[str, list[str]]:
    """wordnet (Path): the folder. RETURNS (dict[str, list[str]]): nouns by word."""
    nouns = {cells[0]: _words(cells) for cells in map(str.split, _lines(wordnet / "data.noun"))}
    forms: dict[str, list[str]] = {}
    for line in _lines(wordnet / "data.adj"):
        cells = line.split()
        words = _words(cells)
        rest = cells[4 + 2 * len(words) :]
        pointers = rest[1 : 1 + 4 * int(rest[0])]
        for symbol, sense, part, ends in zip(*(iter(pointers),) * 4, strict=True):
            if symbol == _PERTAINS_TO and part == "n":
                # Hexadecimal numbers of the word here and of the noun there.
                word, noun = words[int(ends[:2], 16) - 1], nouns[sense][int(ends[2:], 16) - 1]
                # `epidermal` points to cuticle, which epidermis is another word of.
                alike = [other for other in nouns[sense] if _alike(word, other)]
                _add(forms, word, *(alike or [noun]))
    for line in _lines(wordnet / "noun.exc"):
        plural, *singulars = line.split()
        _add(forms, plural, *singulars)
    return {word: [n for n in own if _alike(word, n)] or own for word, own in forms.items()}


def _alike(word: str, noun: str) -> bool:
    """Of `genetic`, which is of a gene, an origin or genetics, the first and the last."""
    return word[:_STEM] == noun[:_STEM]


def _add(forms: dict[str, list[str]], word: str, *nouns: str) -> None:
    for noun in nouns:
        is_plain = all(part.isalpha() and part.islower() for part in (word, noun))
        if is_plain and word != noun and noun not in forms.setdefault(word, []):
            forms[word].append(noun)


def _lines(path: Path, is_notice: bool = False) -> Iterator[str]:
    for line in path.read_text(encoding="utf8").splitlines():
        if line.startswith(_NOTICE) == is_notice and line.strip():
            yield line


def _words(cells: list[str]) -> list[str]:
    """Of a line of `data.*`: without marks such as `(a)` behind an adjective."""
    return [cells[4 + 2 * i].partition("(")[0] for i in range(int(cells[3], 16))]


if __name__ == "__main__":
    app()
