"""benchmarks/noise.py: what it puts into mentions, and what it counts."""

from types import ModuleType, SimpleNamespace

import pytest
import spacy
from spacy.tokens import Doc, Span
from support.scripts import load_script

NCBI = "1|t|Colon cancer and APC\n1|a|Adenomatous polyposis.\n{}\n\n"
MENTIONS = (
    "1\t0\t12\tColon cancer\tModifier\tD003110",
    "1\t21\t42\tAdenomatous polyposis\tSpecificDisease\tD011125",
)


@pytest.fixture(scope="module")
def noise() -> ModuleType:
    return load_script("benchmarks/noise.py")


@pytest.fixture
def documents(noise, tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(NCBI.format("\n".join(MENTIONS)))
    return list(noise.read_documents(path))


@pytest.mark.parametrize(
    ("kind", "mention", "expected"),
    [
        ("NUL for blanks", "non-small cell cancer", "non-small\0cell\0cancer"),
        ("zero-width blanks for blanks", "heart attack", "heart\u200battack"),
        ("words with hyphens at line ends", "insulin-dependent", "insulin-\ndependent"),
        # No word that has a hyphen.
        ("words with hyphens at line ends", "HLA-B27 -a- p-", "HLA-\nB27 -a- p-"),
    ],
)
def test_noise_between_the_words_of_a_mention(noise, kind, mention, expected):
    pieces = list(noise.NOISE[kind](mention))
    assert "".join(piece for piece, _ in pieces) == expected
    assert sum(n for _, n in pieces) == len(mention)


def test_noise_everywhere(noise, documents):
    (document,) = documents
    for everywhere, text in (
        (False, "Colon\0cancer and APC Adenomatous\0polyposis."),
        (True, "Colon\0cancer\0and\0APC\0Adenomatous\0polyposis."),
    ):
        made = noise.make_noisy(document, noise.NOISE["NUL for blanks"], everywhere)
        assert made.text == text
        assert made.places == [(m.start, m.end) for m in document.mentions]


def test_labels_of_a_corpus_are_the_pipelines(documents):
    assert [m.label for m in documents[0].mentions] == ["DISEASE", "DISEASE"]


def test_found_mentions_of_types_that_the_corpus_marks_are_counted(noise, documents):
    vocab = spacy.blank("en").vocab

    def pipe(texts, batch_size):
        for text in texts:
            doc = Doc(vocab, text.split(" "))
            doc.ents = [
                Span(doc, 0, 2, "Disease", kb_id="MESH:D003110"),
                # No chemical is marked: nobody knows whether it is right.
                Span(doc, 3, 4, "CHEMICAL", kb_id="MESH:D1"),
                Span(doc, 4, 5, "Phenotype"),
            ]
            yield doc

    linker = SimpleNamespace(kb=SimpleNamespace(resolve=lambda concept_id: concept_id))
    noisy = [noise.make_noisy(document, noise.NOISE["none"]) for document in documents]
    found = list(noise.find(SimpleNamespace(pipe=pipe), linker, documents, noisy, {"DISEASE"}))
    # Of each text the one disease that is found is one of its two, and has its identifier.
    assert found == [(1, 1, 1)] * len(documents)
