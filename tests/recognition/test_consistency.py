"""One text in a document, one kind of thing."""

import pytest
import spacy
from spacy.tokens import Doc, Span, SpanGroup

from spacy_angel.errors import AngelError
from spacy_angel.recognition.consistency import ConsistencySettings, make_consistent
from spacy_angel.recognition.found import TokenSpan

VOCAB = spacy.blank("en").vocab


def document(text, *entities):
    doc = Doc(VOCAB, text.split())
    doc.ents = [Span(doc, start, end, label=label) for start, end, label in entities]
    return doc


def mentions(doc):
    return [(ent.text, ent.start, ent.label_) for ent in doc.ents]


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("angel_consistency")
    return nlp


def test_what_is_new_is_as_probable_as_what_it_follows_from(nlp):
    doc = document("Hp a Hp b Hp c Hp", *((2 * i, 2 * i + 1, "GENE") for i in range(3)))
    for entity, probability in zip(doc.ents, (0.9, 0.6, None), strict=True):
        entity._.mention_probability = probability
    doc = nlp.get_pipe("angel_consistency")(doc)
    assert [ent._.mention_probability for ent in doc.ents] == [0.9, 0.6, None, 0.6]


@pytest.mark.parametrize(("found", "left"), [(1, 0), (2, 2), (3, 4)])
def test_shares_decide(found, left):
    # Of four places: 0.25 is below 0.35, 0.75 above 0.7.
    doc = document("ACE a ACE b ACE c ACE d")
    some = [TokenSpan(2 * i, 2 * i + 1, "GENE", 0.5 + i / 10) for i in range(found)]
    after = make_consistent(doc, some, ConsistencySettings())
    assert len(after) == left
    if left == 4:
        assert after[3] == TokenSpan(6, 7, "GENE", 0.5)


def test_a_sure_mention_is_found_everywhere():
    doc = document("Prozac a Prozac b Prozac c Prozac")
    sure = TokenSpan(0, 1, "CHEMICAL", 0.96)
    after = make_consistent(doc, [sure], ConsistencySettings())
    assert after == [sure._replace(start=2 * i, end=2 * i + 1) for i in range(4)]
    assert make_consistent(doc, [sure], ConsistencySettings(sure_from=0.97)) == []


def test_words_of_several_tokens_and_their_case():
    doc = document("heart attack ; a heart attack ; Heart attack ; heart", (0, 2, "DISEASE"))
    settings = ConsistencySettings(add_from=0.5, drop_below=0)
    after = make_consistent(doc, [TokenSpan(0, 2, "DISEASE", 0.9)], settings)
    assert after == [TokenSpan(0, 2, "DISEASE", 0.9), TokenSpan(4, 6, "DISEASE", 0.9)]


def test_words_are_the_same_across_line_ends_and_markup(nlp):
    doc = nlp.make_doc(
        "A heart attack, <b>heart</b>\nattack, and heart \t attack; heart\n\nattack."
    )
    after = make_consistent(doc, [TokenSpan(1, 3, "DISEASE", 0.96)], ConsistencySettings())
    texts = [doc[one.start : one.end].text for one in after]
    assert [" ".join(text.split()) for text in texts] == ["heart attack", "heart</b> attack"]


@pytest.mark.parametrize("serializable", [True, False])
def test_short_forms_are_what_their_long_form_is(nlp, serializable):
    nlp.add_pipe("angel_abbreviations", config={"make_serializable": serializable}, first=True)
    ruler = nlp.add_pipe("entity_ruler", first=True)
    ruler.add_patterns([{"label": "DISEASE", "pattern": "multiple sclerosis"}])
    doc = nlp("Patients with multiple sclerosis (MS) came. MS is a disease.")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("multiple sclerosis", "DISEASE"),
        ("MS", "DISEASE"),
        ("MS", "DISEASE"),
    ]


