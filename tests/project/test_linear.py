"""The running time of each component grows linearly with the length of the text."""

import sys
from itertools import cycle, islice, product
from random import Random

import pytest
import spacy
from support.models import make_tiny_model
from support.tiny_recogniser import tiny_finder

from spacy_angel.component.characters import clean
from spacy_angel.linking.candidates.generator import CandidateGenerator
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

SIZE = 150
# Beside the factor: what is counted in whole rounds, and what a long word costs beside a short one.
SLACK, CONSTANT = 1.3, 20_000
NAMES = {
    **dict.fromkeys(("breast cancer", "diabetes", "heart attack", "asthma"), "Disease"),
    **{"aspirin": "Chemical", "TP53": "Gene", "E. coli": "Species", "mice": "Species"},
}
SPECIES = ["".join(word) for word in product("abcdef", "aeiou", "lmnr", "aeiou", "s")]


def letters(number):
    """Write a number, from 0, as at least four lowercase letters."""
    digits = ""
    while number or len(digits) < 4:
        number, digit = divmod(number, 26)
        digits = chr(ord("a") + digit) + digits
    return digits


def many(word, join=" "):
    return lambda n: join.join(map(word, range(n)))


def repeated(*words, join=" "):
    return lambda n: join.join(islice(cycle(words), n))


def definition(i):
    first, second = letters(i), letters(i * 7 + 3)
    return f"{first} {second} ({first[0]}{second[0]}{i})."


def noise(n):
    return "".join(Random(0).choices("()[]{}\"'.,;:-/+*=<>%&#ab1 ", k=2 * n))


# Functions of a size, approximately in words, whose texts could take superlinear time.
FAMILIES = {
    **{f"only {mark!r}": repeated(mark, join="") for mark in ("a", "7", ",", ".", "-", " ", "\n")},
    "opening, then closing brackets": lambda n: "(" * (n // 2) + ")" * (n // 2),
    "brackets with blanks": lambda n: "( " * (n // 2) + ") " * (n // 2),
    "nested brackets": lambda n: "(a " * (n // 2) + "b) " * (n // 2),
    "pairs of brackets": repeated("()", join=""),
    "quotes": repeated('"', "'", join=""),
    "letters": repeated("a"),
    "numbers": many(str),
    "noise": noise,
    "words glued together": many(letters, join=""),
    "names glued together": repeated("breastcancer", "Aspirin", "TP53", join=""),
    "words with hyphens": many(letters, join="-"),
    "slashes": many(letters, join="/"),
    "definitions": many(definition),
    "one short form": repeated("breast cancer (BC)", "BC", "and"),
    "mentions": repeated(*NAMES, join=", "),
    "mentions without punctuation": repeated(*NAMES),
    "different mentions": many(lambda i: f"breast cancer {i} of TP53 in mice,"),
    "names in brackets": repeated("asthma (", "aspirin) ("),
    "typos": repeated("athsma", "diabtes mellitus", "hypertensoin", "astpirin", join=", "),
    "similar words": many(lambda i: f"carcinom{letters(i)[-3:]} diabet{letters(i)[-2:]}s"),
    "abbreviated genera": many(lambda i: f"E. {SPECIES[i % len(SPECIES)]}{letters(i)},"),
    "combining accents": repeated("a\u0301", join=""),
    "invisible": repeated("\u200b", "a", "\u00ad", join=""),
    "line ends in words": repeated("myo-\n", join=""),
}


@pytest.fixture(scope="module")
def nlp(tmp_path_factory):
    """Every component, with models that have learned nothing."""
    folder = tmp_path_factory.mktemp("linear")
    concepts = [Concept(f"X:{n}", n, (), (kind,)) for n, kind in NAMES.items()]
    ConceptKB.build(concepts, folder / "kb")
    make_tiny_model(folder / "model", list(NAMES))
    tokenizer = {"tokenizer": {"@tokenizers": "spacy_angel.Tokenizer.v1"}}
    nlp = spacy.blank("en", config={"nlp": tokenizer})
    nlp.add_pipe("sentencizer")
    genus = [{"TEXT": {"REGEX": r"^[A-Z]\.$"}}, {"IS_LOWER": True}]
    patterns = {"SPECIES": genus, "DISEASE": "breast cancer", "GENE": "TP53"}
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": k, "pattern": pattern} for k, pattern in patterns.items()])
    recogniser = nlp.add_pipe("angel_recogniser", config={"overwrite": False})
    recogniser.finder = tiny_finder(folder / "recogniser", steps=0)
    nlp.add_pipe("angel_matcher", config={"names": "all", "misspelled": True})
    nlp.add_pipe("angel_abbreviations", config={"make_serializable": True})
    nlp.add_pipe("angel_consistency", config={"span_key": "mentions"})
    sources = {"model": str(folder / "model"), "vocabulary": str(folder / "kb")}
    nlp.add_pipe("angel_linker", config=sources)
    nlp.max_length = 10**8
    nlp("breast cancer, athsma")  # opens what is opened once
    return nlp


def cost(run, *arguments):
    """Return the number of functions that a function calls, and its result."""
    n = 0

    def count(frame, event, argument):
        nonlocal n
        n += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        result = run(*arguments)
    finally:
        sys.setprofile(None)
    return n, result


def costs(nlp, text):
    """Return the number of functions that each component calls."""
    found = {}
    found["reading"], _ = cost(clean, text)
    found["tokenizer"], doc = cost(nlp.make_doc, text)
    for name, component in nlp.pipeline:
        found[name], doc = cost(component, doc)
    assert doc.text == text
    return found


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_text_costs_its_length(nlp, family, monkeypatch):
    # The search costs the same for each mention.
    monkeypatch.setattr(CandidateGenerator, "generate", lambda self, queries: None)
    once, four = costs(nlp, family(SIZE)), costs(nlp, family(4 * SIZE))
    for name, n in once.items():
        assert four[name] <= 4 * SLACK * n + CONSTANT, f"{name}: {n} → {four[name]} calls"
