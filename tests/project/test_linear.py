"""Every text costs its length: each component by itself, and all of them together."""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import spacy
from spacy.language import Language

from spacy_angel.component.characters import clean
from spacy_angel.linking.candidates.generator import CandidateGenerator
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

from ..support.families import FAMILIES, NAMES, Family
from ..support.models import make_tiny_model
from ..support.tiny_recogniser import tiny_finder

SIZE = 150
# Beside the factor: what is counted in whole rounds, and what a long word costs beside a short one.
SLACK, CONSTANT = 1.3, 20_000


@pytest.fixture(scope="module")
def nlp(tmp_path_factory: pytest.TempPathFactory) -> Language:
    """RETURNS (Language): every component, with models that have learnt nothing."""
    folder = tmp_path_factory.mktemp("linear")
    types = (
        *("Disease", "Disease", "Chemical", "Disease", "Gene"),
        "Species",
        "Species",
        "Disease",
    )
    names = (*NAMES, "asthma")
    ConceptKB.build(
        [Concept(f"X:{i}", name, (), (types[i],)) for i, name in enumerate(names)], folder / "kb"
    )
    make_tiny_model(folder / "model", names)
    nlp = spacy.blank(
        "en", config={"nlp": {"tokenizer": {"@tokenizers": "spacy_angel.Tokenizer.v1"}}}
    )
    nlp.add_pipe("sentencizer")
    genus: list[dict[str, Any]] = [{"TEXT": {"REGEX": r"^[A-Z]\.$"}}, {"IS_LOWER": True}]
    nlp.add_pipe("entity_ruler").add_patterns(
        [
            {"label": "SPECIES", "pattern": genus},
            {"label": "DISEASE", "pattern": "breast cancer"},
            {"label": "GENE", "pattern": "TP53"},
        ]
    )
    config = {"overwrite": False}
    recogniser: Any = nlp.add_pipe("angel_recogniser", config=config)
    recogniser.finder = tiny_finder(folder / "recogniser", steps=0)
    nlp.add_pipe("angel_matcher", config={"names": "all", "misspelled": True})
    nlp.add_pipe("angel_abbreviations", config={"make_serializable": True})
    nlp.add_pipe("angel_consistency", config={"span_key": "mentions"})
    nlp.add_pipe(
        "angel_linker",
        config={
            "model": str(folder / "model"),
            "vocabulary": str(folder / "kb"),
        },
    )
    nlp.max_length = 10**8
    nlp("breast cancer, athsma")  # opens what is opened once
    return nlp


def cost(run: Callable[[], Any]) -> tuple[int, Any]:
    """RETURNS (tuple[int, Any]): functions called, and what comes back."""
    n = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal n
        n += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        result = run()
    finally:
        sys.setprofile(None)
    return n, result


def costs(nlp: Language, text: str) -> dict[str, int]:
    """RETURNS (dict[str, int]): functions called, of each component."""
    found: dict[str, int] = {}
    found["reading"], _ = cost(lambda: clean(text))
    found["tokenizer"], doc = cost(lambda: nlp.make_doc(text))
    for name, component in nlp.pipeline:
        found[name], doc = cost(lambda component=component, doc=doc: component(doc))
    assert doc.text == text
    return found


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_text_costs_its_length(
    nlp: Language, family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The search costs the same for each mention.
    monkeypatch.setattr(CandidateGenerator, "generate", lambda self, queries: None)
    once, four = costs(nlp, family(SIZE)), costs(nlp, family(4 * SIZE))
    for name, n in once.items():
        assert four[name] <= 4 * SLACK * n + CONSTANT, f"{name}: {n} → {four[name]} calls"
