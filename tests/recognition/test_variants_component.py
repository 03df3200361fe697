"""The component `angel_variants`: in a pipeline, beside other mentions, before a linker."""

import pickle
from typing import Any

import pytest
import spacy
import torch
from spacy.lang.en import English
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from support.tiny_annotation import make_pipeline

from spacy_angel.pipelines.load import open_pipeline

torch.set_num_threads(1)

TEXT = "BRAF V600E (rs113488022) was found. In GJB2 c.360+1G>C, a 4-bp deletion and CYP2D6*4."


def made(**settings):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    genes = [
        {"label": "GENE", "pattern": [{"TEXT": gene}]}
        for gene in ("BRAF", "GJB2", "TP53", "CYP2D6")
    ]
    ruler: Any = nlp.add_pipe("entity_ruler", config={"validate": False})
    ruler.add_patterns(genes)
    nlp.add_pipe("angel_variants", config=settings)
    return nlp


@pytest.fixture(scope="module")
def nlp():
    return made()


def written(doc):
    """Everything that is written, in comparable form."""
    return [
        (ent.text, ent.label_, ent.kb_id_, ent._.kb_id, ent._.hgvs, str(ent._.variant_gene or ""))
        for ent in doc.ents
        if ent.label_ == "VARIANT"
    ]


EXPECTED = [
    ("V600E", "VARIANT", "rs113488022", "rs113488022", "p.Val600Glu", "BRAF"),
    ("rs113488022", "VARIANT", "rs113488022", "rs113488022", "", "BRAF"),
    ("c.360+1G>C", "VARIANT", "c.360+1G>C", "c.360+1G>C", "c.360+1G>C", "GJB2"),
    ("4-bp deletion", "VARIANT", "", "", "", "GJB2"),
    ("CYP2D6*4", "VARIANT", "CYP2D6*4", "CYP2D6*4", "", "CYP2D6"),
]


def test_what_is_written(nlp):
    doc = nlp(TEXT)
    assert written(doc) == EXPECTED
    assert [ent.text for ent in doc.ents if ent.label_ == "GENE"] == ["BRAF", "GJB2"]
    assert nlp.get_pipe("angel_variants").labels == ("VARIANT",)


def test_pipe_processes_and_bytes_say_the_same(nlp, tmp_path):
    texts = [TEXT, "", "none here", "p.Arg58fs of TP53"] * 3
    expected = [written(nlp(text)) for text in texts]
    assert expected[0] == EXPECTED
    assert [written(doc) for doc in nlp.pipe(texts, batch_size=2)] == expected
    assert [written(doc) for doc in nlp.pipe(texts, batch_size=2, n_process=2)] == expected
    nlp.to_disk(tmp_path / "saved")
    again = [spacy.load(tmp_path / "saved"), English.from_config(nlp.config)]
    again[1].from_bytes(nlp.to_bytes())
    for other in (*again, pickle.loads(pickle.dumps(nlp))):
        assert [written(doc) for doc in other.pipe(texts)] == expected
    doc = Doc(nlp.vocab).from_bytes(nlp(TEXT).to_bytes())
    (stored,) = DocBin(store_user_data=True, docs=[doc]).get_docs(nlp.vocab)
    assert written(doc) == written(stored) == EXPECTED


@pytest.mark.parametrize(
    ("entities", "left"),
    [
        # Of tokens BRAF V600E - mutant melanoma: start, end, label; what is left of it.
        ([(1, 2, "CELL_LINE")], []),
        ([(0, 1, "GENE"), (4, 5, "DISEASE")], [("BRAF", "GENE"), ("melanoma", "DISEASE")]),
        ([(0, 2, "GENE")], [("BRAF", "GENE")]),
        ([(1, 5, "DISEASE")], [("melanoma", "DISEASE")]),
        ([(0, 5, "DISEASE")], [("melanoma", "DISEASE")]),
        ([(0, 5, "GENE")], [("BRAF", "GENE")]),
        ([(1, 4, "GENE")], []),
    ],
)
def test_a_variant_goes_before_other_mentions(nlp, entities, left):
    doc = nlp.make_doc("BRAF V600E-mutant melanoma")
    assert [token.text for token in doc] == ["BRAF", "V600E", "-", "mutant", "melanoma"]
    doc.ents = [Span(doc, start, end, label=label) for start, end, label in entities]
    doc = nlp.get_pipe("angel_variants")(doc)
    others = [(ent.text, ent.label_) for ent in doc.ents if ent.label_ != "VARIANT"]
    assert others == left
    assert ("V600E", "VARIANT") in [(ent.text, ent.label_) for ent in doc.ents]


