"""Every text costs its length: each component by itself, and all of them together."""

import gc
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import spacy
from spacy.language import Language

from spacy_angel.component.characters import read
from spacy_angel.linking.candidates import linking_pass
from spacy_angel.linking.decision.links import GeneratedCandidates
from spacy_angel.vocabulary.kb import ConceptKB
from spacy_angel.vocabulary.names.concepts import Concept

from ..support.families import FAMILIES, NAMES, Family
from ..support.models import make_tiny_model
from ..support.tiny_recogniser import tiny_finder

SIZE = 150
# Beside the factor: what is counted in whole rounds, and what a long word costs beside a short one.
SLACK, CONSTANT = 1.3, 20_000
# What runs in C is not counted; the clock of a machine that does other things, too, is no measure
# of anything but squares: their factor is 16.
CLOCK, SECONDS = 10.0, 0.5


@pytest.fixture(scope="module")
def nlp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Language]:
    """YIELDS (Language): every component, with models that have learnt nothing."""
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
    config = {"overwrite": False, "replaces": ["DISEASE"]}
    recogniser: Any = nlp.add_pipe("angel_recogniser", config=config)
    recogniser.finder = tiny_finder(folder / "recogniser", steps=0)
    nlp.add_pipe("angel_matcher", config={"names": "all", "misspelled": True})
    nlp.add_pipe("abbreviation_detector", config={"make_serializable": True})
    nlp.add_pipe("angel_consistency", config={"span_key": "mentions"})
    nlp.add_pipe(
        "angel_linker",
        config={
            "model": str(folder / "model"),
            "vocabulary": str(folder / "kb"),
            "rerank": True,
            "reading": {"short_forms": True, "spelling": True},
        },
    )
    nlp.max_length = 10**8
    nlp("breast cancer, athsma")  # opens what is opened once
    # What there is until now is no garbage, and is not looked through with every measurement.
    gc.collect()
    gc.freeze()
    yield nlp
    gc.unfreeze()


def cost(run: Callable[[], Any]) -> tuple[int, float, Any]:
    """RETURNS (tuple[int, float, Any]): functions called, seconds of this thread, and what comes
    back."""
    n = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal n
        n += event in ("call", "c_call")

    # Garbage of the tests before takes as long as it takes.
    gc.collect()
    gc.disable()
    begin = time.thread_time()
    sys.setprofile(count)
    try:
        result = run()
    finally:
        sys.setprofile(None)
        seconds = time.thread_time() - begin
        gc.enable()
    return n, seconds, result


def costs(nlp: Language, text: str) -> dict[str, tuple[int, float]]:
    """RETURNS (dict[str, tuple[int, float]]): functions called and seconds, of each component."""
    found: dict[str, tuple[int, float]] = {}
    *found["reading"], _ = cost(lambda: read(text))
    *found["tokenizer"], doc = cost(lambda: nlp.make_doc(text))
    for name, component in nlp.pipeline:
        *found[name], doc = cost(lambda component=component, doc=doc: component(doc))
    found["all"] = sum(n for n, _ in found.values()), sum(s for _, s in found.values())
    assert doc.text == text
    return found


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_text_costs_its_length(
    nlp: Language, family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The search costs the same for each mention.
    monkeypatch.setattr(
        linking_pass.CandidateGenerator,
        "find",
        lambda self, mentions, labels, documents, constraints=None: (
            [GeneratedCandidates()] * len(mentions)
        ),
    )
    once, four = costs(nlp, family(SIZE)), costs(nlp, family(4 * SIZE))
    for name, (n, seconds) in once.items():
        more, longer = four[name]
        assert more <= 4 * SLACK * n + CONSTANT, f"{name}: {n} → {more} calls"
        assert longer <= CLOCK * seconds + SECONDS, f"{name}: {seconds} → {longer}"
