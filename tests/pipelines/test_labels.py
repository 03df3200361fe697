"""Mentions with the labels of other tools are linked as those with the pipeline's own."""

import warnings

import pytest
import torch
from spacy.tokens import Doc

import spacy_angel
from spacy_angel.linking.mentions.labels import warn_unlinked
from spacy_angel.vocabulary.names.labels import ANY, labels_by_tool

torch.set_num_threads(1)

# Each is the name of a concept of its kind; `mice` in MeSH would be MESH:D051379.
MENTIONS = {
    "DISEASE": ("heart attack", "MESH:D009203"),
    "CHEMICAL": ("aspirin", "MESH:D001241"),
    "GENE": ("TP53", "NCBIGene:7157"),
    "SPECIES": ("mice", "NCBITaxon:10090"),
    "CELL_LINE": ("Jurkat", "CVCL_0065"),
    "PHENOTYPE": ("low-set ears", "HP:0000369"),
}
# Kinds that the pipeline's vocabulary has within another one.
WITHIN = {"GENE_FAMILY": "GENE"}
TABLE = labels_by_tool()
TOOLS = [tool for tool, kinds in TABLE.items() if ANY not in kinds]
LABELS = {
    tool: {label for labels in TABLE[tool].values() for label in labels if label} for tool in TOOLS
}


@pytest.fixture(scope="module")
def nlp():
    return spacy_angel.load("en_angel_bio", candidates={"span_key": "given"})


@pytest.fixture(autouse=True)
def anew():
    warn_unlinked.cache_clear()
    yield
    warn_unlinked.cache_clear()


def link(nlp, mentions):
    """mentions (Sequence[tuple[str, str]]): label and text, each in a document of its own. RETURNS
    (list[str]): their identifiers."""
    docs: list[Doc] = []
    for label, text in mentions:
        doc = nlp.make_doc(f"We looked at {text} there.")
        doc.spans["given"] = [doc.char_span(13, 13 + len(text), label=label)]
        docs.append(doc)
    linker = nlp.get_pipe("angel_linker")
    return [doc.spans["given"][0].kb_id_ for doc in linker.pipe(docs, batch_size=64)]


@pytest.mark.parametrize("tool", TOOLS)
def test_each_spelling_of_each_kind_is_linked_as_the_pipelines_own(nlp, tool):
    mentions, expected = [], []
    for kind, labels in TABLE[tool].items():
        if (own := WITHIN.get(kind, kind)) in MENTIONS:
            text, concept = MENTIONS[own]
            mentions += [(label, text) for label in labels]
            expected += [concept] * len(labels)
    assert mentions
    found = link(nlp, mentions)
    assert dict(zip(mentions, found, strict=True)) == dict(zip(mentions, expected, strict=True))


def test_other_labels_are_left_alone_and_told_once(nlp):
    mentions = [("PERSON", "mice"), ("ORG", "TP53"), ("ORG", "aspirin"), ("Variant", "TP53")]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert link(nlp, mentions) == [""] * 4
        assert link(nlp, mentions) == [""] * 4
    told = [str(warning.message) for warning in caught if "W890" in str(warning.message)]
    assert len(told) == 3
    for label in ("'PERSON'", "'ORG'", "'Variant' (VARIANT)"):
        assert sum(f"labeled {label} are not" in message for message in told) == 1


def test_labels_that_say_nothing_and_pipelines_without_types_link_to_anything(nlp):
    any_label = [("ENTITY", text) for text, _ in MENTIONS.values()]
    concepts = [concept for _, concept in MENTIONS.values()]
    assert link(nlp, any_label)[:2] == concepts[:2]
    assert "NIL" not in link(nlp, any_label)
    with nlp.get_pipe("angel_linker").using(candidates={"types_by_label": {}}):
        assert "NIL" not in link(nlp, [("PERSON", text) for text, _ in MENTIONS.values()])