def test_a_span_group_keeps_what_does_not_lie_in_a_variant():
    nlp = made(span_key="mentions")
    doc = nlp.make_doc("BRAF V600E melanoma")
    spans = [
        Span(doc, *place) for place in ((0, 2, "GENE"), (1, 2, "CELL_LINE"), (2, 3, "DISEASE"))
    ]
    attrs = {"scores": [0.5, 0.6, 0.7]}
    doc.spans["mentions"] = SpanGroup(doc, name="mentions", attrs=attrs, spans=spans)
    group = nlp.get_pipe("angel_variants")(doc).spans["mentions"]
    assert [(span.text, span.label_, span.kb_id_) for span in group] == [
        ("BRAF V600E", "GENE", ""),
        ("V600E", "VARIANT", "p.Val600Glu"),
        ("melanoma", "DISEASE", ""),
    ]
    assert group.attrs["scores"] == [0.5, 1.0, 0.7]
    assert "mentions" not in nlp(TEXT).spans


def test_the_gene_is_of_the_sentence(nlp):
    doc = nlp("TP53 is wild. We saw R175H. BRAF and TP53: V600E, GJB2")
    genes = {ent.text: ent._.variant_gene for ent in doc.ents if ent.label_ == "VARIANT"}
    assert genes["R175H"] is None
    # One token away on either side: the one before.
    assert genes["V600E"].text == "TP53"
    # Without sentences a text is one.
    bare = spacy.blank("en")
    ruler: Any = bare.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "GENE", "pattern": "TP53"}])
    bare.add_pipe("angel_variants")
    assert bare("TP53 is wild. We saw R175H.").ents[1]._.variant_gene.text == "TP53"


def test_tokens_are_cut_at_variants_and_nowhere_else():
    text = "JAK2V617F, K138A+Q146A: BRAF V600E.\nJ. R. Smith saw Fig. 2A. In U.S.A. too, B."
    words: Any = spacy.blank("en")
    plain = [token.text_with_ws for token in words(text)]
    words.add_pipe("angel_variants")
    doc = words(text)
    assert doc.text == text
    tokens = [token.text_with_ws for token in doc]
    assert tokens[:6] == ["JAK2", "V617F", ", ", "K138A", "+", "Q146A"]
    assert tokens[tokens.index("J. ") :] == plain[plain.index("J. ") :]
    assert [ent.text for ent in doc.ents] == ["V617F", "K138A", "Q146A", "V600E"]


def test_a_sentence_ends_after_a_variant(nlp):
    text = "They had V600E. BRAF was wild with c.35delG. So was p.Arg153X."
    assert len(list(nlp(text).sents)) == 3


def test_variants_extend_to_whole_tokens_and_are_in_no_address(nlp):
    doc = Doc(nlp.vocab, ["BRAFV600E", "http://a.example/V600E.html", "V600E@a.example"])
    doc = nlp.get_pipe("angel_variants")(doc)
    assert [(ent.text, ent._.kb_id) for ent in doc.ents] == [("BRAFV600E", "p.Val600Glu")]


def test_noise_is_read_away(nlp):
    doc = nlp("BRAF V\u200b600\u00adE and c.35\u2011\u200b1G\uff1eA.")
    assert [(ent.text, ent._.kb_id) for ent in doc.ents if ent.label_ == "VARIANT"] == [
        ("V\u200b600\u00adE", "p.Val600Glu"),
        ("c.35\u2011\u200b1G\uff1eA", "c.35-1G>A"),
    ]


def test_what_a_linker_said_of_the_mention_before_goes(nlp):
    for name in ("kb_ents", "candidates"):
        if not Span.has_extension(name):
            Span.set_extension(name, default=[])
    doc = nlp.make_doc("V600E")
    doc.ents = [Span(doc, 0, 1, label="CELL_LINE", kb_id="CVCL_1")]
    doc.ents[0]._.kb_id, doc.ents[0]._.kb_ents = "CVCL_1", [("CVCL_1", 0.9)]
    doc = nlp.get_pipe("angel_variants")(doc)
    assert written(doc)[0][:4] == ("V600E", "VARIANT", "p.Val600Glu", "p.Val600Glu")
    assert doc.ents[0]._.kb_ents == []


LINKED = "the patient had heart attack. BRAF c.360+1G>C and V600E (rs113488022), a 4-bp deletion."
IDS = ["MESH:D009203", "c.360+1G>C", "rs113488022", "rs113488022", "NIL"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("linked")
    nlp = spacy.load(make_pipeline(folder))
    nlp.add_pipe("angel_variants", before="angel_linker")
    nlp.to_disk(folder / "with_variants")
    return folder / "with_variants"


def test_a_linker_leaves_variants_alone(saved):
    nlp, linker = open_pipeline(str(saved))
    doc = nlp(LINKED)
    assert [ent._.kb_id for ent in doc.ents][1:] == IDS[1:]
    assert [ent.kb_id_ for ent in doc.ents] == [ent._.kb_id for ent in doc.ents]
    assert doc.ents[1]._.kb_ents == []
    # Linking again changes nothing; the component may also run after the linker.
    assert [ent.kb_id_ for ent in linker(doc).ents][1:] == IDS[1:]
    assert linker.explain(doc.ents[4]).why.startswith("Mentions labeled VARIANT are not linked")
    assert "rs113488022" not in linker.kb
    nlp.remove_pipe("angel_variants")
    nlp.add_pipe("angel_variants", last=True)
    assert [ent._.kb_id for ent in nlp(LINKED).ents][1:4] == IDS[1:4]
