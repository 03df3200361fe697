"""The component: learns texts by heart, is saved and opened again, and leaves documents alone."""

import pickle

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from support.tiny_recogniser import LABELS, TEXTS, tiny_finder

from spacy_angel.component.probability import PossibleMention, possible_mentions_of
from spacy_angel.errors import AngelError
from spacy_angel.recognition.finder import MentionFinder
from spacy_angel.recognition.found import FoundMention
from spacy_angel.recognition.settings import RecognizerSettings


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recognizer")
    tiny_finder(folder / "start").to_disk(folder / "model")
    return folder / "model"


def pipeline(folder, **settings):
    nlp = spacy.blank("en")
    nlp.add_pipe("angel_recogniser", config={"model": str(folder), **settings})
    return nlp


def spans(doc, key="mentions"):
    return [(span.text, span.label_) for span in doc.spans[key]]


def expected(number):
    text, marked = TEXTS[number]
    placed = sorted(
        (text.index(part), text.index(part) + len(part), label, part) for part, label in marked
    )
    return [(part, LABELS[label]) for *_, label, part in placed]


def test_texts_are_known_by_heart_and_mentions_overlap(folder):
    nlp = pipeline(folder)
    for number, (text, _) in enumerate(TEXTS):
        doc = nlp(text)
        assert sorted(spans(doc)) == sorted(expected(number))
    scores = nlp(TEXTS[0][0]).spans["mentions"].attrs["scores"]
    assert len(scores) == 3
    assert all(0.5 < score <= 1 for score in scores)


def test_of_overlapping_mentions_the_most_probable_is_an_entity(folder):
    doc = pipeline(folder)(TEXTS[0][0])
    assert len(doc.ents) == 2
    assert {ent.label_ for ent in doc.ents} in ({"GENE", "DISEASE"}, {"GENE", "CELL_TYPE"})
    chosen = {ent.label_ for ent in pipeline(folder, secondary=["DISEASE"])(TEXTS[0][0]).ents}
    assert chosen == {"GENE", "CELL_TYPE"}


def test_pipe_equals_call_and_predict_changes_nothing(folder):
    nlp = pipeline(folder)
    texts = [text for text, _ in TEXTS] * 3 + ["", " \n"]
    piped = list(nlp.pipe(texts, batch_size=5))
    assert [spans(doc) for doc in piped] == [spans(nlp(text)) for text in texts]
    component = nlp.get_pipe("angel_recogniser")
    doc = nlp.make_doc(TEXTS[0][0])
    before = doc.to_bytes()
    found = component.predict([doc])
    assert doc.to_bytes() == before
    component.set_annotations([doc], found)
    assert spans(doc) == spans(piped[0])


def test_saved_and_opened_it_finds_the_same(folder, tmp_path):
    nlp = pipeline(folder)
    nlp.to_disk(tmp_path / "saved")
    again = spacy.load(tmp_path / "saved")
    from_bytes = pipeline(folder).from_bytes(nlp.to_bytes())
    finder = pickle.loads(pickle.dumps(nlp.get_pipe("angel_recogniser").finder))
    for number, (text, _) in enumerate(TEXTS):
        doc = nlp(text)
        scores = doc.spans["mentions"].attrs["scores"]
        for other in (again, from_bytes):
            read = other(text)
            assert sorted(spans(read)) == sorted(expected(number))
            assert read.spans["mentions"].attrs["scores"] == pytest.approx(scores, abs=1e-5)
        places = sorted((m.start, m.end, m.label) for m in finder.find([text])[0])
        group = doc.spans["mentions"]
        assert places == sorted((s.start_char, s.end_char, s.label_) for s in group)
    names = {path.name for path in (tmp_path / "saved" / "angel_recogniser" / "model").iterdir()}
    assert names == {"recogniser.json", "tokenizer.json", "model.safetensors"}


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_a_copy_runs_in_the_same_type(folder, dtype):
    finder = MentionFinder.from_disk(folder, dtype=dtype)
    copy = pickle.loads(pickle.dumps(finder))
    texts = [text for text, _ in TEXTS]
    scores = [[one.log_probs for one in own.read(texts)] for own in (finder, copy)]
    assert all(np.array_equal(one, other) for one, other in zip(*scores, strict=True))
    exact = MentionFinder.from_disk(folder).read(texts)
    assert not np.array_equal(scores[1][0], exact[0].log_probs)


def test_settings_choose_what_is_written(folder):
    text = TEXTS[0][0]
    doc = pipeline(folder, labels=["GENE"], span_key=None)(text)
    assert [(e.text, e.label_) for e in doc.ents] == [("TP53", "GENE")]
    assert "mentions" not in doc.spans
    doc = pipeline(folder, set_ents=False)(text)
    assert doc.ents == ()
    assert len(doc.spans["mentions"]) == 3
    for settings, labels in (
        ({"threshold": 1.0}, set()),
        ({"span_labels": ["GENE"]}, {"GENE"}),
    ):
        doc = pipeline(folder, **settings)(text)
        group = doc.spans["mentions"]
        assert {span.label_ for span in group} == labels
        assert len(group.attrs["scores"]) == len(group)
    kept = pipeline(folder, overwrite=False)
    doc = kept.make_doc(text)
    doc.ents = [doc.char_span(0, 4, label="OTHER")]
    doc = kept.get_pipe("angel_recogniser")(doc)
    assert ("TP53", "OTHER") in [(e.text, e.label_) for e in doc.ents]
    assert ("TP53", "GENE") not in [(e.text, e.label_) for e in doc.ents]


