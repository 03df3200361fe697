"""The pipeline that works without any setting: what ships in the package, and a word list."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.language import Language

    from .concepts import Concept

NAME = "en_angel_mini"
# Shorter words differ in one letter too often by nature ("edema", "eczema").
_FUZZY_FROM = 6
_SHORT_FORM = 4


def load(model: Path | str | None = None, kb: Path | str | None = None) -> "Language":
    """English with sentences, mentions, abbreviations, links.

    Mentions are found by the names of the vocabulary, a wrong letter in a long word allowed: it is
    a stand-in for a trained recogniser, good enough to try a vocabulary.

    model (Path | str | None): encoder-decoder folder or hub name; None is the one that ships.
    kb (Path | str | None): vocabulary folder or file; None is the starter that ships.
    RETURNS (Language): sentencizer, entity_ruler, abbreviation_detector, angel_linker.
    RAISES (AngelError): no model or vocabulary there.
    """
    import spacy

    from .sources import load_vocabulary

    vocabulary = load_vocabulary(kb)
    nlp = spacy.blank("en")
    nlp.meta["name"] = NAME.removeprefix("en_")
    nlp.add_pipe("sentencizer")
    ruler: Any = nlp.add_pipe("entity_ruler", config={"validate": False})
    ruler.add_patterns(list(mention_patterns(nlp, vocabulary)))
    nlp.add_pipe("abbreviation_detector", config={"make_serializable": True})
    linker: Any = nlp.add_pipe(
        "angel_linker", config={"model": None if model is None else str(model)}
    )
    linker.kb = vocabulary
    # Not `nlp.initialize()`, which takes the ruler's patterns away.
    linker.initialize(nlp=nlp)
    return nlp


def mention_patterns(nlp: "Language", concepts: "Iterable[Concept]") -> Iterator[dict[str, Any]]:
    """Patterns of spaCy's entity ruler for the names of concepts, labelled by their first type.

    nlp (Language): its tokenizer cuts the names.
    concepts (Iterable[Concept]): e.g. a vocabulary.
    YIELDS (dict[str, Any]): `heart attack` → `{"label": "DISEASE", "pattern": [{"LOWER": "heart"},
        {"LOWER": {"FUZZY1": "attack"}}]}`; short forms such as `ALL` only in their own case.
    """
    for concept in concepts:
        label = concept.types[0].upper() if concept.types else "ENTITY"
        for name in concept.names:
            exact = len(name) <= _SHORT_FORM and name != name.lower()
            tokens = [t.text for t in nlp.make_doc(name)]
            yield {"label": label, "pattern": [_token(t, exact) for t in tokens]}


def _token(text: str, exact: bool) -> dict[str, Any]:
    if exact:
        return {"ORTH": text}
    if len(text) < _FUZZY_FROM or not text.isalpha():
        return {"LOWER": text.lower()}
    return {"LOWER": {"FUZZY1": text.lower()}}
