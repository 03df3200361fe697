"""Greek letters, charges and figures as vocabularies have them: `α-cell`, `Ni2+`, `SIRT-1`."""

import re
import unicodedata
from collections.abc import Iterator

from ...vocabulary.names.concepts import normalize_name

_GREEK = re.compile(r"[\u0370-\u03ff\u1f00-\u1fff\u00b5]")
_WORDS = {"lamda": "lambda", "final sigma": "sigma", "micro sign": "mu"}
# `Ca2+`, `Fe(III)`, `Cl-`, `Zn(2+)`: of an element, what it has too little or too much.
_CHARGE = re.compile(r"([A-Z][a-z]?)(?:\d?[+\u207a]+|\d?[-\u2212\u207b]|\((?:\d?[+-]|[IV]+)\))")
# What stands between a letter and a figure, in the one order or the other; where nothing does.
_APART = re.compile(r"(?<=[^\W\d_])[\W_]+(?=\d)|(?<=\d)[\W_]+(?=[^\W\d_])")
_TOGETHER = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_SMALL = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "01234567890123456789+-")


def spell_out(text: str) -> str:
    """text (str): a mention. RETURNS (str): with Greek letters as words, and of an ion the element,
    e.g. `IFN-γ` → `IFN-gamma`, `α-cell` → `alpha-cell`, `Ni2+` → `Ni`, `CO₂` → `CO2`."""
    text = text.translate(_SMALL)
    if ion := _CHARGE.fullmatch(text):
        return ion[1]
    return _GREEK.sub(_name, text)


def respaced(text: str) -> Iterator[str]:
    """text (str): a mention. YIELDS (str): it with letters and figures together, then apart, e.g.
    `SIRT-1` → `SIRT1`, `E4031` → `E 4031`; not what is the same name as it stands."""
    name = normalize_name(text)
    for other in (_APART.sub("", text), _TOGETHER.sub(" ", text)):
        if normalize_name(other) != name:
            yield other


def _name(found: "re.Match[str]") -> str:
    name = unicodedata.name(found[0], "").lower()
    name = re.sub(r"^greek (small|capital) letter |( symbol)$|^greek | with .*$", "", name)
    name = _WORDS.get(name, name)
    return name if name.isalpha() else found[0]