def test_entities_say_how_probable_they_are(folder):
    nlp = pipeline(folder, overwrite=False)
    doc = nlp.make_doc(TEXTS[0][0])
    # In turn a mention by heart, none, and one of a label that the model does not know.
    doc.ents = [
        doc.char_span(0, 4, label="GENE"),
        doc.char_span(5, 7, label="DISEASE"),
        doc.char_span(8, 15, label="OTHER"),
    ]
    doc = nlp.get_pipe("angel_recogniser")(doc)
    by_text = {ent.text: ent._.mention_probability for ent in doc.ents}
    assert by_text["TP53"] > 0.5 > by_text["is"]
    assert by_text["mutated"] is None
    [new] = [ent for ent in doc.ents if ent.start > 3]
    [score] = [
        score
        for span, score in zip(
            doc.spans["mentions"], doc.spans["mentions"].attrs["scores"], strict=True
        )
        if (span.start, span.end, span.label) == (new.start, new.end, new.label)
    ]
    assert new._.mention_probability == score
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [ent._.mention_probability for ent in again.ents] == list(by_text.values())


def test_entities_say_under_which_other_labels_they_were_found(folder):
    text = "TP53 fever"
    found = [
        FoundMention(0, 4, "GENE", 0.9),
        FoundMention(0, 4, "CELL_TYPE", 0.7),
        FoundMention(0, 10, "DISEASE", 0.6),
        FoundMention(5, 10, "DISEASE", 0.5),
    ]
    nlp = pipeline(folder)
    component = nlp.get_pipe("angel_recogniser")
    [tagged] = component.finder.read([text])
    component.finder.read = lambda texts: [tagged._replace(mentions=found)]
    doc = nlp(text)
    others = {ent.text: (ent.label_, ent._.mention_labels) for ent in doc.ents}
    # No more and no less of the text.
    assert others == {"TP53": ("GENE", {"CELL_TYPE": 0.7}), "fever": ("DISEASE", {})}
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [ent._.mention_labels for ent in again.ents] == [{"CELL_TYPE": 0.7}, {}]


def test_words_that_may_belong_to_mentions(folder):
    text = "TP53 is mutated"
    nlp = pipeline(folder)
    component = nlp.get_pipe("angel_recogniser")
    [tagged] = component.finder.read([text])
    # TP 53 is mutated; `is` belongs to a GENE with 0.3, `mutated` with 0.05.
    label = tagged.labels.index("GENE")
    log_probs = np.log(np.tile([0.98, 0.01, 0.01], (*tagged.log_probs.shape[:2], 1)))
    log_probs[:, label] = np.log([[1 - p, p / 2, p / 2] for p in (0.9, 0.9, 0.3, 0.05)])
    mentions = [FoundMention(0, 4, "GENE", 0.8)]
    tagged = tagged._replace(log_probs=log_probs, mentions=mentions)
    component.finder.read = lambda texts: [tagged]
    doc = nlp(text)
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert possible_mentions_of(again) == [PossibleMention(0, 2, "GENE", pytest.approx(0.7))]


def test_sequence_variants_are_no_mentions(folder):
    text = "TP53 V600E"
    found = {}
    everything = [FoundMention(0, 4, "GENE", 0.9), FoundMention(5, 10, "GENE", 0.9)]
    for skip in (False, True):
        nlp = pipeline(folder, overwrite=False, skip_variants=skip)
        component = nlp.get_pipe("angel_recogniser")
        [tagged] = component.finder.read([text])
        tagged = tagged._replace(mentions=everything)
        component.finder.read = lambda texts, tagged=tagged: [tagged]
        doc = nlp(text)
        found[skip] = [ent.text for ent in doc.ents]
        assert [span.text for span in doc.spans["mentions"]] == found[skip]
    assert found == {False: ["TP53", "V600E"], True: ["TP53"]}


def test_errors_say_what_to_do(folder, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("angel_recogniser")
    with pytest.raises(AngelError, match=r"The component .* has no model"):
        nlp("a")
    with pytest.raises(AngelError, match="Cannot open the recognizer"):
        MentionFinder.from_disk(tmp_path)
    with pytest.raises(
        AngelError, match=r"The recognizer does not know the labels .*\['PLANT'\].*DISEASE"
    ):
        pipeline(folder, labels=["PLANT"])("a")
    with pytest.raises(AngelError, match="threshold"):
        RecognizerSettings(threshold=2.0)
    with pytest.raises(AngelError, match="set_ents"):
        RecognizerSettings(span_key=None, set_ents=False)
    config = (folder / "recogniser.json").read_text(encoding="utf8")
    (tmp_path / "tokenizer.json").write_text((folder / "tokenizer.json").read_text())
    for change, problem in (('"window": 40', "more than twice"), ('"d_model"', "d_model missing")):
        damaged = config.replace(change, '"window": 10' if "window" in change else '"width"')
        (tmp_path / "recogniser.json").write_text(damaged)
        with pytest.raises(AngelError, match=rf"Cannot open the recognizer in (.|\n)*{problem}"):
            MentionFinder.from_disk(tmp_path)