@pytest.mark.parametrize(("probability", "label"), [(0.7, "DISEASE"), (0.9, "GENE")])
def test_a_less_probable_label_of_a_short_form_goes(probability, label):
    doc = document("malignant mesothelioma MM")
    doc.user_data["._.", "abbreviations", None, None] = [
        {"short_start": 2, "short_end": 3, "long_end": 2, "long_text": "malignant mesothelioma"}
    ]
    found = [TokenSpan(0, 2, "DISEASE", 0.8), TokenSpan(2, 3, "GENE", probability)]
    assert make_consistent(doc, found, ConsistencySettings())[1].label == label


def test_a_sure_short_form_supports_the_others():
    doc = document("malignant mesothelioma MM ; MM")
    doc.user_data["._.", "abbreviations", None, None] = [
        {"short_start": i, "short_end": i + 1, "long_end": 2, "long_text": "malignant mesothelioma"}
        for i in (2, 4)
    ]
    found = [
        TokenSpan(0, 2, "DISEASE", 0.4),
        TokenSpan(2, 3, "DISEASE", 0.9),
        TokenSpan(4, 5, "CHEMICAL", 0.7),
    ]
    after = make_consistent(doc, found, ConsistencySettings())
    assert [m.label for m in after] == ["DISEASE"] * 3


def test_a_group_has_its_own_mentions_and_probabilities():
    nlp = spacy.blank("en")
    component = nlp.add_pipe("angel_consistency", config={"span_key": "mentions"})
    doc = document("BRCA1 a BRCA1 b BRCA1 c BRCA1 carriers")
    spans = [Span(doc, 2 * i, 2 * i + 1, label="GENE") for i in range(3)]
    # Mentions of other labels may overlap them.
    spans.append(Span(doc, 6, 8, label="SPECIES"))
    attrs = {"scores": [0.9, 0.7, 0.8, 0.6]}
    doc.spans["mentions"] = SpanGroup(doc, name="mentions", attrs=attrs, spans=spans)
    group = component(doc).spans["mentions"]
    assert [span.start for span in group] == [0, 2, 4, 6, 6]
    assert group.attrs["scores"] == [0.9, 0.7, 0.8, 0.7, 0.6]
    assert list(doc.ents) == []
    # A document without the group gets none.
    assert "mentions" not in component(document("a b")).spans


def test_links_on_mentions_that_stay_are_kept(nlp):
    doc = document("aspirin helps")
    doc.ents = [Span(doc, 0, 1, label="CHEMICAL", kb_id="MESH:D001241")]
    (ent,) = nlp.get_pipe("angel_consistency")(doc).ents
    assert ent.kb_id_ == "MESH:D001241"


def test_settings_are_checked_and_saved(tmp_path):
    nlp = spacy.blank("en")
    with pytest.raises(AngelError, match="drop_below"):
        nlp.add_pipe("angel_consistency", config={"add_from": 0.4, "drop_below": 0.5})
    with pytest.raises(AngelError, match="add_from"):
        ConsistencySettings(add_from=2)
    nlp.add_pipe("angel_consistency", config={"add_from": 0.9, "span_key": "x"})
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp").get_pipe("angel_consistency")
    assert again.settings == ConsistencySettings(add_from=0.9, span_key="x")


def test_long_forms_that_stand_nowhere_say_nothing(nlp):
    Span.set_extension("long_form", default=None, force=True)
    doc = document("multiple sclerosis MS MS", (0, 2, "DISEASE"))
    short = doc[2:3]
    short._.long_form = "multiple sclerosis"
    serialized = {"short_start": 3, "short_end": 4, "long_text": "multiple sclerosis"}
    doc.user_data["._.", "abbreviations", None, None] = [short, serialized]
    component = nlp.get_pipe("angel_consistency")
    assert [ent.text for ent in component(doc).ents] == ["multiple sclerosis"]
    short._.long_form = doc[0:2]
    assert [ent.text for ent in component(doc).ents] == ["multiple sclerosis", "MS"]
