"""`linker.explain`: the true cause of a link, with all its figures."""

import json
import re
from dataclasses import replace

import pytest
import torch
from spacy.tokens import Span
from support.tiny_linker import blocks, pipeline

from spacy_angel.errors import AngelError

torch.set_num_threads(1)
ATTACK, ASPIRIN, NAMESAKE = "MESH:D009203", "MESH:D001241", "MESH:D000001"
TEXT = "the patient had heart attack . aspirin ."


@pytest.fixture
def nlp(model, vocabulary):
    made = pipeline()
    config = {"model": model, "vocabulary": vocabulary, "rerank": True, "threshold": 0.5}
    made.add_pipe("angel_linker", config=blocks(**config))
    return made


def explained(nlp, place=0, text=TEXT, **settings):
    linker = nlp.get_pipe("angel_linker")
    doc = nlp.make_doc(text)
    if text == TEXT:
        doc = nlp(text)
    else:
        doc.ents = [Span(doc, 0, len(doc), label="DISEASE")]
    own = blocks(**{"rerank": True, "threshold": 0.5, **settings})
    with linker.using(**own):
        return linker.explain(linker(doc).ents[place])


def rules(folder, *rows):
    path = folder / f"rules-{len(list(folder.iterdir()))}.tsv"
    header = "action\tstring\tconcept\tlabel\tcondition\tauthor\tdate\treason\n"
    path.write_text(header + "".join(f"{row}\n" for row in rows), "utf8")
    return str(path)


def test_an_explanation_has_all_that_led_to_the_link(nlp):
    doc = nlp(TEXT)
    told = nlp.get_pipe("angel_linker").explain(doc.ents[0])
    assert (told.mention, told.label, told.kb_id) == (
        "heart attack",
        "DISEASE",
        doc.ents[0]._.kb_id,
    )
    assert "START heart attack END" in told.source
    assert told.queries == (("heart attack", "mention"),)
    assert {c.concept_id for c in told.concepts[:2]} == {ATTACK, NAMESAKE}
    first = told.concepts[0]
    assert first.names[0][0].lower() == "heart attack"
    assert first.names[0][1] < 0
    assert told.rules == ()
    assert "exact match" in first.reasons
    assert "lead over other concepts" in told.link_reasons
    json.dumps(told.to_dict(), allow_nan=False)


def test_without_the_ranker_there_are_names_and_no_reasons(nlp):
    told = explained(nlp, rerank=False)
    assert told.concepts[0].reasons == told.link_reasons == {}


def test_a_name_that_was_not_searched_is_the_cause(nlp):
    told = explained(nlp, 1, shortcuts=True)
    assert (told.kb_id, told.source) == (ASPIRIN, "")
    assert "shortcuts" in told.why
    assert "Model read" not in str(told)


def test_the_threshold_is_the_cause(nlp):
    told = explained(nlp, threshold=1.0)
    assert told.kb_id == "NIL"
    assert "under the threshold 1.000; probability of NIL" in told.why


def test_the_rule_is_the_cause(nlp, tmp_path):
    never = rules(tmp_path, "exclude\taspirin\t\t\t\tjd\t2024-05-31\ta brand here")
    told = explained(nlp, 1, curation=never)
    cause = "“aspirin” is never linked (line 2; jd, 2024-05-31: a brand here)"
    assert told.why == f"A rule: {cause}."
    assert (told.kb_id, told.rules) == ("NIL", (cause,))
    excludes = rules(tmp_path, "exclude\t\tMESH:D001241")
    told = explained(nlp, 1, curation=excludes)
    assert told.rules == ("never linked to: MESH:D001241 (line 2)",)
    assert ASPIRIN not in [concept.concept_id for concept in told.concepts]
    means = rules(tmp_path, f"prefer\theart attack\t{NAMESAKE}")
    told = explained(nlp, curation=means)
    assert (told.kb_id, told.source) == (NAMESAKE, "")
    assert told.why == f"A rule: “heart attack” means {NAMESAKE} (line 2)."


def test_a_label_that_is_not_linked_is_the_cause(nlp):
    assert "labels_discard" in explained(nlp, 1, labels_discard=("DRUG",)).why
    not_listed = explained(nlp, 1, types_by_label={"DISEASE": []}).why
    assert not_listed == "Mentions labeled DRUG are not linked (types_by_label)."


def test_nothing_is_written_and_a_span_of_elsewhere_is_refused(nlp):
    doc = nlp(TEXT)
    linker = nlp.get_pipe("angel_linker")
    before = [(ent._.kb_id, ent._.kb_ents, ent._.candidates) for ent in doc.ents]
    with linker.using(decision={"threshold": 1.0}):
        linker.explain(doc.ents[0])
    assert [(ent._.kb_id, ent._.kb_ents, ent._.candidates) for ent in doc.ents] == before
    with pytest.raises(AngelError, match=r"angel_linker does not read the mention.*doc\.ents"):
        linker.explain(Span(doc, 0, 1, label="DISEASE"))


def test_as_text_it_has_a_line_per_concept(nlp):
    told = explained(nlp)
    lines = str(told).split("\n")
    assert lines[0].startswith("“heart attack” (DISEASE) → MESH:")
    assert re.search(r"^Reasons for MESH:D\d+, in nats: [\w ]+ [+-]\d", str(told), re.MULTILINE)
    assert any(line.startswith("0.") and "Myocardial" in line for line in lines)
    assert lines[-1].startswith("Reasons for a link at all, in nats: ")
    assert str(replace(told, concepts=(), link_reasons={}))


def test_what_was_searched_for_and_found_is_said(nlp):
    name = explained(nlp, 1, rerank=False, threshold=None)
    assert name.why.startswith("Most probable name: “Aspirin”, probability ")
    read = explained(nlp, text="heart attak", rewrite=True)
    assert read.queries[0] == ("heart attack", "spelling")
